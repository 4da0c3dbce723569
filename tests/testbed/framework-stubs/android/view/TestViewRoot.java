package android.view;

import android.graphics.Canvas;
import android.graphics.FrameInfo;
import android.os.Handler;
import android.os.Looper;

/**
 * A window's root with the timing of API 29's ViewRootImpl. A traversal is one callback of the Choreographer,
 * behind a sync barrier. Movements are consumed in a frame's input stage. All other input is consumed as soon
 * as it arrives. What was drawn goes to the render thread. Method names are ViewRootImpl's.
 */
public final class TestViewRoot {
    private static final int WIDTH = 1080;
    private static final int HEIGHT = 1920;

    final ViewTreeObserver observer;
    final InputChannel channel = new InputChannel();

    private final Window window;
    private final View view;
    private final Choreographer choreographer = Choreographer.getInstance();
    private final Handler handler = new Handler();
    private final TestRenderThread renderThread = new TestRenderThread();
    private final WindowInputEventReceiver inputEventReceiver;
    private final Canvas canvas = new Canvas();

    private final Runnable traversal =
            new Runnable() {
                @Override
                public void run() {
                    doTraversal();
                }
            };
    private final Runnable consumeBatchedInput =
            new Runnable() {
                @Override
                public void run() {
                    doConsumeBatchedInput(choreographer.getFrameTimeNanos());
                }
            };

    private boolean traversalScheduled;
    private int traversalBarrier;
    private boolean consumeBatchedInputScheduled;
    private boolean first = true;
    private boolean layoutRequested;
    private boolean dirty;
    private boolean scrollChanged;

    /** Shows a window. On the thread of the window. */
    public TestViewRoot(Window window) {
        this.window = window;
        view = window.getDecorView();
        observer = new ViewTreeObserver(view.getContext());
        view.mergeObserverInto(observer);
        view.root = this;
        renderThread.start();
        inputEventReceiver = new WindowInputEventReceiver();
        view.dispatchAttachedToWindow();
        requestLayout();
        TestInput.focus(this);
    }

    /** The window leaves the screen. If it is shown again, it has another root. On the window's thread. */
    public void dismiss() {
        if (traversalScheduled) {
            traversalScheduled = false;
            handler.getLooper().getQueue().removeSyncBarrier(traversalBarrier);
            choreographer.removeCallbacks(Choreographer.CALLBACK_TRAVERSAL, traversal, null);
        }
        view.dispatchDetachedFromWindow();
        view.root = null;
        renderThread.interrupt();
    }

    void requestLayout() {
        layoutRequested = true;
        invalidate();
    }

    void invalidate() {
        dirty = true;
        scheduleTraversals();
    }

    void scrolled() {
        scrollChanged = true;
    }

    private void scheduleTraversals() {
        if (!traversalScheduled) {
            traversalScheduled = true;
            traversalBarrier = handler.getLooper().getQueue().postSyncBarrier();
            choreographer.postCallback(Choreographer.CALLBACK_TRAVERSAL, traversal, null);
            scheduleConsumeBatchedInput();
        }
    }

    private void doTraversal() {
        if (traversalScheduled) {
            traversalScheduled = false;
            handler.getLooper().getQueue().removeSyncBarrier(traversalBarrier);
            performTraversals();
        }
    }

    private void performTraversals() {
        if (layoutRequested) {
            layoutRequested = false;
            view.measure(WIDTH, HEIGHT);
            view.layout(0, 0, WIDTH, HEIGHT);
            observer.dispatchOnGlobalLayout();
        }
        if (first) {
            first = false;
            choreographer.mFrameInfo.addFlags(FrameInfo.FLAG_WINDOW_LAYOUT_CHANGED);
        }
        if (observer.dispatchOnPreDraw()) {
            scheduleTraversals();
        } else if (dirty) {
            draw();
        }
    }

    private void draw() {
        dirty = false;
        if (scrollChanged) {
            scrollChanged = false;
            observer.dispatchOnScrollChanged();
        }
        observer.dispatchOnDraw();
        choreographer.mFrameInfo.markDrawStart();
        view.draw(canvas);
        renderThread.syncAndDrawFrame(choreographer.mFrameInfo.frameInfo, window);
    }

    private void scheduleConsumeBatchedInput() {
        if (!consumeBatchedInputScheduled) {
            consumeBatchedInputScheduled = true;
            choreographer.postCallback(Choreographer.CALLBACK_INPUT, consumeBatchedInput, null);
        }
    }

    private void doConsumeBatchedInput(long frameTimeNanos) {
        if (consumeBatchedInputScheduled) {
            consumeBatchedInputScheduled = false;
            if (inputEventReceiver.consumeBatchedInputEvents(frameTimeNanos)) {
                // Where there was some there will be more: the next frame reads, before it is notified.
                scheduleConsumeBatchedInput();
            }
        }
    }

    /** The app's end of the channel. */
    private final class WindowInputEventReceiver extends InputEventReceiver {
        WindowInputEventReceiver() {
            super(channel, Looper.myLooper());
        }

        @Override
        public void onInputEvent(InputEvent event) {
            finishInputEvent(event, deliverInputEvent(event));
        }

        @Override
        public void onBatchedInputEventPending() {
            scheduleConsumeBatchedInput();
        }
    }

    private boolean deliverInputEvent(InputEvent event) {
        long eventTimeNanos = event.getEventTimeNano();
        choreographer.mFrameInfo.updateInputEventTime(eventTimeNanos, eventTimeNanos);
        if (event instanceof KeyEvent) {
            return view.dispatchKeyEvent((KeyEvent) event);
        }
        MotionEvent motion = (MotionEvent) event;
        return motion.isTouchEvent() ? view.dispatchTouchEvent(motion) : view.dispatchGenericMotionEvent(motion);
    }
}
