package com.othersdk;

/** A native debugger; its native half is the host program's. */
public final class Tracer {
    private Tracer() {}

    /** Makes a new process trace the calling thread, the main one, until this process ends. */
    public static native void attach();
}
