package scenario;

import io.loopbox.Loopbox;

/** What scenarios tell the test that runs them: lines on standard output that begin with a mark. */
public final class Script {
    private Script() {}

    public static void say(String line) {
        System.out.println("SCRIPT " + line);
        System.out.flush();
    }

    /** Starts the recorder as the arguments want it. */
    static void install(Options options) {
        if (!Loopbox.install(options.config().build()).isOn()) {
            throw new AssertionError("not installed");
        }
    }

    /** Leaves a report. */
    static void dump(String reason) {
        if (Loopbox.dump(reason) == null) {
            throw new AssertionError("no report");
        }
    }
}
