package com.othersdk;

/** A native debugger; its native half is the host program's. */
public final class Tracer {
    private Tracer() {}

    /** Has the calling thread, the main one, traced by a new process until this one ends. */
    public static native void attach();
}
