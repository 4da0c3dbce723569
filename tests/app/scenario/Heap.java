package scenario;

/** What the process has taken from malloc; the native half is the host program's. */
public final class Heap {
    /** Whether there is a host program: on a phone there is none. */
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

    /** The bytes among these that are the recorder's, whose library is at that path. */
    public static native long recorderBytes(String library);

    /** How often the calling thread has asked malloc for memory; large blocks and small ones alike. */
    public static native long allocations();
}
