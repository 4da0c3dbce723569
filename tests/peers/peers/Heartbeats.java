package peers;

import android.os.Looper;
import com.github.anrwatchdog.ANRWatchDog;
import io.sentry.IScopes;
import io.sentry.SentryEvent;
import io.sentry.SentryExecutorService;
import io.sentry.android.core.AnrIntegration;
import io.sentry.android.core.SentryAndroidOptions;
import io.sentry.exception.ExceptionMechanismException;
import java.lang.reflect.Proxy;

/** Watchers that post to main and wait for it. */
final class Heartbeats {
    private Heartbeats() {}

    /**
     * ANR-WatchDog. Its error is a chain of causes, each with the stack of one thread. The message of a cause
     * begins with the name of its thread.
     */
    static final class AnrWatchDogs extends Peer {
        private static final int DEFAULT_MS = 5_000;

        private final int timeoutMs;
        private ANRWatchDog watchdog;

        AnrWatchDogs() {
            this(DEFAULT_MS);
        }

        AnrWatchDogs(int timeoutMs) {
            super("anrwatchdog");
            this.timeoutMs = timeoutMs;
        }

        @Override void start() {
            watchdog = new ANRWatchDog(timeoutMs);
            watchdog.setANRListener(error -> {
                String main = Looper.getMainLooper().getThread().getName();
                Throwable of = error;
                while (of != null && !String.valueOf(of.getMessage()).startsWith(main)) {
                    of = of.getCause();
                }
                reports(error.getMessage(), of == null ? new StackTraceElement[0] : of.getStackTrace());
            });
            watchdog.start();
        }

        @Override void stop() {
            watchdog.interrupt();
        }
    }

    /**
     * The integration of Sentry's SDK that watches main below API 30, with a receiver of the events that it
     * sends.
     */
    static final class Sentry extends Peer {
        /** The time-out; 0 for the integration's default. */
        private final int timeoutMs;
        private AnrIntegration integration;
        private SentryExecutorService executor;

        Sentry() {
            this(0);
        }

        Sentry(int timeoutMs) {
            super("sentry");
            this.timeoutMs = timeoutMs;
        }

        @Override void start() {
            SentryAndroidOptions options = new SentryAndroidOptions();
            if (timeoutMs > 0) {
                options.setAnrTimeoutIntervalMillis(timeoutMs);
            }
            executor = new SentryExecutorService(options);
            options.setExecutorService(executor);
            IScopes scopes = (IScopes) Proxy.newProxyInstance(
                    Sentry.class.getClassLoader(), new Class<?>[] {IScopes.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("captureEvent")) {
                            captured((SentryEvent) arguments[0]);
                        }
                        return null;
                    });
            integration = new AnrIntegration(context);
            integration.register(scopes, options);
        }

        private void captured(SentryEvent event) {
            Throwable thrown = event.getThrowable();
            if (thrown instanceof ExceptionMechanismException) {
                thrown = ((ExceptionMechanismException) thrown).getThrowable();
            }
            reports(thrown.getMessage(), thrown.getStackTrace());
        }

        @Override void stop() throws Exception {
            integration.close();
            executor.close(0);
        }
    }
}
