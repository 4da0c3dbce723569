// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import java.io.File;
import java.util.HashMap;
import java.util.Map;

/** Who has asked for a report and does not wait for it: the native side knows them by number. */
public final class AskedDumps {
    private static final Map<Long, DumpSink> ASKED = new HashMap<Long, DumpSink>();
    private static long last;

    private AskedDumps() {}

    public static void ask(String reason, DumpSink done) {
        final long number = done == null ? 0 : add(done);
        boolean asked = false;
        try {
            asked = Recorder.isOn() && Native.askForDump(reason, number);
        } finally {
            if (!asked && number != 0) {
                // Nothing records, so that there is no thread for listeners; and who asks may hold a lock.
                Runnable none =
                        new Runnable() {
                            @Override
                            public void run() {
                                answer(number, null);
                            }
                        };
                try {
                    new Thread(none, "loopbox-listener").start();
                } catch (Throwable noThread) {
                    Faults.log(noThread);
                    Recorder.later(none);
                }
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

    /** There is the report, or null for none. */
    static void answer(long number, File file) {
        DumpSink done = take(number);
        if (done == null) {
            return;
        }
        try {
            done.onDumped(file);
        } catch (Throwable fault) {
            Faults.log(fault);
        }
    }
}
