package jdk.internal.vm;

import dalvik.system.VirtualThreadContext;
import dalvik.system.VirtualThreadParkedStates;
import dalvik.system.VirtualThreadParkingError;

/** The members that libart looks up and registers. */
public class Continuation {
    VirtualThreadContext virtualThreadContext;

    private static void enter(Continuation continuation, boolean isContinue) {}

    private static native void enterSpecial(Continuation continuation, boolean isContinue, boolean isVirtual);

    private static native int doYieldNative(
            VirtualThreadContext context, VirtualThreadParkedStates states, VirtualThreadParkingError error);
}
