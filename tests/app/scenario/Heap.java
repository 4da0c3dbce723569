package scenario;

/** What the process has taken from malloc; the native half is the host program's. */
final class Heap {
    private Heap() {}

    /** Bytes in use, in all arenas and mapped blocks. */
    static native long mallocBytes();
}
