import io.loopbox.Config;
import io.loopbox.FrameConfig;
import io.loopbox.Frames;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Monitor;
import io.loopbox.MonitorConfig;
import io.loopbox.Report;
import io.loopbox.Status;
import java.io.File;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;

/**
 * A unit test of an app, on a JVM: calls each method of the API. Prints the status, and the methods that
 * throw. The platform is a jar in which every method throws.
 */
public final class Calls {
    private static final File FOLDER = new File(System.getProperty("java.io.tmpdir"), "loopbox-calls");

    private Calls() {}

    public static void main(String[] arguments) throws Exception {
        Config config = new Config.Builder(FOLDER).frames(new FrameConfig.Builder().build()).build();
        Monitor monitor = Loopbox.monitor(new MonitorConfig.Builder().directory(FOLDER).build());
        Object[] all = {Loopbox.frames(), monitor, Report.of(new File(FOLDER, "none.lbx")), Loopbox.status()};
        int calls = 0;
        // What an app does in its unit tests first is not the same each time.
        for (int round = 0; round < 2; round++) {
            calls += call(Loopbox.class, null, config);
            for (Object each : all) {
                calls += call(each.getClass(), each, config);
            }
        }
        System.out.println("calls " + calls);
        System.out.println("install " + Loopbox.install((android.content.Context) null, config).getReason());
        System.out.println("install " + Loopbox.install(config).getReason());
        Status status = Loopbox.status();
        System.out.println("status " + status.isOn() + " " + status.getReason());
    }

    private static int call(Class<?> type, Object on, Config config) throws Exception {
        int calls = 0;
        for (Method method : type.getDeclaredMethods()) {
            if (!Modifier.isPublic(method.getModifiers()) || method.getName().equals("equals")) {
                continue;
            }
            Class<?>[] wanted = method.getParameterTypes();
            Object[] values = new Object[wanted.length];
            for (int at = 0; at < values.length; at++) {
                values[at] = value(wanted[at], config);
            }
            calls++;
            try {
                method.invoke(on, values);
            } catch (InvocationTargetException thrown) {
                System.out.println("throws " + type.getSimpleName() + "." + method.getName() + ": " + thrown.getCause());
            }
        }
        return calls;
    }

    private static Object value(Class<?> type, Config config) {
        if (type == String.class) {
            return "name";
        } else if (type == boolean.class) {
            return true;
        } else if (type == long.class) {
            return 5L;
        } else if (type == int.class) {
            return 5;
        } else if (type == File.class) {
            return FOLDER;
        } else if (type == Config.class) {
            return config;
        } else if (type == MonitorConfig.class) {
            return new MonitorConfig.Builder().build();
        } else if (type.isInterface() && type.getName().startsWith("io.loopbox.")) {
            InvocationHandler nothing =
                    new InvocationHandler() {
                        @Override
                        public Object invoke(Object proxy, Method method, Object[] values) {
                            return method.getName().equals("hashCode") ? (Object) 1 : method.getName().equals("equals") ? (Object) false : null;
                        }
                    };
            return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, nothing);
        }
        // Of the platform, where a unit test has none.
        return null;
    }
}
