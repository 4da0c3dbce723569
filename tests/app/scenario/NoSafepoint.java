package scenario;

import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import android.os.SystemClock;
import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import com.example.shop.CheckoutActivity;
import dalvik.annotation.optimization.FastNative;
import io.loopbox.Loopbox;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Times in which a thread does not stop, or must not be asked to. Reports come all the while.
 *
 * <p>{@code who=main}: the main thread is in a fast native method for {@code ms=}, where it runs Java code as ART sees it and
 * reaches no safepoint; then in a message that hangs. {@code who=other}: another thread is, beside such a message.
 * {@code who=art}: ART writes its trace for SIGQUIT until the file {@code gate=} is there, beside a message that runs Java
 * code.
 */
public final class NoSafepoint {
    private static final int MS = 6_000;
    /** What a pipe may be made as small as, by {@code F_SETPIPE_SZ}. */
    private static final int PIPE = 4_096;
    private static final int F_SETPIPE_SZ = 1031;
    private static final int STDERR = 2;

    private final Options options;
    private final Handler handler = new Handler(Looper.myLooper());

    private NoSafepoint(Options options) {
        this.options = options;
    }

    /** Goes on until the process is killed. */
    public static void main(String[] arguments) {
        Options options = new Options(arguments);
        Looper.prepareMainLooper();
        Script.install(options);
        final NoSafepoint story = new NoSafepoint(options);
        story.handler.post(new Runnable() {
            @Override
            public void run() {
                try {
                    story.tell();
                } catch (Exception failed) {
                    throw new AssertionError(failed);
                }
            }
        });
        Looper.loop();
    }

    private void tell() throws Exception {
        if (options.is("who", "main")) {
            spin(options.number("ms", MS));
            Script.say("spun");
        } else if (options.is("who", "other")) {
            new Thread("spinning") {
                @Override
                public void run() {
                    spin(options.number("ms", MS));
                    Script.say("spun");
                }
            }.start();
            while (!isSpinning()) {
                Thread.sleep(5);
            }
        } else {
            beginTrace();
        }
        new CheckoutActivity(Looper.myLooper()).sendEmptyMessage(CheckoutActivity.PAY);
        new Thread("reports") {
            @Override
            public void run() {
                while (true) {
                    SystemClock.sleep(100);
                    Script.say("again " + Loopbox.dump("again"));
                }
            }
        }.start();
    }

    /** ART writes its trace to standard error, which takes nothing from now on. */
    private void beginTrace() throws Exception {
        final FileDescriptor[] pipe = Os.pipe();
        final FileDescriptor stderr = Os.dup(FileDescriptor.err);
        Os.fcntlInt(pipe[1], F_SETPIPE_SZ, PIPE);
        Os.write(pipe[1], new byte[PIPE], 0, PIPE);
        // Until then, so that nothing of this message is asked for while the trace is written.
        Loopbox.setSampling(false);
        SignalCatcher.await();
        Os.dup2(pipe[1], STDERR);
        Os.kill(Process.myPid(), OsConstants.SIGQUIT);
        PrintingListener.await(1);
        Loopbox.setSampling(true);
        new Thread("gate") {
            @Override
            public void run() {
                while (!new File(options.text("gate", "none")).exists()) {
                    SystemClock.sleep(5);
                }
                try {
                    pass(pipe[0], stderr);
                } catch (IOException | ErrnoException failed) {
                    throw new AssertionError(failed);
                }
            }
        }.start();
    }

    private static void pass(FileDescriptor from, FileDescriptor to) throws IOException, ErrnoException {
        InputStream in = new FileInputStream(from);
        OutputStream out = new FileOutputStream(to);
        byte[] some = new byte[PIPE];
        // What the pipe was filled with.
        int zeros = PIPE;
        for (int count = in.read(some); count > 0; count = in.read(some)) {
            int skipped = Math.min(zeros, count);
            zeros -= skipped;
            out.write(some, skipped, count - skipped);
        }
    }

    @FastNative
    private static native void spin(int ms);

    private static native boolean isSpinning();
}
