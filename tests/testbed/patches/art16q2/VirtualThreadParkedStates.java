package dalvik.system;

/** The field that libart knows. */
public class VirtualThreadParkedStates {
    VirtualThreadFrame[] frames;
}
