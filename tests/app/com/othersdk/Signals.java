package com.othersdk;

/** Another library that wants SIGQUIT too; its native half is the host program's. */
public final class Signals {
    private Signals() {}

    /** Sets its handler and unblocks the signal on the calling thread; passes on to what was there if asked to. */
    public static native void install(boolean passOn);

    /** Restores the action that it found, and leaves the signal unblocked, as it must on any other thread. */
    public static native void remove();

    /** Blocks the signal on the calling thread again. */
    public static native void block();

    /** How often its handler ran. */
    public static native int count();
}
