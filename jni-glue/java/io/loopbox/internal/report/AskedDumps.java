// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.report;

import io.loopbox.internal.platform.Faults;
import io.loopbox.internal.platform.ListenerThread;
import io.loopbox.internal.platform.MainLooper;
import io.loopbox.internal.recording.DumpSink;
import io.loopbox.internal.recording.Gate;
import io.loopbox.internal.recording.Listeners;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Recording;
import java.io.File;
import java.util.HashMap;
import java.util.Map;

/** Callers who have asked for a report and do not wait for it: the native side knows them by number. */
public final class AskedDumps {
    private static final Map<Long, DumpSink> ASKED = new HashMap<Long, DumpSink>();
    private static long last;

    private AskedDumps() {}

    public static void ask(String reason, DumpSink done) {
        final long number = done == null ? 0 : add(done);
        boolean asked = false;
        try {
            asked = Recording.isOn() && Native.askForDump(reason, number, ListenerThread.isCurrent());
        } finally {
            if (!asked && number != 0) {
                // Not at once: who asks may hold a lock.
                answer(number, null);
            }
        }
    }

    private static synchronized long add(DumpSink done) {
        last++;
        ASKED.put(last, done);
        return last;
    }

    private static synchronized DumpSink take(long number) {
        return ASKED.remove(number);
    }

    /**
     * Calls back the caller of this number. It gets the file of the report, or null when there is none or the
     * recording has ended before the call.
     */
    public static void answer(long number, final File file) {
        final DumpSink done = take(number);
        if (done == null) {
            return;
        }
        final Gate gate = Recording.gate();
        Runnable call =
                new Runnable() {
                    @Override
                    public void run() {
                        try {
                            done.onDumped(gate.isClosed() ? null : file);
                        } catch (Throwable fault) {
                            // It may run on the main thread.
                            Faults.log(fault);
                        }
                    }
                };
        try {
            Listeners.answer(call);
        } catch (Throwable noThread) {
            Faults.log(noThread);
            MainLooper.post(call);
        }
    }
}
