package com.example.reader;

import android.app.ContextImpl;
import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.loopbox.Status;
import java.io.File;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Simulates the app's user, and the system that starts the app. Arguments: the scenario, the app's folder,
 * and the name of the app's main process. Without the name, this process is the main process.
 */
public final class Main implements Runnable {
    private final ContextImpl system;
    private final ReaderApplication application;
    private final PageActivity page = new PageActivity();
    private final String scenario;

    private Main(String scenario, ContextImpl system, ReaderApplication application) {
        this.scenario = scenario;
        this.system = system;
        this.application = application;
    }

    static void say(String line) {
        System.out.println("SCRIPT " + line);
        System.out.flush();
    }

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        String scenario = arguments[0];
        String process = arguments.length > 2 ? arguments[2] : "this one";
        if (scenario.equals("misuse")) {
            misuse();
        }
        Config.Builder builder = new Config.Builder().pauseInBackground(scenario.equals("background"));
        builder.mainProcessOnly(arguments.length > 2).autoScene(!scenario.equals("background"));
        if (scenario.equals("observer")) {
            builder.hook(Config.Hook.OBSERVER);
        }
        ContextImpl system = new ContextImpl(new File(arguments[1]), "com.example.reader", process);
        ReaderApplication application = new ReaderApplication(builder);
        application.attach(system);
        system.application = application;
        application.onCreate();
        say("status " + application.status);
        new Thread(new Main(scenario, system, application), "scenario").start();
        Looper.loop();
    }

    @Override
    public void run() {
        try {
            runScenario();
            say("done");
            Runtime.getRuntime().halt(0);
        } catch (Throwable fault) {
            fault.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private void runScenario() throws Exception {
        if (scenario.equals("hang") || scenario.equals("die")) {
            onMain(true);
            Loopbox.annotate("card", "4111 1111 1111 1111");
            Loopbox.annotate("shelf", "secret shelf");
            Loopbox.annotate("broken", "value");
            Loopbox.annotate("foreground", "what the app says");
            page.open(60_000);
            Thread.sleep(2_000);
            say("hangs");
            if (scenario.equals("die")) {
                Thread.sleep(60_000);
            }
            say("dumped " + (Loopbox.dump("the user shook the phone") != null));
            application.reported.await();
            say("status " + Loopbox.status());
        } else if (scenario.equals("take")) {
            // What an earlier process left is searched for on another thread.
            application.reported.await();
            take();
            for (Report report : take()) {
                say("deleted " + report.getFile().delete());
            }
            take();
        } else if (scenario.equals("background")) {
            onMain(true);
            work(400);
            onMain(false);
            work(500);
            say("status " + Loopbox.status());
            onMain(true);
            work(600);
            Loopbox.pause();
            work(700);
            Loopbox.resume();
            work(800);
            Loopbox.dump("paused twice");
        } else if (scenario.equals("behind")) {
            onMain(true);
            onMain(false);
            page.open(600_000);
            while (true) {
                Thread.sleep(500);
                Loopbox.dump("behind");
            }
        } else if (scenario.equals("off")) {
            Loopbox.setEnabled(application, false);
            work(1);
            say("status " + Loopbox.status());
        } else if (scenario.equals("on again")) {
            Loopbox.setEnabled(application, true);
            say("status " + Loopbox.status());
        }
    }

    private static List<Report> take() {
        List<Report> all = Loopbox.takePendingReports();
        for (Report report : all) {
            boolean ours = report.getPid() == Process.myPid();
            long ageMs = System.currentTimeMillis() - report.getTimeMs();
            say("pending " + report.getKind() + (ours ? " ours" : " of another") + (ageMs < 600_000 ? " new" : " old"));
            say("digest " + report.getDigest());
        }
        say("pending in all " + all.size());
        return all;
    }

    /** Posts a message that takes this long, and waits for its end. */
    private void work(long ms) throws InterruptedException {
        page.open(ms);
        settled();
    }

    private void onMain(final boolean show) throws InterruptedException {
        new Handler(Looper.getMainLooper())
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                if (show) {
                                    system.application.show(page);
                                } else {
                                    system.application.hide(page);
                                }
                            }
                        });
        settled();
    }

    /** Waits until everything posted before has run. */
    private static void settled() throws InterruptedException {
        final CountDownLatch done = new CountDownLatch(1);
        new Handler(Looper.getMainLooper())
                .post(
                        new Runnable() {
                            @Override
                            public void run() {
                                done.countDown();
                            }
                        });
        done.await();
    }

    /** All mistakes that an app can make before the installation; none of them throws. */
    private static void misuse() {
        Status none = Loopbox.install(null, null);
        say("nothing: " + none.isOn() + " " + !none.getReason().isEmpty());
        say("no folder: " + Loopbox.install(new Config.Builder().build()));
        say("before: " + Loopbox.status() + " " + Loopbox.dump(null) + " " + Loopbox.takePendingReports());
        Loopbox.dumpAsync(null, null);
        Loopbox.annotate("a", "b");
        Loopbox.annotate(null, null);
        Loopbox.scene(null);
        Loopbox.pause();
        Loopbox.resume();
        Loopbox.setSampling(true);
        Loopbox.uninstall();
        Loopbox.setEnabled(null, false);
    }
}
