package integrate;

import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import android.os.SystemClock;
import com.bugsnag.android.Bugsnag;
import com.bugsnag.android.DeviceWithState;
import com.bugsnag.android.Event;
import com.datadog.android.rum.GlobalRumMonitor;
import com.google.firebase.crashlytics.FirebaseCrashlytics;
import io.bitdrift.capture.Capture;
import io.embrace.android.embracesdk.Embrace;
import io.loopbox.FirstFileListener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.loopbox.integration.acra.LoopboxData;
import io.loopbox.integration.bitdrift.LoopboxFields;
import io.loopbox.integration.bugsnag.LoopboxTab;
import io.loopbox.integration.crashlytics.LoopboxKeys;
import io.loopbox.integration.crashlytics.LoopboxNonFatals;
import io.loopbox.integration.datadog.LoopboxRum;
import io.loopbox.integration.embrace.LoopboxLogs;
import io.loopbox.integration.opentelemetry.LoopboxLogRecords;
import io.loopbox.integration.sentry.LoopboxEventProcessor;
import io.loopbox.integration.sentry.LoopboxExitProcessor;
import io.loopbox.integration.sentry.LoopboxHangs;
import io.loopbox.integration.xcrash.LoopboxSection;
import io.sentry.Sentry;
import io.sentry.SentryOptions;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.acra.ACRA;
import scenario.Options;
import scenario.Phone;
import xcrash.TombstoneManager;

/**
 * Every link to a crash SDK, called as its SDK would call it. Arguments: those of {@link Options} and {@link
 * Phone}, and {@code mode=}.
 *
 * <p>{@code mode=live}: when the app is ready, it gets SIGQUIT from outside, as at an ANR of another app.
 * Then the app requests a dump. Then it hangs without end. It waits until the hang has a report of the kind
 * {@code kind=}. With {@code kind=NONE} it does not wait, and the process is killed before anything was
 * noticed.
 *
 * <p>{@code mode=sentry}, {@code mode=hangs} and {@code mode=others}: the next start, after the process of
 * {@code mode=live} was killed. {@code ended=} is when that process ended, as the system reports it.
 *
 * <p>The app prints lines {@code arrives COLUMN SDK: WHAT}. Each line is for one cell of the table in
 * jni-glue/integrations/README.md.
 */
public final class Links implements Runnable, FirstFileListener {
    private static final long MAX_BYTES = 20L << 20;

    private final Options options;
    private final LoopboxTab bugsnag = new LoopboxTab();
    private final LoopboxSection xcrash = new LoopboxSection();
    private final FirstFileListener[] links = {bugsnag, new LoopboxKeys(), new LoopboxRum(), xcrash, new LoopboxFields()};
    private final LinkedBlockingQueue<Report> complete = new LinkedBlockingQueue<Report>();

    private Links(Options options) {
        this.options = options;
    }

    /** Runs until it is killed, or prints that it is done. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Links links = new Links(options);
        say("status " + Loopbox.install(new Phone(options), options.config().listener(null).listener(links).build()).isOn());
        new Thread(links, "links").start();
        Looper.loop();
    }

    private static void say(String line) {
        System.out.println("SCRIPT " + line);
        System.out.flush();
    }

    @Override
    public void onFirstFile(Report report) {
        for (FirstFileListener link : links) {
            link.onFirstFile(report);
        }
    }

    @Override
    public void onReport(Report report) {
        for (FirstFileListener link : links) {
            link.onReport(report);
        }
        report.getKind();
        complete.add(report);
    }

    @Override
    public void run() {
        try {
            String mode = options.text("mode", "live");
            if (mode.equals("live")) {
                live();
            } else if (mode.equals("sentry")) {
                sentry(Long.parseLong(options.text("ended", "0")));
            } else if (mode.equals("hangs")) {
                hangs();
            } else {
                others(Long.parseLong(options.text("ended", "0")));
            }
            say("done");
            Runtime.getRuntime().halt(0);
        } catch (Throwable fault) {
            fault.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private void live() throws InterruptedException {
        awaitIdle();
        say("ready");
        await(Report.Kind.SIGQUIT);
        reported("anr of another app", null);
        Loopbox.dump("hang");
        await(Report.Kind.REQUESTED);
        reported("dump", null);
        new Handler(Looper.getMainLooper())
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                SystemClock.sleep(600_000);
                            }
                        });
        String kind = options.text("kind", "ANR");
        if (!kind.equals("NONE")) {
            Report report = await(Report.Kind.valueOf(kind));
            reported("hang", report);
            if (report.getKind() == Report.Kind.ANR) {
                anr();
            } else {
                hang();
            }
        }
        say("hangs");
        SystemClock.sleep(600_000);
    }

    /** Prints whether the file or the digest of the report has arrived at this SDK in this situation. */
    private static void arrives(String column, String sdk, boolean file, boolean digest) {
        say("arrives " + column + " " + sdk + ":" + (file ? " file" : "") + (digest ? " digest" : ""));
    }

