package com.android.internal.util;

/** A type that FrameMetricsObserver needs; the render thread of a testbed has no native half. */
public final class VirtualRefBasePtr {
    private VirtualRefBasePtr() {}
}
