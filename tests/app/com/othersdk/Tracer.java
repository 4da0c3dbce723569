package com.othersdk;

/** A native debugger; its native half is the host program's. */
public final class Tracer {
    private Tracer() {}

    /** Forks a process that traces the calling thread, the main one, until that thread ends. */
    public static native void attach();
}
