package phone;

import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import android.system.Os;
import android.view.Choreographer;
import java.io.FileDescriptor;
import java.util.concurrent.CountDownLatch;

/** The tasks that the app gives its own main thread: in frames, when idle, for a descriptor, in messages. */
final class Errands {
    private final Handler main;

    Errands(Handler main) {
        this.main = main;
    }

    /** Something that is done on the main thread, and that can be waited for. */
    private abstract static class Errand implements Runnable {
        private final CountDownLatch done = new CountDownLatch(1);

        final void done() {
            done.countDown();
        }

        final void await() throws InterruptedException {
            done.await();
        }
    }

    void frames() throws InterruptedException {
        Errand frame =
                new Errand() {
                    @Override
                    public void run() {
                        final Choreographer choreographer = Choreographer.getInstance();
                        choreographer.postCallback(Choreographer.CALLBACK_INPUT, new InputStage(), null);
                        choreographer.postFrameCallback(
                                new Choreographer.FrameCallback() {
                                    @Override
                                    public void doFrame(long frameTimeNanos) {
                                        Places.FRAME_ANIMATION.reach();
                                        done();
                                    }
                                });
                    }
                };
        main.post(frame);
        frame.await();
    }

    /**
     * A callback of the Choreographer's input stage. Apps have no public interface for it; WebView and the
     * framework's widgets use it.
     */
    private static final class InputStage implements Runnable {
        @Override
        public void run() {
            Places.FRAME_INPUT.reach();
        }
    }

    void idle() throws InterruptedException {
        Errand idle =
                new Errand() {
                    @Override
                    public void run() {
                        Looper.myQueue()
                                .addIdleHandler(
                                        new MessageQueue.IdleHandler() {
                                            @Override
                                            public boolean queueIdle() {
                                                Places.IDLE.reach();
                                                done();
                                                return false;
                                            }
                                        });
                    }
                };
        main.post(idle);
        idle.await();
    }

    /**
     * An event that arrives by a descriptor that the main thread listens to. Sensors, sockets and audio cause
     * such events.
     */
    void descriptor() throws Exception {
        final FileDescriptor[] pipe = Os.pipe();
        Errand listen =
                new Errand() {
                    @Override
                    public void run() {
                        Looper.myQueue()
                                .addOnFileDescriptorEventListener(
                                        pipe[0],
                                        MessageQueue.OnFileDescriptorEventListener.EVENT_INPUT,
                                        new MessageQueue.OnFileDescriptorEventListener() {
                                            @Override
                                            public int onFileDescriptorEvents(FileDescriptor fd, int events) {
                                                Places.DESCRIPTOR.reach();
                                                done();
                                                return 0;
                                            }
                                        });
                    }
                };
        main.post(listen);
        Os.write(pipe[1], new byte[] {1}, 0, 1);
        listen.await();
    }

    void messages() throws InterruptedException {
        main.post(
                new Runnable() {
                    @Override
                    public void run() {
                        Places.MESSAGE.reach();
                    }
                });
        Errand dialog = new ModalDialog();
        main.post(dialog);
        dialog.await();
    }

    /** A message that runs a loop. An exception ends the loop: a main Looper's loop ends in no other way. */
    private final class ModalDialog extends Errand {
        @Override
        public void run() {
            main.post(
                    new Runnable() {
                        @Override
                        public void run() {
                            Places.NESTED_LOOP.reach();
                        }
                    });
            main.post(new Close());
            try {
                Looper.loop();
            } catch (Closed closed) {
                done();
            }
        }
    }

    private static final class Closed extends RuntimeException {}

    private static final class Close implements Runnable {
        @Override
        public void run() {
            throw new Closed();
        }
    }
}
