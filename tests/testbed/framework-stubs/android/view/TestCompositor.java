package android.view;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

/**
 * Replaces the system's compositor: it classifies frames as a test says. Each window that is shown has an
 * object of this class.
 */
public final class TestCompositor implements AttachedSurfaceControl {
    private static final Map<SurfaceControl.OnJankDataListenerRegistration, Executor> listeners =
            new ConcurrentHashMap<SurfaceControl.OnJankDataListenerRegistration, Executor>();

    TestCompositor() {}

    @Override
    public SurfaceControl.OnJankDataListenerRegistration registerOnJankDataListener(
            Executor executor, SurfaceControl.OnJankDataListener listener) {
        SurfaceControl.OnJankDataListenerRegistration registration =
                new SurfaceControl.OnJankDataListenerRegistration(listener);
        listeners.put(registration, executor);
        return registration;
    }

    static void remove(SurfaceControl.OnJankDataListenerRegistration registration) { listeners.remove(registration); }

    /** How many listeners there are. */
    public static int listeners() { return listeners.size(); }

    /**
     * Calls the listeners one after the other with one batch, and waits until each has returned. The
     * arguments are vsync ids and types in turn.
     */
    public static void classify(long... idsAndTypes) throws InterruptedException {
        final List<SurfaceControl.JankData> batch = new ArrayList<SurfaceControl.JankData>();
        for (int at = 0; at < idsAndTypes.length; at += 2) {
            batch.add(new SurfaceControl.JankData(idsAndTypes[at], (int) idsAndTypes[at + 1]));
        }
        for (final Map.Entry<SurfaceControl.OnJankDataListenerRegistration, Executor> entry : listeners.entrySet()) {
            final CountDownLatch returned = new CountDownLatch(1);
            entry.getValue()
                    .execute(
                            new Runnable() {
                                @Override
                                public void run() {
                                    entry.getKey().listener.onJankDataAvailable(batch);
                                    returned.countDown();
                                }
                            });
            returned.await();
        }
    }
}
