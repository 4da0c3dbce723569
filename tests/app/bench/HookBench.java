package bench;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import dalvik.system.VMDebug;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import scenario.Heap;

/**
 * The cost of watching a Looper, per message, for several ways to watch, in one process.
 *
 * Arguments: messages per batch, rounds, then the variants (all when none is named). Each round runs one
 * batch per variant, in turn, so that other work of the machine slows all variants alike. Prints one line a
 * batch, with the variant and three figures per message: nanoseconds of this thread's CPU time; bytes
 * allocated in Java; calls of malloc (NaN on a phone).
 */
public final class HookBench {
    /** Ends Looper.loop(), which a main Looper cannot leave otherwise. */
    private static final class Stop extends RuntimeException {
        Stop() {
            super("end of batch", null, false, false);
        }
    }

    /** A way to watch the main Looper. */
    public interface Variant {
        /**
         * Installs the variant.
         *
         * @return false when this Android does not have it
         */
        boolean install() throws Exception;

        void uninstall() throws Exception;
    }

    /** Marks a variant whose messages belong to a Looper other than the main one. */
    interface OnAnotherThread {}

    private static final int TICK = 1;
    private static final int LAST = 2;

    private static final class Batch extends Handler {
        long firstNs;
        long lastNs;
        int firstBytes;
        int lastBytes;
        long firstMallocs;
        long lastMallocs;

        Batch(Looper looper) {
            super(looper);
        }

        @Override public void handleMessage(Message message) {
            if (message.what == LAST) {
                lastNs = VMDebug.threadCpuTimeNanos();
                lastMallocs = mallocs();
                lastBytes = VMDebug.getAllocCount(VMDebug.KIND_THREAD_ALLOCATED_BYTES);
                if (getLooper() != Looper.getMainLooper()) {
                    getLooper().quit();
                    return;
                }
                throw new Stop();
            }
            if (firstNs == 0) {
                firstBytes = VMDebug.getAllocCount(VMDebug.KIND_THREAD_ALLOCATED_BYTES);
                firstMallocs = mallocs();
                firstNs = VMDebug.threadCpuTimeNanos();
            }
        }
    }

    private HookBench() {}

    public static void main(String[] args) throws Exception {
        int messages = Integer.parseInt(args[0]);
        int rounds = Integer.parseInt(args[1]);
        List<String> wanted = Arrays.asList(args).subList(2, args.length);
        Looper.prepareMainLooper();
        VMDebug.startAllocCounting();
        String[] names = {"none", "observer", "observer-proxy", "printer-empty", "printer", "article",
            "article-whole", "monitor", "block", "uiperf", "blockcanary", "poll", "poll-peek", "other", "poll-other"};
        Variant[] variants = {
            new Ours.None(), new Ours.Observer(), new Ours.ObserverByProxy(), new Ours.EmptyPrinter(),
            new Ours.Printer(), new ArticleRecorder(), new ArticleRecorder.Whole(),
            new Ours.Monitoring(), new BlockMonitors.Block(), new BlockMonitors.Uiperf(), new BlockMonitors.Canary(),
            new Ours.Poll(), new Ours.PollWithPeek(), new Ours.NoneOfAnother(), new Ours.PollOfAnother(),
        };
        Map<String, Variant> ways = new LinkedHashMap<String, Variant>();
        for (int i = 0; i < variants.length; i++) {
            if (wanted.isEmpty() || wanted.contains(names[i])) {
                ways.put(names[i], variants[i]);
            }
        }
        run(messages, rounds, ways);
    }

    /**
     * Runs each way in turn, for {@code rounds} rounds. To be called on the main thread, after its Looper was
     * made and the counting of allocations was switched on.
     */
    public static void run(int messages, int rounds, Map<String, ? extends Variant> ways) throws Exception {
        for (int round = -1; round < rounds; round++) { // round -1 warms up
            for (Map.Entry<String, ? extends Variant> way : ways.entrySet()) {
                Variant variant = way.getValue();
                if (!variant.install()) {
                    continue;
                }
                Batch batch = variant instanceof OnAnotherThread ? runOnAnother(messages) : run(messages);
                variant.uninstall();
                if (round >= 0) {
                    System.out.println("batch " + way.getKey() + " " + (double) (batch.lastNs - batch.firstNs) / messages
                            + " " + (double) (batch.lastBytes - batch.firstBytes) / messages
                            + " " + (Heap.COUNTED ? (double) (batch.lastMallocs - batch.firstMallocs) / messages : Double.NaN));
                }
            }
        }
    }

    private static long mallocs() {
        return Heap.COUNTED ? Heap.allocations() : 0;
    }

    private static Batch run(int messages) {
        Batch batch = new Batch(Looper.getMainLooper());
        send(batch, messages);
        try {
            Looper.loop();
        } catch (Stop end) {
            return batch;
        }
        throw new IllegalStateException("the looper quit");
    }

    private static Batch runOnAnother(final int messages) throws InterruptedException {
        final Batch[] batch = new Batch[1];
        Thread thread = new Thread("other") {
            @Override public void run() {
                Looper.prepare();
                batch[0] = new Batch(Looper.myLooper());
                send(batch[0], messages);
                Looper.loop();
            }
        };
        thread.start();
        thread.join();
        return batch[0];
    }

    private static void send(Batch batch, int messages) {
        for (int i = 0; i <= messages; i++) {
            batch.sendEmptyMessage(i < messages ? TICK : LAST);
        }
    }
}
