package android.app;

import android.content.Context;
import android.content.Intent;
import android.content.pm.ApplicationInfo;
import android.os.Bundle;
import android.view.View;
import android.view.ViewGroup;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;

/** One app as the system and its user see it. */
public final class Phone {
    public static final ApplicationInfo app = new ApplicationInfo();
    public static File folder;
    public static boolean showsNotifications = true;

    /** The shown notifications by tag and id. */
    public static final Map<String, Notification> shown = new TreeMap<String, Notification>();

    /** The channels with the importance of each. */
    public static final Map<String, Integer> channels = new TreeMap<String, Integer>();

    /** What the app has asked to start. */
    public static final List<Intent> started = new CopyOnWriteArrayList<Intent>();

    private static volatile Thread main;

    private static final Semaphore POSTED = new Semaphore(0);

    private static final ExecutorService MAIN =
            Executors.newSingleThreadExecutor(
                    new ThreadFactory() {
                        @Override
                        public Thread newThread(Runnable what) {
                            main = new Thread(what, "main");
                            main.setDaemon(true);
                            return main;
                        }
                    });

    private Phone() {}

    public static boolean isMain() {
        return Thread.currentThread() == main;
    }

    static void onMain(final Runnable what) {
        MAIN.submit(
                new Runnable() {
                    @Override
                    public void run() {
                        try {
                            what.run();
                        } finally {
                            POSTED.release();
                        }
                    }
                });
    }

    /** Waits until everything that another thread had posted has run. */
    public static void awaitPosted() throws InterruptedException {
        POSTED.acquire();
    }

    /** Calls {@code what} on the main thread, and waits for its result. */
    public static <T> T main(Callable<T> what) throws Exception {
        Future<T> done = MAIN.submit(what);
        return done.get();
    }

    /** Starts a screen of the app. Returns when it shows what it has read. */
    public static Activity start(final Intent intent) throws Exception {
        final Activity activity =
                main(
                        new Callable<Activity>() {
                            @Override
                            public Activity call() throws Exception {
                                Activity made = (Activity) intent.component.getDeclaredConstructor().newInstance();
                                made.intent = intent;
                                made.onCreate((Bundle) null);
                                made.onResume();
                                return made;
                            }
                        });
        awaitPosted();
        return activity;
    }

    /** Brings the Activity to the front again. */
    public static void resume(final Activity activity) throws Exception {
        main(
                new Callable<Void>() {
                    @Override
                    public Void call() {
                        activity.onResume();
                        return null;
                    }
                });
        awaitPosted();
    }

    public static boolean isFinished(Activity activity) {
        return activity.isFinished;
    }

    /** All views of the Activity, from the top. */
    public static List<View> views(final Activity activity) throws Exception {
        return main(
                new Callable<List<View>>() {
                    @Override
                    public List<View> call() {
                        List<View> found = new ArrayList<View>();
                        collect(activity.content, found);
                        return found;
                    }
                });
    }

    private static void collect(View view, List<View> found) {
        found.add(view);
        if (view instanceof ViewGroup) {
            for (View child : ((ViewGroup) view).children) {
                collect(child, found);
            }
        }
    }

    public static Context context() {
        return new Context();
    }
}
