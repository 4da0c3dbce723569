package com.othersdk;

/** A native debugger; the host program has its native half. */
public final class Tracer {
    private Tracer() {}

    /** Forks a process that traces the calling thread, the main one, until that thread ends. */
    public static native void attach();
}