    /** Prints what SDKs report about an ANR while the process lives. */
    private void anr() {
        int before = files();
        String watchdog = sentryClient(MAX_BYTES).capture(new SentryClient.WatchdogHint(), false);
        say("sentry watchdog " + watchdog);
        say("sentry watchdog left " + (files() - before) + " files");
        arrives("live", "Sentry", watchdog.contains(".lbx"), watchdog.endsWith(" true"));
        Event event = event("ANR", System.currentTimeMillis());
        bugsnag.onError(event);
        arrives("live", "Bugsnag", false, event.getMetadata("loopbox", "digest") != null);
        arrives("live", "Datadog RUM", false, GlobalRumMonitor.reported().get("loopbox.digest") != null);
        arrives("live", "xCrash", false, TombstoneManager.sections().get("tombstone loopbox") != null);
        arrives("live", "bitdrift", false, Capture.Logger.fields().get("loopbox") != null);
        // Their events are made at the next start, of the view and the keys that are there now.
        arrives("last", "Datadog RUM", false, GlobalRumMonitor.reported().get("written") != null);
        arrives("last", "Crashlytics", false, FirebaseCrashlytics.getInstance().keys().get("loopbox") != null);
    }

    /**
     * Prints what SDKs have of a hang that is no ANR, and then what they have if the process crashes. For the
     * hang itself no SDK makes an event.
     */
    private void hang() {
        boolean attribute = GlobalRumMonitor.reported().get("loopbox.digest") != null;
        boolean field = Capture.Logger.fields().get("loopbox") != null;
        arrives("hang", "Datadog RUM", false, attribute);
        arrives("hang", "bitdrift", false, field);
        String crash = sentryClient(MAX_BYTES).capture(null, false);
        say("sentry crash " + crash);
        arrives("crash", "Sentry", crash.contains(".lbx"), crash.endsWith(" true"));
        Event event = event("java.lang.IllegalStateException", System.currentTimeMillis());
        bugsnag.onError(event);
        arrives("crash", "Bugsnag", false, event.getMetadata("loopbox", "digest") != null);
        arrives("crash", "Crashlytics", false, FirebaseCrashlytics.getInstance().keys().get("loopbox") != null);
        arrives("crash", "Datadog RUM", false, attribute);
        arrives("crash", "bitdrift", false, field);
    }

