package scenario;

import android.os.Looper;
import android.os.StrictMode;
import dalvik.system.VMRuntime;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.loopbox.Status;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * An app that makes the platform report what the app should not do. {@code detect=}
 *
 * <ul>
 *   <li>disk: StrictMode makes each use of the disk on the main thread throw. Only testbeds of API levels
 *   have the platform's StrictMode. The app prints the result of each call, and whether its policy is in
 *   force again after the call;
 *   <li>members: ART reports each hidden member that is looked up, as for {@code detectNonSdkApiUsage}. The
 *   app prints all of them.
 * </ul>
 *
 * Other arguments are those of {@link Options} and {@link Phone}.
 */
public final class Strict {
    private final Options options;
    private final Phone phone;
    private final List<String> lines = new ArrayList<String>();

    private Strict(Options options) {
        this.options = options;
        phone = new Phone(options);
    }

    /** Runs the scenario and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Strict app = new Strict(new Options(arguments));
        if (app.options.is("detect", "disk")) {
            app.useDisk();
        } else {
            app.lookUp();
        }
        Runtime.getRuntime().halt(0);
    }

    private void useDisk() throws Exception {
        StrictMode.setThreadPolicy(new StrictMode.ThreadPolicy.Builder().detectAll().penaltyDeath().build());
        say("begin", "");
        Status status = Loopbox.install(phone, options.config().listener(null).build());
        say("install", status.isOn() ? "on" : status.getReason());
        askElsewhere();
        List<Report> pending = Loopbox.pendingReports();
        say("pendingReports", "" + pending.size());
        say("claim", "" + pending.get(0).claim());
        say("takePendingReports", "" + Loopbox.takePendingReports().size());
        Loopbox.setEnabled(phone, false);
        say("setEnabled", Loopbox.status().getReason());
        say("refused", Loopbox.install(phone, options.config().build()).getReason());
        // What is printed is a write, too.
        StrictMode.setThreadPolicy(new StrictMode.ThreadPolicy.Builder().build());
        for (String line : lines) {
            Script.say(line);
        }
    }

    private static void askElsewhere() throws InterruptedException {
        Thread asks =
                new Thread("asks") {
                    @Override
                    public void run() {
                        Loopbox.dump("strict");
                    }
                };
        asks.start();
        asks.join();
    }

    private void say(String call, String did) {
        lines.add(call + ": " + did + ", " + (isStrict() ? "strict" : "not strict"));
    }

    /** Whether the policy makes a read by the app itself throw. */
    private static boolean isStrict() {
        try {
            new FileInputStream(new File("/proc/self/cmdline")).close();
            return false;
        } catch (IOException unexpected) {
            throw new AssertionError(unexpected);
        } catch (RuntimeException | LinkageError detected) {
            // The penalty would name the activity thread, which is not the platform's here.
            return true;
        }
    }

    private void lookUp() throws Exception {
        final Set<String> members = Collections.synchronizedSet(new TreeSet<String>());
        VMRuntime.setNonSdkApiUsageConsumer(
                new Consumer<String>() {
                    @Override
                    public void accept(String member) {
                        members.add(member);
                    }
                });
        if (!Loopbox.install(phone, options.config().listener(null).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        Loopbox.pause();
        Loopbox.resume();
        new Thread("ends") {
            @Override
            public void run() {
                // Its queue is read for it.
                Loopbox.dump("looked up");
                for (String member : members) {
                    Script.say("member " + member);
                }
                Runtime.getRuntime().halt(0);
            }
        }.start();
        Looper.loop();
    }
}
