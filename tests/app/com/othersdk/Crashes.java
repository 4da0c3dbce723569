package com.othersdk;

/** Another library that reports native crashes and uploads reports; the host program has its native half. */
public final class Crashes {
    private Crashes() {}

    /**
     * Sets the library's handler for SIGSEGV.
     *
     * @param recorder the path of the recorder's library, which is notified of a crash
     */
    public static native void install(String recorder);

    /**
     * Sets a native listener for reports, which prints what it is called with.
     *
     * @param recorder the path of the recorder's library, which calls the listener
     */
    public static native void listen(String recorder);

    /** Writes to an address that is not writable. */
    public static native void crash();
}
