package io.loopbox.screen; // what keeps and reads reports is for its package alone

import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.io.File;
import java.io.IOException;
import scenario.Holders;
import scenario.Script;

/**
 * Runs {@link Holders} in an app that has the screen of reports ({@code io.loopbox.screen}). A listener keeps
 * a copy of each report, as the screen does, and prints it in the screen's form. It is called after another
 * listener, which throws. Arguments: the folder of the copies, then those of {@link Holders}.
 */
public final class Kept implements Listener {
    private final Copies copies;

    private Kept(File folder) {
        copies = new Copies(folder);
    }

    public static void main(String[] arguments) {
        Loopbox.addListener(
                new Listener() {
                    @Override
                    public void onReport(Report report) {
                        throw new IllegalStateException("of no use");
                    }
                });
        Loopbox.addListener(new Kept(new File(arguments[0])));
        String[] rest = new String[arguments.length - 1];
        System.arraycopy(arguments, 1, rest, 0, rest.length);
        Holders.main(rest);
    }

    @Override
    public void onReport(Report report) {
        try {
            File copy = copies.keep(report.getFile());
            Report kept = Report.of(copy);
            ReportFile file = ReportFile.read(copy);
            String text = ReportText.plain(ReportText.headline(kept), kept.getDigest(), ReportText.sections(file));
            for (String line : text.split("\n")) {
                Script.say("text " + line);
            }
            Script.say("kept " + Copies.isHang(kept) + " " + Timeline.of(file).bars.size() + " " + copy);
        } catch (IOException fault) {
            Script.say("fault " + fault);
        }
    }
}
