package phone;

/** Places in native code where a thread stays until it is released. The host program has the natives. */
final class NativeWait {
    private NativeWait() {}

    /** From now on a thread that calls one of these methods stays there. */
    static native void hold();

    static native void release();

    static native void futex();

    static native void nanosleep();

    static native void spin();

    /** Waits for a child process in a way that no signal ends. */
    static native void vfork();

    /** Calls {@code ioctl} on the file as libbinder does for a binder call, repeatedly. */
    static native void ioctl(String file);

    /** Writes to the file and flushes it to the disk, repeatedly. */
    static native void fsync(String file);
}
