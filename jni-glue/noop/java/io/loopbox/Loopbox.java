// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import android.content.Context;
import android.view.Window;
import androidx.annotation.AnyThread;
import androidx.annotation.MainThread;
import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import androidx.annotation.WorkerThread;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/**
 * Replaces the recorder in builds without it: the same methods, none of which does anything. There is no
 * native code.
 */
public final class Loopbox {
    private static final Frames FRAMES = new Frames();
    private static final String WHY = "loopbox-noop records nothing";

    private Loopbox() {}

    /**
     * Does nothing.
     *
     * @return a status of a recorder that is off
     */
    @MainThread
    @NonNull
    public static Status install(@NonNull Context context, @NonNull Config config) {
        return status();
    }

    /**
     * Does nothing.
     *
     * @return a status of a recorder that is off
     */
    @MainThread
    @NonNull
    public static Status install(@NonNull Config config) {
        return status();
    }

    /** Does nothing: the listener is never called. */
    @AnyThread
    public static void addListener(@NonNull Listener listener) {}

    /** Nothing. */
    @AnyThread
    public static void removeListener(@NonNull Listener listener) {}

    /** Returns a status of a recorder that is off. */
    @AnyThread
    @NonNull
    public static Status status() {
        return Status.off(WHY);
    }

    /**
     * Does nothing.
     *
     * @return null: there is no report
     */
    @WorkerThread
    @Nullable
    public static File dump(@Nullable String reason) {
        return null;
    }

    /** Calls back with null, on a separate thread. What the callback throws does not end the app. */
    @AnyThread
    public static void dumpAsync(@Nullable String reason, @Nullable final DumpCallback done) {
        if (done != null) {
            try {
                new Thread("loopbox-listener") {
                    @Override
                    public void run() {
                        try {
                            done.onDumped(null);
                        } catch (Throwable ignored) {
                            // The recorder, which this replaces, would log it.
                        }
                    }
                }.start();
            } catch (Throwable noThread) {
                // There is no memory for one, and so no call.
            }
        }
    }

    /** Returns an empty list. */
    @WorkerThread
    @NonNull
    public static List<Report> pendingReports() {
        return new ArrayList<Report>();
    }

    /** Returns an empty list. */
    @WorkerThread
    @NonNull
    public static List<Report> takePendingReports() {
        return new ArrayList<Report>();
    }

    /**
     * Does nothing.
     *
     * @return false: the annotation is not kept
     */
    @AnyThread
    public static boolean annotate(@NonNull String name, @Nullable String value) {
        return false;
    }

    /** Nothing. */
    @AnyThread
    public static void scene(@Nullable String name) {}

    /** Nothing. */
    @AnyThread
    public static void breadcrumb(@Nullable String name) {}

    /** A recorder of frames whose methods do nothing. */
    @AnyThread
    @NonNull
    public static Frames frames() {
        return FRAMES;
    }

    /** Nothing. */
    @AnyThread
    public static void pause() {}

    /** Nothing. */
    @AnyThread
    public static void resume() {}

    /** Nothing. */
    @AnyThread
    public static void setSampling(boolean on) {}

    /** Nothing. */
    @MainThread
    public static void watchInput(@Nullable Window window) {}

    /** A monitor that does nothing. */
    @AnyThread
    @NonNull
    public static Monitor monitor(@NonNull MonitorConfig config) {
        return new Monitor();
    }

    /**
     * Does nothing. The choice is not stored for a later launch with a build that has the recorder, either.
     */
    @AnyThread
    public static void setEnabled(@NonNull Context context, boolean enabled) {}

    /**
     * Deletes nothing: files of a build with the recorder stay. Returns false, because it is not known
     * whether there are any.
     */
    @WorkerThread
    public static boolean purge(@NonNull Context context) {
        return false;
    }

    /** Nothing. */
    @AnyThread
    public static void uninstall() {}
}
