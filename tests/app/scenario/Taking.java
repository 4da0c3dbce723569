package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import android.os.SystemClock;
import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import io.loopbox.FirstFileListener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Prints what an app can learn from each report, and executes orders in between.
 *
 * <p>Arguments: those of {@link Options} and {@link Phone}; {@code orders=FOLDER}: the files {@code 1},
 * {@code 2}, ... in it have one order each: {@code take}, {@code list}, {@code claim LABEL} (of the last
 * list), {@code dump WORDS}, {@code quit} (SIGQUIT in a short message, after a longer one), {@code hang}
 * (until the file {@code gate} is there), {@code profile TYPE|ERROR|PATH} (the system has taken one), {@code
 * annotate NAME VALUE}, {@code know FILE}, {@code uninstall}, {@code end}.
 */
public final class Taking implements Runnable, FirstFileListener {
    private final File orders;
    private final Phone phone;
    private List<Report> listed;

    /** Opened when the first file of a report has been written. */
    private final CountDownLatch firstFile = new CountDownLatch(1);

    private Taking(File orders, Phone phone) {
        this.orders = orders;
        this.phone = phone;
    }

    /** Runs until it is asked to end. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Phone phone = new Phone(options);
        Taking taking = new Taking(new File(options.text("orders", ".")), phone);
        if (!Loopbox.install(phone, options.config().listener(null).listener(taking).build()).isOn()) {
            throw new AssertionError("not installed");
        }
        new Thread(taking, "orders").start();
        Looper.loop();
    }

    @Override
    public void onFirstFile(Report report) {
        firstFile.countDown();
        Script.say("first " + about(report));
    }

    @Override
    public void onReport(Report report) {
        Script.say("report " + about(report));
    }

    private static String about(Report report) {
        String complete = report.isComplete() ? " complete " : " incomplete ";
        String ended = report.getExitTimeMs() == 0 ? "" : " ended " + report.getExitTimeMs();
        String profile = report.getSystemProfile() == null ? "" : " profile " + report.getSystemProfile();
        return report.getKind() + " " + report.getVerdict() + complete + report.getReason() + " [" + report.getLabel() + "]" + ended + profile;
    }

    /** Prints the data that an app sends when it uploads the report with its own code. */
    private static void say(Report report) {
        String version = "[" + report.getAppVersion() + "] " + report.getAppVersionCode();
        Script.say("knows " + version + " " + report.getDurationMs() + " " + report.getThreadName() + " " + report.getFingerprint());
        Script.say("title " + report.getTitle());
        Script.say("digest " + report.getDigest());
        Script.say("annotations " + report.getAnnotations());
        for (StackTraceElement frame : report.getStackTrace()) {
            Script.say("at " + frame);
        }
    }

    @Override
    public void run() {
        try {
            for (int nth = 1; ; nth++) {
                File order = new File(orders, Integer.toString(nth));
                while (!order.exists()) {
                    SystemClock.sleep(5);
                }
                obey(text(order));
                Script.say("did " + nth);
            }
        } catch (IOException failed) {
            throw new AssertionError(failed);
        }
    }

    private static String text(File file) throws IOException {
        BufferedReader reader = new BufferedReader(new FileReader(file));
        try {
            return reader.readLine();
        } finally {
            reader.close();
        }
    }

    /** A message that lasts longer than {@link Short}, and is no hang. */
    private static final class Longer implements Runnable {
        @Override
        public void run() {
            SystemClock.sleep(3_000);
        }
    }

    /** Sends SIGQUIT, and lasts until the first file about it is there. */
    private final class Short implements Runnable {
        @Override
        public void run() {
            quit();
            try {
                firstFile.await();
            } catch (InterruptedException unexpected) {
                throw new AssertionError(unexpected);
            }
        }
    }

    private static void quit() {
        try {
            Os.kill(Process.myPid(), OsConstants.SIGQUIT);
        } catch (ErrnoException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private void obey(String order) {
        if (order.equals("take")) {
            for (Report report : Loopbox.takePendingReports()) {
                Script.say("took " + about(report) + " " + report.getFile().getPath());
            }
        } else if (order.equals("list")) {
            listed = Loopbox.pendingReports();
            for (Report report : listed) {
                Script.say("listed " + about(report) + " " + report.getFile().getPath());
            }
        } else if (order.startsWith("claim ")) {
            for (Report report : listed) {
                // By the words that were read before another process took the file away.
                if (report.getLabel().equals(order.substring("claim ".length()))) {
                    Script.say("claimed " + report.claim() + " " + report.getFile().getPath());
                }
            }
        } else if (order.equals("quit")) {
            Handler main = new Handler(Looper.getMainLooper());
            main.post(new Longer());
            main.post(new Short());
        } else if (order.startsWith("dump ")) {
            Loopbox.dump(order.substring("dump ".length()));
        } else if (order.startsWith("annotate ")) {
            String[] parts = order.split(" ");
            Loopbox.annotate(parts[1], parts[2]);
        } else if (order.startsWith("profile ")) {
            phone.profiled(order.substring("profile ".length()));
        } else if (order.equals("uninstall")) {
            Loopbox.uninstall();
        } else if (order.startsWith("know ")) {
            for (Report report : Loopbox.pendingReports()) {
                if (report.getFile().getName().equals(order.substring("know ".length()))) {
                    say(report);
                }
            }
        } else if (order.equals("hang")) {
            new Handler(Looper.getMainLooper()).post(new GatedHang(new File(orders, "gate")));
        } else {
            Runtime.getRuntime().halt(0);
        }
    }
}
