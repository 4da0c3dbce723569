package real;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import io.loopbox.Report;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What a test expects of a report that an SDK has taken. */
final class Expected {
    /** The trace that the system keeps of an ANR. */
    static final String TRACE =
            "----- pid PID at 2026-11-26 10:00:00.000000000+0000 -----\n"
                    + "Cmd line: com.example.shop\n"
                    + "\n"
                    + "\"main\" prio=5 tid=1 Sleeping\n"
                    + "  at java.lang.Thread.sleep(Native method)\n"
                    + "  at com.example.shop.Checkout$CardClient.post(Checkout.java:95)\n"
                    + "  at com.example.shop.Checkout$PayButton.run(Checkout.java:82)\n"
                    + "\n"
                    + "----- end PID -----\n";

    private static final long LIMIT_NS = 30_000_000_000L;

    private Expected() {}

    /**
     * Checks that these lines are the frames of the report, innermost first. A line is what Java prints for a
     * frame, but without "at".
     */
    static void frames(Report report, List<String> lines) {
        List<String> wanted = new ArrayList<>();
        for (StackTraceElement frame : report.getStackTrace()) {
            wanted.add(frame.toString());
        }
        assertEquals(wanted, lines);
        assertTrue("of its package: " + lines, lines.toString().contains("com.example.shop.Checkout$CardClient.post(Checkout.java:"));
    }

    static long ms(String time) {
        return Instant.parse(time).toEpochMilli();
    }

    /** Waits until no report is left; fails when some are left after a while. */
    static void gone() throws InterruptedException {
        long end = System.nanoTime() + LIMIT_NS;
        while (!Left.pending().isEmpty() && System.nanoTime() < end) {
            Thread.sleep(20);
        }
        assertTrue("deleted", Left.pending().isEmpty());
    }
}
