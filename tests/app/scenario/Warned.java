package scenario;

import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import android.os.SystemClock;
import io.loopbox.AnrWarning;
import io.loopbox.AnrWarningListener;
import io.loopbox.FirstFileListener;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import io.loopbox.ProfileListener;
import io.loopbox.Report;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;

/**
 * An app that is warned of ANRs as on Android 17. The warnings come from the system server's own controller
 * of warnings, through the level's own ActivityManager. The level's own ProfilingManager takes profiles of
 * the app. For a testbed with the framework of 37.
 *
 * <p>Arguments, in addition to those of {@link Options}:
 *
 * <ul>
 *   <li>{@code ends=PID|PROCESS|TIME|REASON|WORDS|SUBREASON|ID|TYPE|TIMEOUT,...}: how processes ended, newest
 *   first. ID, TYPE and TIMEOUT describe an ANR; they are empty when the system reports no such details;
 *   <li>{@code orders=FOLDER}: the files {@code 1}, {@code 2}, ... in it have one order each: {@code warn ID
 *   TYPE CONSUMED TIMEOUT}, {@code hang FILE} (until it is there), {@code profiled TRIGGER TAG FILE} (the tag
 *   {@code null} for none), {@code take}, {@code uninstall}, {@code end};
 *   <li>{@code awaits=none}: the recorder does not register for warnings;
 *   <li>{@code triggers=NAME,...}: values of {@code Config.ProfileTrigger}.
 * </ul>
 */
public final class Warned implements Runnable, FirstFileListener, AnrWarningListener, ProfileListener {
    private final File orders;
    private final Object server;
    private final Object profiling;
    private final boolean awaits;

    private Warned(Options options, Object server, Object profiling) {
        this.profiling = profiling;
        orders = new File(options.text("orders", "."));
        this.server = server;
        awaits = !options.is("awaits", "none");
    }

    /** Runs until it is asked to end. */
    public static void main(String[] arguments) throws ReflectiveOperationException {
        Looper.prepareMainLooper();
        Options options = new Options(arguments);
        Object server = Class.forName("com.android.server.am.TestSystemServer").getConstructor().newInstance();
        call(server, "begin");
        Object profiling = Class.forName("android.os.TestProfilingService").getConstructor().newInstance();
        call(profiling, "begin");
        Device device = new Device(options);
        Warned warned = new Warned(options, server, profiling);
        Config.Builder config = options.config().listener(null).listener(warned).profileListener(warned);
        for (String trigger : options.text("triggers", "").split(",")) {
            if (!trigger.isEmpty()) {
                config.profileTrigger(Config.ProfileTrigger.valueOf(trigger));
            }
        }
        if (!Loopbox.install(device, config.build()).isOn()) {
            throw new AssertionError("not installed");
        }
        new Thread(warned, "orders").start();
        Looper.loop();
    }

    /** Calls the only method of that name. */
    private static Object call(Object on, String name, Object... arguments) throws ReflectiveOperationException {
        for (Method method : on.getClass().getMethods()) {
            if (method.getName().equals(name)) {
                try {
                    return method.invoke(on, arguments);
                } catch (InvocationTargetException failed) {
                    throw new AssertionError(failed.getCause());
                }
            }
        }
        throw new NoSuchMethodException(name);
    }

    /**
     * A phone with the ActivityManager and the ProfilingManager of API 37. Its records of ended processes are
     * objects of the class {@code ApplicationExitInfo} of API 37.
     */
    private static final class Device extends Phone {
        private final Object manager;
        private final Object profiling;

        Device(Options options) throws ReflectiveOperationException {
            super(options);
            manager =
                    Class.forName("android.app.TestActivityManager").getConstructor(Context.class).newInstance(this);
            profiling =
                    Class.forName("android.os.ProfilingManager").getConstructor(Context.class).newInstance(this);
            @SuppressWarnings("unchecked")
            List<Object> exits = (List<Object>) manager.getClass().getField("exits").get(manager);
            for (String end : options.text("ends", "").split(",")) {
                if (!end.isEmpty()) {
                    exits.add(end(end.split("\\|", -1)));
                }
            }
        }

        private static Object end(String[] parts) throws ReflectiveOperationException {
            Object exit = Class.forName("android.app.ApplicationExitInfo").getConstructor().newInstance();
            call(exit, "setPid", Integer.parseInt(parts[0]));
            call(exit, "setProcessName", parts[1]);
            call(exit, "setTimestamp", Long.parseLong(parts[2]));
            call(exit, "setReason", Integer.parseInt(parts[3]));
            call(exit, "setDescription", parts[4]);
            call(exit, "setSubReason", Integer.parseInt(parts[5]));
            if (!parts[6].isEmpty()) {
                Object info =
                        Class.forName("android.app.ApplicationExitInfo$AnrInfo")
                                .getConstructor(int.class, int.class, long.class, boolean.class)
                                .newInstance(
                                        Integer.parseInt(parts[6]), Integer.parseInt(parts[7]), Long.parseLong(parts[8]), true);
                call(exit, "setAnrInfo", info);
            }
            return exit;
        }

        @Override
        public Object getSystemService(String name) {
            if (name.equals("profiling")) {
                return profiling;
            }
            return ACTIVITY_SERVICE.equals(name) ? manager : super.getSystemService(name);
        }
    }

    @Override
    public void onAnrWarning(AnrWarning warning) {
        Script.say("warned of " + warning);
    }

    @Override
    public void onProfile(File profile, int trigger, String tag) {
        Script.say("profile " + trigger + " " + tag + " " + profile.getName());
    }

    @Override
    public void onFirstFile(Report report) {
        Script.say("first " + about(report));
    }

    @Override
    public void onReport(Report report) {
        Script.say("report " + about(report));
    }

    private static String about(Report report) {
        String profile = name(report.getSystemProfile()) + " trace " + name(report.getHangTrace());
        return report.getKind() + " " + report.getVerdict() + " warned of " + report.getAnrWarning() + " profile " + profile + " " + report.getFile().getPath();
    }

    private static String name(File file) {
        return file == null ? null : file.getName();
    }

    @Override
    public void run() {
        try {
            Script.awaitSampler();
            while (awaits && server.getClass().getField("registered").getInt(server) == 0) {
                SystemClock.sleep(5);
            }
            Script.say("registered");
            for (int nth = 1; ; nth++) {
                File order = new File(orders, Integer.toString(nth));
                while (!order.exists()) {
                    SystemClock.sleep(5);
                }
                obey(text(order).split(" "));
                Script.say("did " + nth);
            }
        } catch (IOException | ReflectiveOperationException failed) {
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

    private void obey(String[] order) throws ReflectiveOperationException {
        if (order[0].equals("warn")) {
            call(
                    server,
                    "warn",
                    Integer.parseInt(order[1]),
                    Integer.parseInt(order[2]),
                    Long.parseLong(order[3]),
                    Long.parseLong(order[4]));
        } else if (order[0].equals("hang")) {
            new Handler(Looper.getMainLooper()).post(new GatedHang(new File(order[1])));
        } else if (order[0].equals("profiled")) {
            call(profiling, "deliver", Integer.parseInt(order[1]), order[2].equals("null") ? null : order[2], order[3]);
        } else if (order[0].equals("take")) {
            for (Report report : Loopbox.takePendingReports()) {
                Script.say("took " + about(report));
            }
        } else if (order[0].equals("uninstall")) {
            Loopbox.uninstall();
            while (server.getClass().getField("registered").getInt(server) > 0) {
                SystemClock.sleep(5);
            }
        } else {
            Runtime.getRuntime().halt(0);
        }
    }
}
