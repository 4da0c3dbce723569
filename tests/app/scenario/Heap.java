package scenario;

/** What the process has taken from malloc; the native half is the host program's. */
public final class Heap {
    private Heap() {}

    /** Bytes in use, in all arenas and mapped blocks. */
    static native long mallocBytes();

    /** How often the calling thread has asked malloc for memory; large blocks and small ones alike. */
    public static native long allocations();
}
