package bench;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;
import scenario.Script;

/**
 * Fills the history with messages of all lengths, some of them long and with stacks, and fills the queue with
 * other messages. Then requests report after report from within messages. After each report it waits until
 * the reader has taken the file.
 */
public final class ReportBench extends Handler {
    private static final int[] LENGTHS_MS = {1, 5, 20, 5, 80, 1, 150, 5, 320, 10};
    private static final int RECORDS_MS = 300;
    private static final int PENDING = 200;
    private static final int NEVER_MS = 3_600_000;
    private static final int PAUSE_MS = 5;
    private static final long MS = 1_000_000;

    private final int times;
    private final long fullNs;
    private int received;
    private int asked;

    private ReportBench(Looper looper, int times, long fullNs) {
        super(looper);
        this.times = times;
        this.fullNs = fullNs;
    }

    /** Arguments: folder, how many reports, how many records the history has. */
    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        Config config = new Config.Builder(new File(arguments[0])).build();
        if (!Loopbox.install(config).isOn()) {
            throw new AssertionError("not installed");
        }
        long fullNs = System.nanoTime() + Long.parseLong(arguments[2]) * RECORDS_MS * MS;
        ReportBench bench = new ReportBench(Looper.getMainLooper(), Integer.parseInt(arguments[1]), fullNs);
        for (int i = 0; i < PENDING; i++) {
            bench.sendEmptyMessageDelayed(i, NEVER_MS);
        }
        bench.sendEmptyMessage(0);
        Looper.loop();
    }

    @Override
    public void handleMessage(Message message) {
        try {
            if (System.nanoTime() < fullNs) {
                work(LENGTHS_MS[received++ % LENGTHS_MS.length]);
            } else if (asked++ < times) {
                report();
            } else {
                System.out.println("BENCH done");
                Runtime.getRuntime().halt(0);
            }
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
        sendEmptyMessage(0);
    }

    private static void report() throws InterruptedException {
        File report = Script.ask("bench");
        if (report == null) {
            throw new AssertionError("no report");
        }
        System.out.println("BENCH report " + report.getPath());
        System.out.flush();
        while (report.exists()) {
            Thread.sleep(PAUSE_MS);
        }
    }

    private static int work(int ms) {
        long end = System.nanoTime() + ms * MS;
        int sum = 0;
        while (System.nanoTime() < end) {
            sum += Integer.toString(sum).length();
        }
        return sum;
    }
}
