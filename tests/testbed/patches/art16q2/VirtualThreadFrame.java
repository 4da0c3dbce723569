package dalvik.system;

/** The fields that libart knows. */
public class VirtualThreadFrame {
    byte[] frame;
    Object[] refs;
    Class declaringClass;
}
