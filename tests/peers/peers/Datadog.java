package peers;

import android.os.Handler;
import android.os.Looper;
import com.datadog.android.api.InternalLogger;
import com.datadog.android.api.feature.FeatureSdkCore;
import com.datadog.android.rum.GlobalRumMonitor;
import com.datadog.android.rum.internal.anr.ANRDetectorRunnable;
import com.datadog.android.rum.internal.instrumentation.MainLooperLongTaskStrategy;
import com.datadog.android.rum.internal.monitor.AdvancedRumMonitor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/** The two watchers of Datadog's RUM, and what they pass to RUM's monitor to be sent. */
abstract class Datadog extends Peer implements InvocationHandler {
    private static final long NS_PER_MS = 1_000_000;

    final FeatureSdkCore core = new DatadogCore((InternalLogger) of(InternalLogger.class));

    Datadog(String name) {
        super(name);
    }

    final Object of(Class<?> type) {
        return Proxy.newProxyInstance(Datadog.class.getClassLoader(), new Class<?>[] {type}, this);
    }

    @Override public Object invoke(Object proxy, java.lang.reflect.Method method, Object[] arguments) {
        switch (method.getName()) {
            case "hashCode":
                return System.identityHashCode(proxy);
            case "equals":
                return proxy == arguments[0];
            case "toString":
                return name;
            case "addError":
                Throwable error = (Throwable) arguments[2];
                reports(String.valueOf(arguments[0]), error.getStackTrace());
                return null;
            case "addLongTask":
                longTask((Long) arguments[0] / NS_PER_MS, String.valueOf(arguments[1]));
                return null;
            default:
                return null;
        }
    }

    /** Prints a message that was long, by the name that Looper has for it. */
    void longTask(long ms, String target) {
        reports("long task of " + ms + " ms " + target);
    }

    @Override void start() {
        GlobalRumMonitor.INSTANCE.registerIfAbsent$dd_sdk_android_rum_release(
                (AdvancedRumMonitor) of(AdvancedRumMonitor.class), core);
    }

    @Override void stop() {
        GlobalRumMonitor.INSTANCE.unregister$dd_sdk_android_rum_release(core);
    }

    /** The ANR detector: on by default below API 30. */
    static final class Anr extends Datadog {
        /**
         * The pause between two heartbeats, as the detector's constructor sets it by default. A call from
         * Java cannot leave this argument out.
         */
        private static final long TEST_MS = 500;

        private final long timeoutMs;
        private ANRDetectorRunnable detector;
        private Thread thread;

        Anr() {
            this(ANRDetectorRunnable.ANR_THRESHOLD_MS);
        }

        Anr(long timeoutMs) {
            super("datadog-anr");
            this.timeoutMs = timeoutMs;
        }

        @Override void start() {
            super.start();
            detector = new ANRDetectorRunnable(core, new Handler(Looper.getMainLooper()), timeoutMs, TEST_MS);
            thread = new Thread(detector, "datadog-anr");
            thread.start();
        }

        @Override void stop() {
            detector.stop();
            thread.interrupt();
            super.stop();
        }
    }

    /** The watcher of long tasks: on by default, with this threshold. */
    static class LongTask extends Datadog {
        private static final long DEFAULT_MS = 100;

        private final long thresholdMs;
        private MainLooperLongTaskStrategy strategy;

        LongTask() {
            this(DEFAULT_MS);
        }

        LongTask(long thresholdMs) {
            super("datadog-long-task");
            this.thresholdMs = thresholdMs;
        }

        @Override void start() {
            super.start();
            strategy = new MainLooperLongTaskStrategy(thresholdMs);
            strategy.register(core, context);
        }

        @Override void stop() {
            strategy.unregister(context);
            super.stop();
        }
    }
}
