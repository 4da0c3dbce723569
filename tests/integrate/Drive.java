package integrate;

import android.os.Looper;
import com.bugsnag.android.Event;
import com.google.firebase.crashlytics.FirebaseCrashlytics;
import io.loopbox.Config;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.loopbox.integration.bugsnag.LoopboxOnError;
import io.loopbox.integration.crashlytics.LoopboxKeys;
import io.loopbox.integration.sentry.LoopboxEventProcessor;
import io.loopbox.sample.Hangs;
import io.sentry.Hint;
import io.sentry.SentryEvent;
import io.sentry.protocol.Mechanism;
import io.sentry.protocol.SentryException;
import java.io.File;
import java.util.Collections;
import java.util.Date;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** Uses the integrations and the sample's hangs as an app would. Arguments: what to do, the folder, and more. */
public final class Drive implements Runnable, Listener {
    private final String[] arguments;
    private final LoopboxOnError bugsnag = new LoopboxOnError();
    private final LoopboxKeys crashlytics = new LoopboxKeys();
    private final CountDownLatch told = new CountDownLatch(1);

    private Drive(String[] arguments) {
        this.arguments = arguments;
    }

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Drive drive = new Drive(arguments);
        Config.Builder builder = new Config.Builder(new File(arguments[1])).annotate("user", "u-17");
        for (int i = 0; i < 15; i++) {
            // As long as values get: the digest is cut.
            builder.annotate("n" + i, new String(new char[300]).replace('\0', '\u00fc'));
        }
        say("status " + Loopbox.install(builder.listener(drive).build()).isOn());
        new Thread(drive, "drive").start();
        Looper.loop();
    }

    private static void say(String line) {
        System.out.println("SCRIPT " + line);
        System.out.flush();
    }

    @Override
    public void onReport(Report report) {
        bugsnag.onReport(report);
        crashlytics.onReport(report);
        told.countDown();
    }

    @Override
    public void run() {
        try {
            if (arguments[0].equals("sdks")) {
                keyValues();
                sentry();
            } else {
                Hangs.Kind kind = Hangs.Kind.valueOf(arguments[0]);
                new Hangs(new File(arguments[1])).provoke(kind, 3_000);
                Thread.sleep(1_500);
                say("dumped " + (Loopbox.dump(kind.name()) != null));
            }
            Runtime.getRuntime().halt(0);
        } catch (Throwable fault) {
            fault.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private void keyValues() throws InterruptedException {
        Loopbox.dump("\u00fc" + new String(new char[12_000]).replace('\0', 'w'));
        told.await();
        Map<String, String> keys = FirebaseCrashlytics.getInstance().keys();
        for (Map.Entry<String, String> key : keys.entrySet()) {
            say("crashlytics " + key.getKey() + " " + key.getValue().length() + " " + bytes(key.getValue()));
        }
        Event crash = new Event();
        crash.getErrors().add(new com.bugsnag.android.Error("java.lang.IllegalStateException"));
        say("bugsnag crash " + bugsnag.onError(crash) + " " + crash.getMetadata("loopbox", "digest"));
        Event anr = new Event();
        anr.getErrors().add(new com.bugsnag.android.Error("ANR"));
        bugsnag.onError(anr);
        say("bugsnag anr " + keys.get("loopbox").equals(anr.getMetadata("loopbox", "digest")));
        say("bugsnag why " + ((String) anr.getMetadata("loopbox", "why")).length());
        say("bugsnag file " + anr.getMetadata("loopbox", "file"));
    }

    private static int bytes(String text) {
        return text.getBytes(java.nio.charset.Charset.forName("UTF-8")).length;
    }

    private static void sentry() {
        say("sentry crash " + sent(20 << 20, "UncaughtExceptionHandler", 0));
        say("sentry watchdog " + sent(20 << 20, "ANR", 0));
        say("sentry far " + sent(20 << 20, "AppExitInfo", 3_600_000));
        say("sentry large " + sent(100, "AppExitInfo", 1_000));
        say("sentry near " + sent(20 << 20, "AppExitInfo", 1_000));
    }

    /** What an event that long ago has after the processor. */
    private static String sent(long mostBytes, String type, long agoMs) {
        SentryEvent event = new SentryEvent(new Date(System.currentTimeMillis() - agoMs));
        Mechanism mechanism = new Mechanism();
        mechanism.setType(type);
        SentryException exception = new SentryException();
        exception.setMechanism(mechanism);
        event.setExceptions(Collections.singletonList(exception));
        Hint hint = new Hint();
        new LoopboxEventProcessor(mostBytes).process(event, hint);
        String attached = hint.getAttachments().isEmpty() ? "nothing" : hint.getAttachments().get(0).getFilename();
        return attached + " " + event.getExtra("loopbox_left_out") + " " + (event.getExtra("loopbox") != null);
    }
}
