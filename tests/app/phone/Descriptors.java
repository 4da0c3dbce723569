package phone;

import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import android.system.ErrnoException;
import android.system.Os;
import java.io.FileDescriptor;
import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import scenario.Script;

/**
 * A pipe that the main thread listens to: how a listener is called, changed and removed, and what its
 * exception does.
 */
public final class Descriptors implements MessageQueue.OnFileDescriptorEventListener, Runnable {
    /** The listener throws when it reads this. */
    private static final byte WRONG = 99;

    private final MessageQueue queue = Looper.myQueue();
    private final Handler main = new Handler();
    private final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<String>();
    private final FileDescriptor readEnd;
    private final FileDescriptor writeEnd;

    private Descriptors() throws ErrnoException {
        FileDescriptor[] pipe = Os.pipe();
        readEnd = pipe[0];
        writeEnd = pipe[1];
    }

    /** Runs the loop again when a listener's exception has ended it. */
    public static void main(String[] arguments) throws ErrnoException {
        Looper.prepareMainLooper();
        Descriptors descriptors = new Descriptors();
        new Thread(descriptors, "writer").start();
        while (true) {
            try {
                Looper.loop();
            } catch (IllegalStateException thrown) {
                descriptors.lines.add("the loop threw: " + thrown.getMessage());
            }
        }
    }

    @Override
    public int onFileDescriptorEvents(FileDescriptor descriptor, int events) {
        if (descriptor == writeEnd) {
            lines.add("room to write: " + (events == EVENT_OUTPUT));
            return 0;
        }
        if ((events & EVENT_INPUT) == 0) {
            lines.add("the other end is closed: " + (events == EVENT_ERROR));
            return 0;
        }
        byte[] read = new byte[1];
        try {
            Os.read(descriptor, read, 0, 1);
        } catch (ErrnoException | IOException failed) {
            throw new AssertionError(failed);
        }
        if (read[0] == WRONG) {
            throw new IllegalStateException("wrong");
        }
        lines.add("read " + read[0]);
        return EVENT_INPUT;
    }

    private void listen() {
        queue.addOnFileDescriptorEventListener(readEnd, EVENT_INPUT, this);
    }

    private void write(int what) throws Exception {
        Os.write(writeEnd, new byte[] {(byte) what}, 0, 1);
    }

    private void sayNext() throws InterruptedException {
        Script.say(lines.take());
    }

    /** Prints the next line of the listener, or "nothing came" if the listener adds none within 50 ms. */
    private void sayNothingCame() throws InterruptedException {
        final LinkedBlockingQueue<String> into = lines;
        main.postDelayed(
                new Runnable() {
                    @Override
                    public void run() {
                        into.add("nothing came");
                    }
                },
                50);
        sayNext();
    }

    @Override
    public void run() {
        try {
            // Each time from another thread, while main waits.
            listen();
            write(1);
            sayNext();
            write(2);
            sayNext();
            queue.removeOnFileDescriptorEventListener(readEnd);
            write(3);
            sayNothingCame();
            listen();
            sayNext();
            write(WRONG);
            sayNext();
            write(4);
            sayNothingCame();
            listen();
            sayNext();
            queue.addOnFileDescriptorEventListener(writeEnd, EVENT_OUTPUT, this);
            sayNext();
            Os.close(writeEnd);
            sayNext();
            Runtime.getRuntime().halt(0);
        } catch (Throwable fault) {
            fault.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }
}
