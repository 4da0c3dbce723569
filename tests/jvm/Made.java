import io.loopbox.AnrWarning;
import io.loopbox.Config;
import io.loopbox.FrameGesture;
import io.loopbox.FrameStats;
import io.loopbox.FrameWindow;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.loopbox.Stall;
import io.loopbox.Status;
import io.loopbox.testing.AnrWarningBuilder;
import io.loopbox.testing.FrameGestureBuilder;
import io.loopbox.testing.FrameSceneBuilder;
import io.loopbox.testing.FrameStatsBuilder;
import io.loopbox.testing.FrameWindowBuilder;
import io.loopbox.testing.ReportBuilder;
import io.loopbox.testing.StallBuilder;
import io.loopbox.testing.StatusBuilder;
import java.io.File;
import java.util.Arrays;
import java.util.List;

/**
 * A unit test of an app, on a JVM: makes one object with each builder, and prints what the app would see of
 * it.
 */
public final class Made {
    private static final StackTraceElement[] STACK = {
        new StackTraceElement("java.lang.Thread", "sleep", "Thread.java", -2),
        new StackTraceElement("com.shop.Cart$1", "total", "Cart.java", 88),
        new StackTraceElement("com.shop.Cart", "run", null, -1),
    };

    private Made() {}

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]);
        status();
        warning();
        stall();
        frames();
        reports(folder);
        nextLaunch(new File(folder, "next"));
    }

    private static void say(String what, Object... values) {
        System.out.println(what + ' ' + Arrays.toString(values));
    }

    private static void status() {
        Status on = new StatusBuilder().part("hook", true, "Printer").part("sampler", false, "no\ttable\n").build();
        say("on", on.isOn(), on.getReason(), on.getParts());
        Status off = new StatusBuilder().part("hook", true, "").off("memory is short").build();
        say("off", off.isOn(), off.getReason(), off.getParts());
    }

    private static void warning() {
        AnrWarning made = new AnrWarningBuilder().id(-7).type(4).consumedMs(15_000).timeoutMs(30_000).build();
        say("warning", made.getId(), made.getType(), made.getConsumedMs(), made.getTimeoutMs());
        say("warning", new AnrWarningBuilder().build());
    }

    private static void stall() {
        StallBuilder builder = new StallBuilder().level(2).wallMs(412.5).startUptimeMs(5).startTimeMs(6);
        Stall made = builder.message("a.B").scene("Feed").stack("a.B.run(B.java:1)").json("{\"a\":1}").build();
        say("stall", made.getLevel(), made.getWallMs(), made.getStartUptimeMs(), made.getStartTimeMs());
        say("stall", made.getMessage(), made.getScene(), made.getStack(), made.getJson());
        say("stall", new StallBuilder().build());
    }

    private static void frames() {
        FrameWindowBuilder window = new FrameWindowBuilder().fps(58.5).refreshRate(120).longestMs(412.25);
        FrameWindow one = window.level(FrameWindow.Level.HIGH).frames(7).scene("Feed").missed(3).build();
        say("window", one.getFps(), one.getRefreshRate(), one.getLongestMs(), one.getLevel(), one.getFrames());
        say("window", one.getScene(), one.getMissed(), new FrameWindowBuilder().build().getLevel());
        FrameGestureBuilder scroll = new FrameGestureBuilder().beginMs(1.5).durationMs(2_000).fingerMs(700).flingMs(1_300);
        scroll.frames(100).hitchMsPerSecond(12.5).longestMs(99.5).frozenFrames(1).jankWindows(2).ordinal(3).byFinger(false);
        gesture("gesture", scroll.build());
        FrameSceneBuilder all = new FrameSceneBuilder().frames(1_200).durationMs(20_000).refreshRate(120);
        FrameSceneBuilder feed = new FrameSceneBuilder().hitchMsPerSecond(5).longestMs(150.5).droppedFrames(9).slowFrames(4);
        feed.frozenFrames(1).jankWindows(2).gestures(3).scrolled(90, 1_500, 20).lostReports(5);
        feed.cause("layout_measure", 3).cause("in\tput=x", 1);
        FrameStatsBuilder builder = new FrameStatsBuilder().process(all).scene("com.shop.Feed\n", feed).gesture(scroll);
        FrameStats stats = builder.scene("none", new FrameSceneBuilder().frames(0)).build();
        scene("process", stats.getProcess());
        say("scenes", stats.getScenes().size(), stats.getGestures().size());
        scene("scene", stats.getScenes().get(0));
        gesture("gesture", stats.getGestures().get(0));
        scene("empty", new FrameStatsBuilder().build().getProcess());
    }

    private static void gesture(String what, FrameGesture made) {
        say(what, made.getBeginMs(), made.getDurationMs(), made.getFingerMs(), made.getFlingMs(), made.getFrames());
        say(what, made.getFps(), made.getHitchMsPerSecond(), made.getLongestMs(), made.getFrozenFrames());
        say(what, made.getJankWindows(), made.getOrdinal(), made.isByFinger());
    }

    private static void scene(String what, FrameStats.Scene made) {
        say(what, made.getName(), made.getFrames(), made.getDurationMs(), made.getFps(), made.getFpsOfRate());
        say(what, made.getHitchMsPerSecond(), made.getLongestMs(), made.getDroppedFrames(), made.getSlowFrames());
        say(what, made.getFrozenFrames(), made.getJankWindows(), made.getGestures(), made.getLostReports());
        say(what, made.getScrolledFrames(), made.getScrollHitchMsPerSecond(), made.getCauses());
    }

    private static void reports(File folder) throws Exception {
        ReportBuilder full = new ReportBuilder().kind(Report.Kind.ANR).verdict(Report.Verdict.CONFIRMED);
        full.processName("com.shop").pid(77).timeMs(1_700_000_000_123L).digest("one line").appVersion("5.2", 502);
        full.annotate("user", "7f3a").annotate("scene", "pay\n\u00fc").durationMs(7_001).stackTrace(STACK);
        full.fingerprint("0123abcd").title("Cart.total").anrWarning(1, 5, 1, 2).anrWarning(8, -4, 15_000, 30_000);
        Report made = full.systemProfile(new File("/profiles/7")).write(new File(folder, "full"));
        report(made);
        say("fields", made.getLabel(), made.getProcessName(), made.getPid(), made.getTimeMs(), made.getDigest());
        say("fields", made.getAppVersion(), made.getAppVersionCode(), made.getAnnotations(), made.getDurationMs());
        say("fields", made.getThreadName(), made.getFingerprint(), made.getTitle(), made.getAnrWarning());
        say("stack", (Object[]) made.getStackTrace());
        say("profile", made.getSystemProfile(), made.getExitTimeMs(), made.claim());
        for (Report.Kind kind : Report.Kind.values()) {
            report(new ReportBuilder().kind(kind).pid(100 + kind.ordinal()).stackTrace(STACK).write(folder));
        }
        report(new ReportBuilder().label("by\tme").durationMs(0).pid(200).write(folder));
        report(new ReportBuilder().complete(false).pid(201).annotate("a", "b").write(folder));
        say("names", new ReportBuilder().pid(202).write(folder), new ReportBuilder().pid(202).write(folder));
        refused(new ReportBuilder().kind(Report.Kind.HANG).verdict(Report.Verdict.CONFIRMED), folder);
        refused(new ReportBuilder().kind(Report.Kind.ANR).verdict(Report.Verdict.HANG), folder);
        refused(new ReportBuilder().kind(Report.Kind.SIGQUIT).verdict(Report.Verdict.HANG), folder);
    }

    private static void report(Report made) {
        say("report", made.getKind(), made.getVerdict(), made.getReason(), made.isComplete(), made.getTitle());
    }

    private static void refused(ReportBuilder wrong, File folder) throws Exception {
        try {
            say("not refused", wrong.write(folder));
        } catch (IllegalStateException refusal) {
            say("refused", refusal.getMessage());
        }
    }

    /** The actions of an app at its next launch. */
    private static void nextLaunch(File folder) throws Exception {
        new ReportBuilder().pid(8).timeMs(2_000).title("second").write(folder);
        new ReportBuilder().pid(9).timeMs(1_000).title("first").write(folder);
        Loopbox.install(new Config.Builder(folder).build());
        say("pending", Loopbox.pendingReports().size());
        List<Report> taken = Loopbox.takePendingReports();
        for (Report report : taken) {
            say("taken", report.getTitle(), report.getFile().delete());
        }
        say("left", Loopbox.takePendingReports().size(), folder.listFiles().length);
    }
}
