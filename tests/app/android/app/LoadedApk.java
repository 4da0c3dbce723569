package android.app;

import android.content.pm.ApplicationInfo;

/** The app's code, and its Application once that is made. */
public final class LoadedApk {
    private final ContextImpl context;
    private Application application;

    LoadedApk(ContextImpl context) {
        this.context = context;
    }

    ClassLoader getClassLoader() {
        return LoadedApk.class.getClassLoader();
    }

    ContextImpl context() {
        return context;
    }

    /** The Application; the first call creates it and runs its attachBaseContext. */
    Application makeApplication(Instrumentation instrumentation) {
        if (application == null) {
            ApplicationInfo info = context.getApplicationInfo();
            String className = info.className == null ? "android.app.Application" : info.className;
            try {
                application = instrumentation.newApplication(getClassLoader(), className, context);
            } catch (ReflectiveOperationException wrong) {
                throw new IllegalStateException("Unable to instantiate application " + className, wrong);
            }
            context.application = application;
        }
        return application;
    }

    /** Delivers a receiver's broadcasts. */
    public static final class ReceiverDispatcher {
        private ReceiverDispatcher() {}

        /** A broadcast to be delivered. Until Android 8.1 this object was the Runnable itself. */
        public static final class Args implements Runnable {
            @Override
            public void run() {
                // A receiver that is not interested.
            }
        }
    }
}
