package com.othersdk;

/** Another library that wants SIGQUIT too; its native half is the host program's. */
public final class Signals {
    private Signals() {}

    /**
     * Sets its handler and unblocks the signal on the calling thread; passes on to the previous handler if
     * asked to.
     */
    public static native void install(boolean passOn);

    /**
     * As xCrash 3.0.0: a handler that blocks all signals and wakes a thread, which forwards the signal to the
     * Signal Catcher. It does not know other handlers.
     */
    public static native void installDumper();

    /**
     * As when it is removed: restores the mask and the action that it found. On the thread that installed it.
     */
    public static native void removeDumper();

    /** How often that thread has sent it on. */
    public static native int dumps();

    /** Sets its handler past ART's signal chain, and keeps each signal to itself. */
    public static native void installPastTheChain();

    /**
     * Restores the action that it found, and leaves the signal unblocked, as it has to on any other thread.
     */
    public static native void remove();

    /** Blocks the signal on the calling thread again. */
    public static native void block();

    /** The default action, as restored by a library that was there first. */
    public static final int DEFAULT = 0;

    /** The signal is to be ignored. */
    public static final int IGNORE = 1;

    /** Its handler. */
    public static final int HANDLER = 2;

    /** Its handler, for one signal. */
    public static final int HANDLER_ONCE = 3;

    /** Sets one of these actions, and leaves all masks as they are. */
    public static native void set(int what);

    /** Sets the default action, or ignoring, by a system call. */
    public static native void setBySystemCall(int what);

    /** Claims the signal in ART's signal chain, as ART does with others. */
    public static native void claim();

    /** Sends the signal to the calling thread. */
    public static native void raise();

    /** Loads a library, which sets its own handler. */
    public static native void load(String path);

    /** Unloads the library; its handler stays set. */
    public static native void unload();

    /** Maps other code at that handler's address. */
    public static native void loadOver(String path);

    /** How often its handler ran. */
    public static native int count();
}
