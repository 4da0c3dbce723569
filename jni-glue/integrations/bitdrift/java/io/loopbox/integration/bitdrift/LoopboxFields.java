// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.bitdrift;

import android.os.Process;
import io.bitdrift.capture.Capture;
import io.loopbox.FirstFileListener;
import io.loopbox.Report;

/**
 * Adds the digest of a hang's report as a field to bitdrift's logs: to every log that is written after the
 * report has a file. To install it, call {@code configBuilder.listener(new LoopboxFields())}.
 */
public final class LoopboxFields implements FirstFileListener {
    @Override
    public void onFirstFile(Report report) {
        onReport(report);
    }

    @Override
    public void onReport(Report report) {
        boolean hang = report.getKind() == Report.Kind.ANR || report.getKind() == Report.Kind.HANG;
        if (hang && report.getPid() == Process.myPid()) {
            Capture.Logger.addField("loopbox", report.getDigest());
            Capture.Logger.addField("loopbox_verdict", report.getVerdict().name());
        }
    }
}
