package android.app;

import android.content.BroadcastReceiver;
import android.content.ContentProvider;
import android.content.Context;
import android.content.Intent;
import android.content.pm.ProviderInfo;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import android.os.Process;
import android.os.SystemClock;

/**
 * Runs an app's components on its main thread, with the messages, in the order and through the methods of API
 * 29. It has everything by which the recorder recognises components: the handler's name, its codes, the names
 * of the methods on the stack.
 */
public final class ActivityThread {
    /** The {@code Message.obj} of an {@code EXECUTE_TRANSACTION} message that stops the activity. */
    public static final Object STOP_ACTIVITY = new Object();

    private final H handler = new H(Looper.getMainLooper(), this);
    private final Instrumentation instrumentation = new Instrumentation();
    private final Map<String, Service> services = new HashMap<String, Service>();
    private final LoadedApk apk;

    /** Called on the main thread, whose Looper exists but does not loop yet. */
    public ActivityThread(ContextImpl context) {
        apk = new LoadedApk(context);
    }

    /** The interface that the system calls through Binder. Any thread. */
    public ApplicationThread getApplicationThread() {
        return new ApplicationThread();
    }

    private void handleBindApplication(AppBindData data) {
        apk.context().getApplicationInfo().className = data.applicationClass;
        Application application = apk.makeApplication(instrumentation);
        installContentProviders(application, data.providers);
        instrumentation.callApplicationOnCreate(application);
    }

    private void installContentProviders(Context context, List<ProviderInfo> providers) {
        for (ProviderInfo info : providers) {
            installProvider(context, info);
        }
    }

    private void installProvider(Context context, ProviderInfo info) {
        ((ContentProvider) instance(info.name)).attachInfo(context, info);
    }

    private Activity handleLaunchActivity(String className) {
        return performLaunchActivity(className);
    }

    private Activity performLaunchActivity(String className) {
        apk.makeApplication(instrumentation);
        try {
            Activity activity = instrumentation.newActivity(apk.getClassLoader(), className);
            activity.attach(apk.context());
            instrumentation.callActivityOnCreate(activity, null);
            activity.onStart();
            return activity;
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException("Unable to instantiate activity " + className, wrong);
        }
    }

    private void handleResumeActivity(Activity activity) {
        instrumentation.callActivityOnResume(activity);
        activity.makeVisible();
    }

    /** Waits until unsaved preferences are on the disk, as before an activity is stopped. */
    private static void handleStopActivity() {
        QueuedWork.waitToFinish();
    }

    private void handleCreateService(String className) {
        apk.makeApplication(instrumentation);
        Service service = (Service) instance(className);
        service.attach(apk.context());
        service.onCreate();
        services.put(className, service);
    }

    private void handleServiceArgs(Intent intent) {
        services.get(intent.getComponent().getClassName()).onStartCommand(intent, 0, 1);
    }

    private void handleReceiver(Intent intent) {
        Application application = apk.makeApplication(instrumentation);
        BroadcastReceiver receiver = (BroadcastReceiver) instance(intent.getComponent().getClassName());
        receiver.onReceive(application, intent);
    }

    private Object instance(String className) {
        try {
            return apk.getClassLoader().loadClass(className).newInstance();
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException("Unable to instantiate " + className, wrong);
        }
    }

    /** The data that an app is started with. */
    public static final class AppBindData {
        private final String applicationClass;
        private final List<ProviderInfo> providers;

        public AppBindData(Class<? extends Application> application, List<ProviderInfo> providers) {
            applicationClass = application.getName();
            this.providers = providers;
        }
    }

    /** The interface through which the system sends messages to the app. */
    public final class ApplicationThread {
        private ApplicationThread() {}

        private void send(int what, Object data) {
            handler.obtainMessage(what, data).sendToTarget();
        }

        public void bindApplication(AppBindData data) {
            send(H.BIND_APPLICATION, data);
        }

        /** A transaction that brings an Activity to the front. */
        public void scheduleTransaction(Class<? extends Activity> activity) {
            send(H.EXECUTE_TRANSACTION, activity.getName());
        }

        public void scheduleCreateService(Class<? extends Service> service) {
            send(H.CREATE_SERVICE, service.getName());
        }

        public void scheduleServiceArgs(Intent intent) {
            send(H.SERVICE_ARGS, intent);
        }

        public void scheduleReceiver(Intent intent) {
            send(H.RECEIVER, intent);
        }
    }

    /**
     * Runs the app's code, for scenarios that install the recorder as an app does, and have no components.
     */
    private static void handleBindApplication(Runnable app) {
        Process.setStartTimes(SystemClock.elapsedRealtime(), SystemClock.uptimeMillis());
        app.run();
    }

    /** The handler of these messages. */
    public static final class H extends Handler {
        public static final int BIND_APPLICATION = 110;
        public static final int RECEIVER = 113;
        public static final int CREATE_SERVICE = 114;
        public static final int SERVICE_ARGS = 115;

        /** Since Android 9 every change of an activity's state comes as this message. */
        public static final int EXECUTE_TRANSACTION = 159;

        private final ActivityThread thread;

        /** A handler for scenarios without components: its messages carry nothing, and are over at once. */
        public H(Looper looper) {
            this(looper, null);
        }

        private H(Looper looper, ActivityThread thread) {
            super(looper);
            this.thread = thread;
        }

        @Override
        public void handleMessage(Message message) {
            if (message.obj == null) {
                return;
            }
            if (message.obj instanceof Runnable) {
                handleBindApplication((Runnable) message.obj);
                return;
            }
            if (message.obj == STOP_ACTIVITY) {
                handleStopActivity();
                return;
            }
            switch (message.what) {
                case BIND_APPLICATION:
                    thread.handleBindApplication((AppBindData) message.obj);
                    break;
                case EXECUTE_TRANSACTION:
                    thread.handleResumeActivity(thread.handleLaunchActivity((String) message.obj));
                    break;
                case CREATE_SERVICE:
                    thread.handleCreateService((String) message.obj);
                    break;
                case SERVICE_ARGS:
                    thread.handleServiceArgs((Intent) message.obj);
                    break;
                case RECEIVER:
                    thread.handleReceiver((Intent) message.obj);
                    break;
                default:
                    throw new IllegalArgumentException("what=" + message.what);
            }
        }
    }
}