    /** Waits while main does not respond because it still starts, which may take long on a busy machine. */
    private static void awaitIdle() throws InterruptedException {
        final CountDownLatch idle = new CountDownLatch(1);
        new Handler(Looper.getMainLooper())
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                Looper.myQueue()
                                        .addIdleHandler(
                                                new MessageQueue.IdleHandler() {
                                                    @Override
                                                    public boolean queueIdle() {
                                                        idle.countDown();
                                                        return false;
                                                    }
                                                });
                            }
                        });
        idle.await();
    }

    private int files() {
        int found = 0;
        for (String name : new java.io.File(options.text("dir", ".")).list()) {
            found += name.endsWith(".lbx") ? 1 : 0;
        }
        return found;
    }

    private Report await(Report.Kind kind) throws InterruptedException {
        Report report = complete.take();
        while (report.getKind() != kind) {
            report = complete.take();
        }
        return report;
    }

    /**
     * Compares what the SDKs have by now with what they should have: the digest of this report, or nothing.
     */
    private void reported(String when, Report report) {
        Event anr = event("ANR", System.currentTimeMillis());
        bugsnag.onError(anr);
        Event crash = event("java.lang.IllegalStateException", System.currentTimeMillis());
        bugsnag.onError(crash);
        xcrash.onCrash("tombstone", null);
        check(when, "bugsnag anr", report, anr.getMetadata("loopbox", "digest"));
        check(when, "bugsnag crash", null, crash.getMetadata("loopbox", "digest"));
        check(when, "crashlytics", report, FirebaseCrashlytics.getInstance().keys().get("loopbox"));
        check(when, "datadog", report, GlobalRumMonitor.reported().get("loopbox.digest"));
        check(when, "bitdrift", report, Capture.Logger.fields().get("loopbox"));
        String section = TombstoneManager.sections().get("tombstone loopbox");
        check(when, "xcrash", report, section == null ? null : section.split("\n")[0]);
    }

    private static void check(String when, String sdk, Report report, Object has) {
        boolean right = report == null ? has == null : report.getDigest().equals(has) && !report.getDigest().isEmpty();
        say(when + ": " + sdk + (right ? " right" : " wrong: " + has));
    }

    private static Event event(String errorClass, long timeMs) {
        Event event = new Event(new DeviceWithState(new Date(timeMs)));
        event.getErrors().add(new com.bugsnag.android.Error(errorClass));
        return event;
    }

    private static SentryClient sentryClient(long mostBytes) {
        SentryClient client = new SentryClient();
        client.addEventProcessor(new LoopboxEventProcessor(mostBytes));
        client.addEventProcessor(new LoopboxExitProcessor(mostBytes));
        return client;
    }

    private static void sentry(long ended) throws InterruptedException {
        SentryClient client = sentryClient(MAX_BYTES);
        say("other end: " + client.capture(new SentryClient.ExitHint(ended - 1, true), false));
        say("large: " + sentryClient(100).capture(new SentryClient.ExitHint(ended, true), false));
        SentryClient.ExitHint dropped = new SentryClient.ExitHint(ended, true);
        say("sampled away: " + client.capture(dropped, true));
        dropped.awaitWaited();
        say("then there: " + isThere(ended));
        SentryClient.ExitHint historical = new SentryClient.ExitHint(ended, false);
        String kept = client.capture(historical, false);
        say("kept: " + kept);
        arrives("last", "Sentry", kept.contains(".lbx"), kept.endsWith(" true"));
        while (isThere(ended)) {
            SystemClock.sleep(5);
        }
        say("then gone");
    }

    /** Sends the reports of hangs by the links that create an event for a hang, and prints what arrives. */
    private static void hangs() {
        for (Report report : Loopbox.pendingReports()) {
            boolean notified = new io.loopbox.integration.bugsnag.LoopboxHangs().send(report);
            say("bugsnag hang " + report.getKind() + " " + notified + " " + report.getFile().exists());
            boolean sent = new LoopboxHangs(new SentryOptions()).send(report);
            say("sentry hang " + report.getKind() + " " + sent + " " + report.getFile().exists());
        }
        for (Event event : Bugsnag.notified()) {
            arrives("hang", "Bugsnag", false, event.getMetadata("loopbox", "digest") != null);
        }
        for (String captured : Sentry.captured()) {
            arrives("hang", "Sentry", captured.contains(".lbx "), !captured.endsWith(" "));
        }
    }

    private static boolean isThere(long ended) {
        for (Report report : Loopbox.takePendingReports()) {
            if (report.getKind() == Report.Kind.ANR && report.getExitTimeMs() == ended) {
                return true;
            }
        }
        return false;
    }

    private void others(long ended) throws Exception {
        List<Report> reports = Loopbox.takePendingReports();
        String column = options.text("column", "last");
        say("reports " + reports.size());
        reported("next start", null);
        for (long time : new long[] {ended, ended + 1}) {
            Event anr = event("ANR", time);
            bugsnag.onSend(anr);
            Object verdict = anr.getMetadata("loopbox", "verdict");
            say("bugsnag " + (time == ended) + " " + verdict);
            if (time == ended && column.equals("last")) {
                arrives(column, "Bugsnag", false, verdict != null);
            }
        }
        for (Report report : reports) {
            boolean recorded = LoopboxNonFatals.record(report);
            boolean error = LoopboxRum.addError(report);
            boolean silent = LoopboxData.send(report);
            say("taken " + report.getKind() + " " + recorded + " " + error + " " + silent);
            if (report.getKind() != Report.Kind.SIGQUIT && report.getKind() != Report.Kind.REQUESTED) {
                arrives(column, "Crashlytics", false, recorded);
                arrives(column, "Datadog RUM", false, error);
                arrives(column, "ACRA", false, silent);
                LogRecords records = new LogRecords();
                LoopboxLogRecords.emit(report, records);
                arrives(column, "OpenTelemetry", false, records.emitted != null && records.emitted.get("loopbox.digest") != null);
                // As the document selects them, and with the kind that it says may be added.
                boolean uploaded = isHang(report) || report.getKind() == Report.Kind.CRASH;
                arrives(column, "`Uploader`", uploaded && report.getFile().length() > 0, false);
            }
            for (Throwable hang : FirebaseCrashlytics.getInstance().recorded()) {
                StackTraceElement top = hang.getStackTrace()[0];
                Map<String, String> keys = FirebaseCrashlytics.getInstance().recordedKeys().get(0);
                say("recorded " + top.getMethodName() + " " + hang.getMessage().equals(report.getTitle()));
                say("of a class with its package: " + (top.getClassName().indexOf('.') > 0));
                say("keys of it " + report.getDigest().equals(keys.get("loopbox")) + " " + keys.keySet());
            }
        }
        say("acra " + (ACRA.reported().get("silent") != null) + " " + ACRA.reported().get("data"));
        say("acra left " + ACRA.reported().get("loopbox"));
        say("datadog " + GlobalRumMonitor.reported().keySet());
        say("embrace before it starts " + LoopboxLogs.send(reports));
        Embrace.INSTANCE.start();
        say("embrace " + LoopboxLogs.send(reports));
        for (String line : Embrace.INSTANCE.logged()) {
            String[] words = line.split(" ", 4);
            boolean attached = Integer.parseInt(words[2]) > 0;
            say("logged " + words[0] + " " + words[1] + " " + attached);
            arrives(column, "Embrace", attached, words.length > 3 && !words[3].isEmpty());
        }
        say("left " + Loopbox.takePendingReports().size());
    }

    private static boolean isHang(Report report) {
        return report.getKind() == Report.Kind.ANR || report.getKind() == Report.Kind.HANG || report.getKind() == Report.Kind.RECOVERED;
    }
}
