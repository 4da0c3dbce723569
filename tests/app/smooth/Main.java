package smooth;

import android.app.Application;
import android.app.ContextImpl;
import android.os.Handler;
import android.os.Looper;
import android.view.Choreographer;
import android.view.TestVsync;
import io.loopbox.FrameConfig;
import io.loopbox.FrameStats;
import io.loopbox.Loopbox;
import io.loopbox.MonitorConfig;
import io.loopbox.Status;
import java.io.File;
import scenario.Options;
import scenario.Script;

/**
 * An app whose display frames are recorded. Arguments: those of {@link Options}, and {@code trace=MS,MS,...}:
 * an animation with frames of these durations, on a scripted display; with {@code jankTypes=on} the
 * compositor classifies some of its frames. Without {@code trace=} it is a screen that a finger scrolls, see
 * {@link Person}. {@code stages=on}, {@code touch=on}, {@code janks=on} and {@code monitor=on} switch on
 * these parts of the recorder.
 */
public final class Main {
    private static final long HOUR_NS = 3_600_000_000_000L;
    private static final long HZ_60_NS = 16_666_667;
    private static final long MS = 1_000_000;

    private Main() {}

    /** Runs until it is killed, or, with a trace, until the trace has ended. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        final Options options = new Options(arguments);
        String trace = options.text("trace", "");
        if (!trace.isEmpty()) {
            // So long that no frame of the script is too late for the Choreographer, which reads it once.
            TestVsync.setPeriodNanos(HOUR_NS);
            Choreographer.getInstance();
            install(null, options);
            trace(trace.split(","), options.is("jankTypes", "on") ? new JankTypes() : null);
        } else {
            final ContextImpl context = new ContextImpl(new File(options.text("dir", ".")), "com.example.feed", "com.example.feed");
            final Application application = new Application();
            application.attach(context);
            context.application = application;
            install(application, options);
            final Feed feed = new Feed(context);
            final Screen screen = new Screen(context, feed);
            new Handler()
                    .post(
                            new Runnable() {
                                @Override
                                public void run() {
                                    application.show(screen);
                                    screen.makeShown();
                                    new Thread(new Person(feed), "person").start();
                                }
                            });
        }
        Looper.loop();
    }

    private static void install(Application application, Options options) {
        FrameConfig.Builder frames = new FrameConfig.Builder();
        frames.jankData(options.is("janks", "on"));
        frames.stages(options.is("stages", "on")).touch(options.is("touch", "on")).skippedFrames(40).listener(new PrintsFrames());
        io.loopbox.Config config = options.config().frames(frames.build()).build();
        Status status = application == null ? Loopbox.install(config) : Loopbox.install(application, config);
        if (!status.isOn()) {
            throw new AssertionError(status.toString());
        }
        if (options.is("monitor", "on") && !Loopbox.monitor(new MonitorConfig.Builder().listener(new PrintsStalls()).build()).start()) {
            throw new AssertionError("no monitor");
        }
        Script.say("installed");
    }

    private static void say(String what, FrameStats stats) {
        FrameStats.Scene all = stats.getProcess();
        StringBuilder scenes = new StringBuilder();
        for (FrameStats.Scene scene : stats.getScenes()) {
            scenes.append(' ').append(scene.getName()).append(' ').append(scene.getFrames());
        }
        String sums = all.getFrames() + " frames, " + all.getDroppedFrames() + " dropped, " + all.getJankWindows() + " windows";
        String hitches = Math.round(all.getHitchMsPerSecond() * 1000) + " us/s of hitches";
        Script.say(what + ": " + sums + ", " + hitches + ", " + Math.round(all.getFps() * 1000) + " mHz," + scenes);
    }

    private static void trace(final String[] trace, final JankTypes jankTypes) {
        final long[] times = new long[trace.length + 1];
        for (int i = 0; i < trace.length; i++) {
            times[i + 1] = times[i] + Math.round(Double.parseDouble(trace[i]) * MS);
        }
        long first = System.nanoTime() - times[trace.length];
        for (int i = 0; i < times.length; i++) {
            times[i] += first;
        }
        TestVsync.setScript(times);
        Loopbox.frames().begin("trace");
        Choreographer.getInstance()
                .postFrameCallback(
                        new Choreographer.FrameCallback() {
                            private int frame;

                            @Override
                            public void doFrame(long frameTimeNanos) {
                                if (jankTypes != null) {
                                    jankTypes.frame(frame, times);
                                }
                                if (frame == trace.length) {
                                    Loopbox.frames().end("trace");
                                    Script.dump("the trace is over");
                                    say("stats", Loopbox.frames().snapshot());
                                    Loopbox.frames().reset();
                                    say("stats after a reset", Loopbox.frames().snapshot());
                                    Runtime.getRuntime().halt(0);
                                }
                                frame++;
                                Choreographer.getInstance().postFrameCallback(this);
                            }
                        });
    }
}
