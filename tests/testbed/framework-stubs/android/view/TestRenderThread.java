package android.view;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The render thread: a real second thread. With each frame the main thread waits until the render thread has
 * begun it. The frame gets its times where HWUI takes them. Nothing is drawn, so the stages are short.
 */
public final class TestRenderThread extends Thread {
    // Places of FrameMetrics.Index, after those that FrameInfo fills on the main thread.
    private static final int SYNC_QUEUED = 9;
    private static final int SYNC_START = 10;
    private static final int ISSUE_DRAW_COMMANDS_START = 11;
    private static final int SWAP_BUFFERS = 12;
    private static final int FRAME_COMPLETED = 13;

    private static final class Frame {
        final Window window;
        final long[] times = new long[FRAME_COMPLETED + 1];
        final CountDownLatch synced = new CountDownLatch(1);

        Frame(Window window) {
            this.window = window;
        }
    }

    /** How long the next frame must wait before the render thread begins it, in ms. */
    private static volatile long heldUpMs;

    private final LinkedBlockingQueue<Frame> frames = new LinkedBlockingQueue<Frame>();

    TestRenderThread() {
        super("RenderThread");
        setDaemon(true);
    }

    /**
     * Makes the next frame that is drawn wait this long, as it would behind a frame that the GPU is busy
     * with.
     */
    public static void holdUp(long ms) {
        heldUpMs = ms;
    }

    /**
     * Passes a frame to the render thread. On the main thread, which continues when the render thread has
     * taken over what was drawn.
     */
    void syncAndDrawFrame(long[] frameInfo, Window window) {
        Frame frame = new Frame(window);
        System.arraycopy(frameInfo, 0, frame.times, 0, frameInfo.length);
        frame.times[SYNC_QUEUED] = System.nanoTime();
        frames.add(frame);
        try {
            frame.synced.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void run() {
        try {
            while (true) {
                Frame frame = frames.take();
                if (heldUpMs > 0) {
                    Thread.sleep(heldUpMs);
                    heldUpMs = 0;
                }
                frame.times[SYNC_START] = System.nanoTime();
                frame.synced.countDown();
                frame.times[ISSUE_DRAW_COMMANDS_START] = System.nanoTime();
                frame.times[SWAP_BUFFERS] = System.nanoTime();
                frame.times[FRAME_COMPLETED] = System.nanoTime();
                for (TestFrameMetricsRing ring : frame.window.frameMetrics) {
                    ring.add(frame.times);
                }
            }
        } catch (InterruptedException ended) {
            // No window draws any more.
        }
    }
}
