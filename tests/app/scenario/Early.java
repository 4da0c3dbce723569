package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.Config;
import io.loopbox.DumpCallback;
import io.loopbox.Loopbox;
import io.loopbox.Monitor;
import io.loopbox.MonitorConfig;
import io.loopbox.Redactor;
import io.loopbox.Report;
import io.loopbox.Status;
import java.io.File;
import java.util.concurrent.CountDownLatch;

/**
 * The app calls everything before it installs the recorder. {@code mode=annotations}: it sets more
 * annotations than there is room for, both before and after the installation; {@code mode=choices}: it sets a
 * scene, and switches off sampling and recording; {@code mode=forgotten}: it does much the same, and then
 * uninstalls; {@code mode=meanwhile}: another thread sets and removes annotations while the installation
 * passes on what waited; {@code mode=overtaken}: another thread sets a newer value of each annotation that
 * the installation passes on; {@code mode=calls}: it makes all other calls. The arguments of {@link Options}
 * apply; the reports are in a folder inside of {@code dir}.
 */
public final class Early implements Runnable, Redactor {
    private static final int WORK_MS = 300;

    private static final String NEWER = "newer";

    /** The last value that is set: one more than the installation passes on in its first turn. */
    private static final int NEWEST = 65;

    private final String mode;

    /** Created before the installation, and started after it; null in all modes but {@code calls}. */
    private Monitor monitor;

    private Early(String mode) {
        this.mode = mode;
    }

    /** Runs one mode and ends the process. */
    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Early app = new Early(options.text("mode", "calls"));
        File directory = new File(options.text("dir", "."), "reports");
        app.before();
        Config.Builder config = new Config.Builder(directory).annotate("given", "at install").annotate("user", "given");
        if (!Loopbox.install(config.redactor(app).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        if (app.monitor != null) {
            Script.say("monitor after " + app.monitor.start());
        }
        Script.awaitSampler();
        Handler handler = new Handler();
        handler.post(new LongMessage());
        handler.post(app);
        Looper.loop();
    }

    private void before() throws Exception {
        if (mode.equals("annotations")) {
            annotate("early");
            Loopbox.scene("Consent");
            say("taken out", Loopbox.annotate("early 3", null) && Loopbox.annotate("early 4", null));
            say("long", Loopbox.annotate("early 16", new String(new char[300]).replace('\0', 'x')));
        } else if (mode.equals("meanwhile")) {
            Loopbox.annotate("gone", "set before");
            Loopbox.breadcrumb("consent");
        } else if (mode.equals("overtaken")) {
            Loopbox.annotate(NEWER, "0");
        } else if (mode.equals("choices")) {
            Loopbox.annotate("scene", "Consent");
            Loopbox.setSampling(false);
            Loopbox.pause();
        } else if (mode.equals("forgotten")) {
            Loopbox.annotate("early", "forgotten");
            Loopbox.setSampling(false);
            Loopbox.pause();
            Loopbox.uninstall();
        } else {
            calls();
        }
    }

    private void calls() throws Exception {
        monitor = Loopbox.monitor(new MonitorConfig.Builder().build());
        Script.say("monitor before " + monitor.start() + " " + monitor.isMonitoring() + " " + monitor.pending().size());
        monitor.upload();
        Script.say("status " + Loopbox.status() + " " + Loopbox.dump("early") + " " + Loopbox.takePendingReports());
        final CountDownLatch called = new CountDownLatch(1);
        Loopbox.dumpAsync(
                "early",
                new DumpCallback() {
                    @Override
                    public void onDumped(Report report) {
                        Script.say("dumped " + report);
                        called.countDown();
                    }
                });
        called.await();
        Loopbox.addListener(new PrintingListener());
        Loopbox.watchInput(null);
        Loopbox.frames().begin("early");
        Loopbox.frames().end("early");
        Loopbox.pause();
        Loopbox.resume();
        Loopbox.setSampling(false);
        Loopbox.setSampling(true);
    }

    /**
     * Sets one name more than there is room for. Then sets two names that always have room, the name null,
     * and a name whose value the redactor removes.
     */
    private static void annotate(String when) {
        StringBuilder kept = new StringBuilder();
        for (int number = 0; number <= 16; number++) {
            kept.append(Loopbox.annotate(when + ' ' + number, Integer.toString(number)) ? 'y' : 'n');
        }
        Script.say(when + " kept " + kept);
        say(when + " user", Loopbox.annotate("user", when));
        say(when + " foreground", Loopbox.annotate("foreground", "yes"));
        say(when + " nothing", Loopbox.annotate(null, "x"));
        say(when + " secret", Loopbox.annotate("card", "4111"));
    }

    private static void say(String what, boolean kept) {
        Script.say(what + ' ' + kept);
    }

    /** A message that is long enough to be in the history by name. */
    private static final class LongMessage implements Runnable {
        @Override
        public void run() {
            Work.busy(WORK_MS);
        }
    }

    @Override
    public void run() {
        if (mode.equals("annotations")) {
            annotate("late");
        }
        for (Status.Part part : Loopbox.status().getParts()) {
            Script.say("part " + part);
        }
        Script.dump("at rest");
        while (monitor != null && monitor.pending().isEmpty()) {
            SystemClock.sleep(10);
        }
        if (monitor != null) {
            Script.say("written " + monitor.pending().get(0).getParent());
        }
        if (mode.equals("choices")) {
            Loopbox.resume();
            Loopbox.setSampling(true);
            // The hook sees whole messages, from the next one on.
            new Handler().post(new Resumed());
            return;
        }
        end();
    }

    private static final class Resumed implements Runnable {
        @Override
        public void run() {
            // The sampler's own thread begins it.
            while (!Loopbox.status().toString().contains("sampler on ")) {
                SystemClock.sleep(1);
            }
            Script.say("resumed " + Loopbox.status().getParts());
            end();
        }
    }

    /**
     * Sets and removes annotations on another thread, and waits until that thread has ended. Called while the
     * installation passes on the breadcrumbs, after it has passed on the annotations.
     */
    private static void meanwhile() {
        onAnotherThread(
                new Runnable() {
                    @Override
                    public void run() {
                        say("late", Loopbox.annotate("late", "1"));
                        say("gone", Loopbox.annotate("gone", null) && Loopbox.annotate("given", null));
                    }
                });
    }

    /** The installation is passing on the annotation with this value. */
    private static void overtake(final int value) {
        onAnotherThread(
                new Runnable() {
                    @Override
                    public void run() {
                        say("set " + value, Loopbox.annotate(NEWER, Integer.toString(value)));
                    }
                });
    }

    private static void onAnotherThread(Runnable work) {
        Thread other = new Thread(work, "other");
        other.start();
        try {
            other.join();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private static void end() {
        Script.say("done");
        Runtime.getRuntime().halt(0);
    }

    @Override
    public String redact(String name, String value) {
        Script.say("redacts " + name);
        if (mode.equals("meanwhile") && value.equals("consent")) {
            meanwhile();
        }
        if (name.equals(NEWER) && Integer.parseInt(value) < NEWEST) {
            overtake(Integer.parseInt(value) + 1);
        }
        return name.equals("card") ? null : value;
    }
}
