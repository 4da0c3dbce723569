package dalvik.system;

/** The fields that libart knows. */
public class VirtualThreadContext {
    VirtualThreadParkedStates parkedStates;
    Thread pinnedCarrierThread;
}
