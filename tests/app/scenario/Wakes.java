package scenario;

import android.app.Activity;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.SystemClock;
import io.loopbox.Loopbox;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * How often the recorder's threads wake up while the app is used in several ways, one after the other.
 *
 * <p>Arguments: those of {@link Options}; {@code rounds=}: how long each way lasts. For each way it prints
 * the number of messages, the time it took, how often a message came more than {@code GAP_MS} late, how many
 * messages took long and for how long in all, and the number of voluntary context switches of each thread
 * ({@code voluntary_ctxt_switches}), which is how often it woke up.
 */
public final class Wakes extends Handler {
    /**
     * A message that comes more than this many milliseconds late counts as a gap: before the message comes,
     * the threads have had enough time to park.
     */
    private static final long GAP_MS = 80;
    /**
     * In milliseconds: a message that takes at least this long, because the machine is busy with other work,
     * may be sampled.
     */
    private static final long LONG_MS = 30;
    /** A time in milliseconds after which every thread has gone to sleep. */
    private static final int SETTLE_MS = 1_500;

    private static final int SETTLED = -1;

    /** The way in which the recorder is paused, at first in the middle of a message. */
    private static final String PAUSED = "paused";

    private static final String COUNT = "voluntary_ctxt_switches:";

    /**
     * The ways in which the app is used. Each has its name, the number of messages in a burst, the
     * milliseconds between two messages of a burst, the milliseconds between two bursts, and the milliseconds
     * of work in each message. A way without work has only one message, after a wait of {@code rounds}
     * seconds.
     */
    private static final Object[][] WAYS = {
        {"idle", 1, 0, 1_000, 0},
        {"isolated", 1, 0, 1_000, 2},
        {"typing", 3, 8, 250, 3},
        {"scrolling", 60, 16, 16, 4},
        {PAUSED, 1, 0, 1_000, 0},
        {"background", 1, 0, 1_000, 2},
    };

    private final Phone application;
    private final Activity page = new Activity();
    private final int rounds;
    private int way = -1;
    private int sent;
    private int gaps;
    private int slow;
    private long slowMs;
    private long begunMs;
    private long lastMs;
    private Map<String, Long> before;

    private Wakes(Looper looper, Phone application, Options options) {
        super(looper);
        this.application = application;
        rounds = options.number("rounds", 10);
    }

    /** Runs all ways one after the other, and ends the process. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Phone application = new Phone(options);
        if (!Loopbox.install(application, options.config().build()).isOn()) {
            throw new AssertionError("not installed");
        }
        Wakes wakes = new Wakes(Looper.getMainLooper(), application, options);
        application.show(wakes.page);
        wakes.sendEmptyMessageDelayed(SETTLED, SETTLE_MS);
        Looper.loop();
    }

    @Override
    public void handleMessage(Message message) {
        long now = SystemClock.uptimeMillis();
        if (message.what == SETTLED) {
            way++;
            sent = 0;
            gaps = 0;
            slow = 0;
            slowMs = 0;
            if (isPaused()) {
                Loopbox.pause();
            }
            before = wakes();
            begunMs = SystemClock.uptimeMillis();
            if (isPaused()) {
                SystemClock.sleep(rounds * 1_000);
                now = SystemClock.uptimeMillis();
            }
            lastMs = begunMs;
            next();
            tookSince(now);
            return;
        }
        if (number(2) > 0 && now - lastMs - (sent % number(1) == 0 ? number(3) : number(2)) > GAP_MS) {
            gaps++;
        }
        lastMs = now;
        sent++;
        if (number(4) > 0) {
            Work.busy(number(4));
        }
        if (sent < rounds * number(1)) {
            next();
            tookSince(now);
            return;
        }
        Map<String, Long> after = wakes();
        tookSince(now);
        say(after);
        if (isPaused()) {
            Loopbox.resume();
        }
        if (way + 1 == WAYS.length) {
            Script.say("end");
            Runtime.getRuntime().halt(0);
        }
        if (WAYS[way + 1][0].equals("background")) {
            application.hide(page);
        }
        sendEmptyMessageDelayed(SETTLED, SETTLE_MS);
    }

    /**
     * Counts a message that began at {@code startMs} as slow when it took long. Messages that read files
     * count, too: other threads may have delayed them.
     */
    private void tookSince(long startMs) {
        long tookMs = SystemClock.uptimeMillis() - startMs;
        if (tookMs >= LONG_MS) {
            slow++;
            slowMs += tookMs;
        }
    }

    private boolean isPaused() {
        return WAYS[way][0].equals(PAUSED);
    }

    private int number(int at) {
        return (Integer) WAYS[way][at];
    }

    private void next() {
        boolean idle = number(4) == 0;
        int ms = idle ? rounds * 1_000 : sent % number(1) == 0 ? number(3) : number(2);
        if (idle) {
            sent = rounds - 1;
        }
        sendEmptyMessageDelayed(0, ms);
    }

    private void say(Map<String, Long> after) {
        StringBuilder line = new StringBuilder("wakes ").append(WAYS[way][0]);
        line.append(" messages=").append(number(4) == 0 ? 1 : sent);
        line.append(" ms=").append(SystemClock.uptimeMillis() - begunMs).append(" gaps=").append(gaps);
        line.append(" slow=").append(slow).append(" slowMs=").append(slowMs);
        for (Map.Entry<String, Long> thread : after.entrySet()) {
            Long earlier = before.get(thread.getKey());
            line.append(' ').append(thread.getKey()).append('=');
            line.append(thread.getValue() - (earlier == null ? 0 : earlier));
        }
        Script.say(line.toString());
    }

    /** The number of voluntary context switches of each thread of the recorder. */
    static Map<String, Long> wakes() {
        Map<String, Long> all = new TreeMap<String, Long>();
        for (File task : new File("/proc/self/task").listFiles()) {
            String name = word(new File(task, "comm"), "");
            if (name == null || !name.startsWith("loopbox-")) {
                continue;
            }
            String wakes = word(new File(task, "status"), COUNT);
            if (wakes != null) {
                all.put(name.substring("loopbox-".length()), Long.valueOf(wakes));
            }
        }
        return all;
    }

    /** The number of {@link #wakes} for the worker. */
    static long ofWorker() {
        return wakes().get("worker");
    }

    /** The number of voluntary context switches of the thread with this folder in {@code /proc}. */
    static long of(File task) {
        return Long.parseLong(word(new File(task, "status"), COUNT));
    }

    /** The text after {@code prefix}, on the line that begins with it. Null when the thread has ended. */
    private static String word(File file, String prefix) {
        try {
            BufferedReader lines = new BufferedReader(new FileReader(file));
            try {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.startsWith(prefix)) {
                        return line.substring(prefix.length()).trim();
                    }
                }
                throw new AssertionError(file + " has no " + prefix);
            } finally {
                lines.close();
            }
        } catch (IOException failed) {
            if (!file.exists()) {
                return null;
            }
            throw new AssertionError(failed);
        }
    }
}
