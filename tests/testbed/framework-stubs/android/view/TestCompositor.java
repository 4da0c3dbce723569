package android.view;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

/**
 * Replaces the system's compositor: it classifies frames as a test says. A window has another object of this
 * class each time it is shown, and the listeners of an earlier one get nothing any more.
 */
public final class TestCompositor implements AttachedSurfaceControl {
    private static final Map<SurfaceControl.OnJankDataListenerRegistration, TestCompositor> listeners =
            new ConcurrentHashMap<SurfaceControl.OnJankDataListenerRegistration, TestCompositor>();

    private final View decor;
    private final TestViewRoot root;
    private Executor executor;

    TestCompositor(View decor) {
        this.decor = decor;
        root = decor.root;
    }

    @Override
    public SurfaceControl.OnJankDataListenerRegistration registerOnJankDataListener(
            Executor executor, SurfaceControl.OnJankDataListener listener) {
        SurfaceControl.OnJankDataListenerRegistration registration =
                new SurfaceControl.OnJankDataListenerRegistration(listener);
        this.executor = executor;
        listeners.put(registration, this);
        return registration;
    }

    static void remove(SurfaceControl.OnJankDataListenerRegistration registration) { listeners.remove(registration); }

    private boolean isShown() { return decor.root == root; }

    /** How many listeners there are of what is shown. */
    public static int listeners() {
        int shown = 0;
        for (TestCompositor each : listeners.values()) {
            shown += each.isShown() ? 1 : 0;
        }
        return shown;
    }

    /**
     * Calls the listeners one after the other with one batch, and waits until each has returned. The
     * arguments are vsync ids and types in turn.
     */
    public static void classify(long... idsAndTypes) throws InterruptedException {
        final List<SurfaceControl.JankData> batch = new ArrayList<SurfaceControl.JankData>();
        for (int at = 0; at < idsAndTypes.length; at += 2) {
            batch.add(new SurfaceControl.JankData(idsAndTypes[at], (int) idsAndTypes[at + 1]));
        }
        for (final Map.Entry<SurfaceControl.OnJankDataListenerRegistration, TestCompositor> entry : listeners.entrySet()) {
            if (!entry.getValue().isShown()) {
                continue;
            }
            final CountDownLatch returned = new CountDownLatch(1);
            entry.getValue().executor
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
