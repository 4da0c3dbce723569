package com.android.internal.util;

/** Writes no statistics. */
public final class FrameworkStatsLog {
    public static void write(int code, int a, int b, int c, int d, int e, int f) {}

    private FrameworkStatsLog() {}
}
