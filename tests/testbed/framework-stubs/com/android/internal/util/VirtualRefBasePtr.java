package com.android.internal.util;

/** A signature of FrameMetricsObserver; the render thread of a testbed has no native half. */
public final class VirtualRefBasePtr {
    private VirtualRefBasePtr() {}
}
