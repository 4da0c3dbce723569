package com.oplus.view;

/** A class that a device maker adds between the framework and an app. */
public final class OplusViewHook {
    private OplusViewHook() {}

    public static void dispatch(Runnable view) {
        beforeDispatch(view);
    }

    private static void beforeDispatch(Runnable view) {
        view.run();
    }
}
