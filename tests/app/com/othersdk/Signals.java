package com.othersdk;

/** Another library that wants SIGQUIT too; the host program has its native half. */
public final class Signals {
    private Signals() {}

    /**
     * Sets the library's handler, and unblocks the signal on the calling thread. With {@code passOn} the
     * handler passes the signal on to the previous handler.
     */
    public static native void install(boolean passOn);

    /**
     * Sets a handler as xCrash 3.0.0 does: it blocks all signals and wakes a thread, which forwards the
     * signal to the Signal Catcher. It does not call other handlers.
     */
    public static native void installDumper();

    /**
     * Removes the handler of {@link #installDumper} as xCrash does: restores the mask and the action that
     * were set before. Must be called on the thread that called {@link #installDumper}.
     */
    public static native void removeDumper();

    /** How often the thread of {@link #installDumper} has forwarded the signal. */
    public static native int dumps();

    /** Sets the library's handler past ART's signal chain; the handler does not pass the signal on. */
    public static native void installPastTheChain();

    /**
     * Restores the action that was set before {@link #install}. The signal stays unblocked, because only a
     * thread itself can change its mask.
     */
    public static native void remove();

    /** Blocks the signal on the calling thread again. */
    public static native void block();

    /** The default action. A library that was there first restores it when it removes its handler. */
    public static final int DEFAULT = 0;

    /** The signal is to be ignored. */
    public static final int IGNORE = 1;

    /** The library's handler. */
    public static final int HANDLER = 2;

    /** The library's handler, which the kernel removes after one signal. */
    public static final int HANDLER_ONCE = 3;

    /** Sets the signal action that {@code what} selects, and leaves all masks as they are. */
    public static native void set(int what);

    /** Sets {@link #DEFAULT} or {@link #IGNORE} by a system call. */
    public static native void setBySystemCall(int what);

    /** Claims the signal in ART's signal chain, as ART does with other signals. */
    public static native void claim();

    /** Sends the signal to the calling thread. */
    public static native void raise();

    /** Loads a library, which sets its own handler. */
    public static native void load(String path);

    /** Unloads the library; its handler stays set. */
    public static native void unload();

    /** Maps other code at the address of the unloaded library's handler. */
    public static native void loadOver(String path);

    /** How often the library's handler ran. */
    public static native int count();
}
