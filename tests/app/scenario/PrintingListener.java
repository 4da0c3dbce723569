package scenario;

import io.loopbox.Listener;
import io.loopbox.Report;

/** Tells the process that started this one which report was written, and why. */
final class PrintingListener implements Listener {
    @Override
    public void onReport(Report report) {
        Script.say("report " + report.file().getPath() + " " + report.reason());
    }
}
