package phone;

/** Native methods in which the calling thread waits. The host program implements them. */
final class NativeWait {
    private NativeWait() {}

    /**
     * After this call, {@link #futex}, {@link #nanosleep} and {@link #spin} do not return before the call of
     * {@link #release}.
     */
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
