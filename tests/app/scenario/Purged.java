package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import io.loopbox.Monitor;
import io.loopbox.MonitorConfig;
import io.loopbox.MonitorListener;
import io.loopbox.Stall;
import io.loopbox.Status;
import java.io.File;

/**
 * One process of an app that deletes its recordings, and later permits them again. {@code how=} is what the
 * process does.
 *
 * <ul>
 *   <li>records: runs one message after the other, and the monitor writes a line for each. Takes one report
 *       and leaves another one. Records until the recorder is off. With {@code gate=}, calls {@link
 *       Loopbox#purge} when that file exists;
 *   <li>rests: takes and leaves a report, too, but runs no message until the file {@code gate=} exists;
 *   <li>purges: calls {@link Loopbox#purge}, which is for all processes of the app, and ends;
 *   <li>installs: installs the recorder and starts the monitor after the app has purged. Both are refused.
 *       Runs until it is killed;
 *   <li>enables: switches recording on again after a purge, and ends.
 * </ul>
 *
 * {@code place=FOLDER} is where the recorder writes, and {@code monitor=FOLDER} where the monitor writes,
 * instead of the defaults. Other arguments are those of {@link Options} and {@link Phone}.
 */
public final class Purged implements Runnable, MonitorListener {
    private static final int MESSAGE_MS = 130;
    private static final int CHECK_MS = 50;

    private final Options options;
    private final Phone phone;
    private final Handler handler = new Handler(Looper.getMainLooper());
    private volatile boolean stalled;

    private Purged(Options options) {
        this.options = options;
        phone = new Phone(options);
    }

    /** Runs until it is killed, or has nothing to do. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        new Purged(new Options(arguments)).begin();
    }

    private void begin() {
        if (options.is("how", "purges")) {
            Script.say("purged " + Loopbox.purge(phone));
            Runtime.getRuntime().halt(0);
        } else if (options.is("how", "enables")) {
            Loopbox.setEnabled(phone, true);
            Runtime.getRuntime().halt(0);
        }
        String place = options.text("place", "");
        Config.Builder config = place.isEmpty() ? new Config.Builder() : new Config.Builder(new File(place));
        Status status = Loopbox.install(phone, config.systemProfiles(true).build());
        String folder = options.text("monitor", "");
        Monitor monitor =
                Loopbox.monitor(
                        new MonitorConfig.Builder()
                                .listener(this)
                                .directory(folder.isEmpty() ? null : new File(folder))
                                .build());
        boolean monitors = monitor.start();
        Script.say("installed " + status.isOn() + " " + monitors);
        if (status.isOn()) {
            Script.awaitSampler();
            new Thread(this, "checks").start();
            if (!options.is("how", "rests")) {
                handler.post(new Message());
            }
        }
        Looper.loop();
    }

    @Override
    public void run() {
        Loopbox.annotate("user", "u-7781");
        Loopbox.dump("taken");
        Script.say("took " + Loopbox.takePendingReports().size());
        Loopbox.dump("left");
        String profile = options.text("profile", "");
        // The recorder asks the system for it some time after the installation.
        while (!profile.isEmpty() && !new File(phone.getNoBackupFilesDir(), "loopbox/profiles").exists()) {
            phone.profiled("2|0|" + profile);
            SystemClock.sleep(CHECK_MS);
        }
        boolean rests = options.is("how", "rests");
        while (!stalled && !rests) {
            SystemClock.sleep(CHECK_MS);
        }
        Script.say("records");
        String gate = options.text("gate", "");
        if (rests) {
            Script.awaitFile(gate);
            Script.say("rested " + Loopbox.status().isOn());
            handler.post(new Message());
        } else if (!gate.isEmpty()) {
            Script.awaitFile(gate);
            Script.say("purged " + Loopbox.purge(phone));
        }
        Status status;
        do {
            SystemClock.sleep(CHECK_MS);
            status = Loopbox.status();
        } while (status.isOn());
        Script.say("now " + status);
        // Where another process has switched it off, they go a moment later.
        while (!Loopbox.pendingReports().isEmpty()) {
            SystemClock.sleep(CHECK_MS);
        }
        Script.say("pending 0");
    }

    @Override
    public void onBlock(long ageMs, String stack) {}

    @Override
    public void onStall(Stall stall) {
        stalled = true;
    }

    private final class Message implements Runnable {
        @Override
        public void run() {
            Work.busy(MESSAGE_MS);
            handler.postDelayed(this, MESSAGE_MS);
        }
    }
}
