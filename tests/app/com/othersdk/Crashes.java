package com.othersdk;

/** Another library that reports native crashes; its native half is the host program's. */
public final class Crashes {
    private Crashes() {}

    /**
     * Sets its handler for SIGSEGV.
     *
     * @param recorder the path of the recorder's library, which is told of a crash
     */
    public static native void install(String recorder);

    /** Writes where nothing may be written. */
    public static native void crash();
}
