package scenario;

/** Counts the process's memory from malloc. The host program implements the native methods. */
public final class Heap {
    /** Whether the native methods can be called. On a phone there is no host program that has them. */
    public static final boolean COUNTED = isCounted();

    private Heap() {}

    private static boolean isCounted() {
        try {
            allocations();
            return true;
        } catch (UnsatisfiedLinkError onPhone) {
            return false;
        }
    }

    /** Bytes in use, in all arenas and mapped blocks. */
    public static native long mallocBytes();

    /** How many bytes from malloc belong to the recorder, whose library is at this path. */
    public static native long recorderBytes(String library);

    /** How often the calling thread has called malloc, for large and small blocks. */
    public static native long allocations();
}
