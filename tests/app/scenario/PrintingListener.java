package scenario;

import io.loopbox.ReportListener;
import java.io.File;

/** Tells the process that started this one which report was written, and why. */
final class PrintingListener implements ReportListener {
    @Override
    public void onReport(File report, String reason) {
        Script.say("report " + report.getPath() + " " + reason);
    }
}
