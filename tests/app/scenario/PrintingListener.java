package scenario;

import io.loopbox.Listener;
import io.loopbox.Report;
import java.util.concurrent.atomic.AtomicInteger;

/** Prints which report was written, and why, for the process that started this one. */
final class PrintingListener implements Listener {
    private static final AtomicInteger REPORTS = new AtomicInteger();

    @Override
    public void onReport(Report report) {
        String why = report.getLabel().isEmpty() ? report.getReason() : report.getLabel();
        Script.say("report " + report.getFile().getPath() + " " + why);
        REPORTS.incrementAndGet();
    }

    /** Waits until this many reports were complete since the process started. */
    static void await(int reports) throws InterruptedException {
        while (REPORTS.get() < reports) {
            Thread.sleep(5);
        }
    }
}
