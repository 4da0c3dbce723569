package frames;

import android.os.Handler;
import android.os.Looper;
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import scenario.Script;

/**
 * Runs code of every kind that a stack sampler meets, one kind per message, and leaves a report after each.
 *
 * Each phase is one long message, so that the stacks sampled in it are in the report's tree and can be
 * checked one by one. Arguments: milliseconds per phase, then the names of phases to run (all when none is
 * named).
 */
public final class Frames {
    private static final Phase[] PHASES = {
        new Calls.Recursion(), new Calls.InlinedChain(), new Calls.HotLoop(), new Calls.Virtual(), new Calls.Reflective(),
        new Calls.Proxied(), new Calls.Handles(), new Calls.NativeCallback(), new Calls.Library(),
        new Trouble.Exceptions(), new Trouble.NullChecks(), new Trouble.StackOverflow(),
        new Waiting.Contended(), new Waiting.Waits(), new Waiting.Sleeps(),
        new Memory.Allocation(), new Memory.ClassLoading(),
    };

    /** Leaves Looper.loop(): a main Looper cannot be asked to quit. */
    private static final class Done extends RuntimeException {
        Done() {
            super("phases done: ");
        }
    }

    private Frames() {}

    public static void main(String[] args) throws Exception {
        final long phaseMs = Long.parseLong(args[0]);
        final List<Phase> wanted = new ArrayList<Phase>();
        for (Phase phase : PHASES) {
            if (args.length == 1) {
                wanted.add(phase);
            }
            for (int i = 1; i < args.length; i++) {
                if (phase.name().equals(args[i])) {
                    wanted.add(phase);
                }
            }
        }
        Looper.prepareMainLooper();
        Install.fromProperties();
        Script.awaitSampler();
        Thread background = Memory.collectInBackground();
        final Handler handler = new Handler(Looper.getMainLooper());
        for (final Phase phase : wanted) {
            handler.post(new Runnable() {
                @Override public void run() {
                    long end = System.nanoTime() + phaseMs * 1000000L;
                    try {
                        phase.run(end);
                    } catch (Exception e) {
                        throw new IllegalStateException(phase.name(), e);
                    }
                    Script.dump("phase " + phase.name());
                }
            });
        }
        handler.post(new Runnable() {
            @Override public void run() {
                throw new Done();
            }
        });
        try {
            Looper.loop();
        } catch (Done done) {
            System.out.println(done.getMessage() + wanted.size());
        }
        Memory.stop = true;
        background.join();
        printCode();
    }

    /**
     * Prints the files of ahead-of-time code that the runtime uses. They are those that are mapped with
     * permission to execute.
     */
    private static void printCode() throws IOException {
        BufferedReader maps = new BufferedReader(new FileReader("/proc/self/maps"));
        for (String line = maps.readLine(); line != null; line = maps.readLine()) {
            if (line.contains(" r-xp ") && (line.endsWith(".oat") || line.endsWith(".odex"))) {
                System.out.println("code: " + line.substring(line.lastIndexOf('/') + 1));
            }
        }
        maps.close();
    }
}
