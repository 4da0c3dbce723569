package peers;

import android.os.SystemClock;
import bench.HookBench;
import java.util.function.Consumer;
import scenario.Script;

/**
 * Another library that watches the main thread, as it is published, with its default settings. A peer prints
 * what the library reports.
 */
public abstract class Peer implements HookBench.Variant {
    /** The app, and what the system says of it. Set before a peer is installed. */
    static volatile SystemContext context = new SystemContext(new String[0]);

    /** Called for each report, with the peer's name. */
    static volatile Consumer<String> onReport = name -> {};

    final String name;

    Peer(String name) {
        this.name = name;
    }

    /** The peer of this name. */
    static Peer of(String name) {
        switch (name) {
            case "anrwatchdog":
                return new Heartbeats.AnrWatchDogs();
            case "sentry":
                return new Heartbeats.Sentry();
            case "datadog-anr":
                return new Datadog.Anr();
            case "datadog-long-task":
                return new Datadog.LongTask();
            case "blockcanary":
                return new Canary();
            case "loopbox-observer":
                return new Ours("OBSERVER");
            case "loopbox-printer":
                return new Ours("PRINTER");
            case "loopbox-poll":
                return new Ours("POLL");
            default:
                throw new IllegalArgumentException(name);
        }
    }

    /** Prints a report: its title, and main's frames in it. */
    final void reports(String title, StackTraceElement[] stack) {
        StringBuilder line = new StringBuilder(title);
        for (StackTraceElement frame : stack) {
            line.append("; ").append(frame);
        }
        reports(line.toString());
    }

    final void reports(String text) {
        say("report", name + " " + text.replace('\n', ' '));
        onReport.accept(name);
    }

    static void sleep(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    /** Prints a line with the time. */
    static void say(String what, String text) {
        Script.say(what + " " + SystemClock.uptimeMillis() + " " + text);
    }

    @Override public boolean install() throws Exception {
        start();
        return true;
    }

    @Override public void uninstall() throws Exception {
        stop();
    }

    abstract void start() throws Exception;

    abstract void stop() throws Exception;
}
