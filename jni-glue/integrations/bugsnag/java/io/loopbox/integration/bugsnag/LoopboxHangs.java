// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.bugsnag;

import com.bugsnag.android.AppWithState;
import com.bugsnag.android.Bugsnag;
import com.bugsnag.android.DeviceWithState;
import com.bugsnag.android.Event;
import com.bugsnag.android.OnErrorCallback;
import com.bugsnag.android.Severity;
import io.loopbox.Report;
import java.util.Date;

/**
 * Sends an event for a hang that Bugsnag has not reported, because it was no ANR. Call {@link #send} at the
 * next start, after {@code Bugsnag.start}, for each of {@code Loopbox.pendingReports()}. Bugsnag takes no
 * files, so delete the report's file afterwards:
 *
 * <pre>{@code if (hangs.send(report)) report.getFile().delete();}</pre>
 */
public final class LoopboxHangs {
    private final String[] tabs;

    /**
     * @param tabs the tabs that the app itself adds to events. They describe this launch, not the one that
     *     hung, so they are removed from the event. They must be named here, because Bugsnag has no list of
     *     them
     */
    public LoopboxHangs(String... tabs) {
        this.tabs = tabs;
    }

    /**
     * Claims a report about a hang, and sends an event for it.
     *
     * @return whether Bugsnag has it; false if an {@code OnErrorCallback} of the app refused it
     */
    public boolean send(final Report report) {
        boolean hang = report.getKind() == Report.Kind.HANG || report.getKind() == Report.Kind.RECOVERED;
        if (!hang || !Bugsnag.isStarted() || !report.claim()) {
            return false;
        }
        Throwable stack = new Throwable(report.getTitle());
        stack.setStackTrace(report.getStackTrace());
        final boolean[] taken = new boolean[1];
        Bugsnag.notify(
                stack,
                new OnErrorCallback() {
                    @Override
                    public boolean onError(Event event) {
                        // Called after the app's own, on this thread.
                        fill(report, event);
                        taken[0] = true;
                        return true;
                    }
                });
        return taken[0];
    }

    private void fill(Report report, Event event) {
        event.getErrors().get(0).setErrorClass("Hang");
        event.setSeverity(Severity.WARNING);
        if (!report.getFingerprint().isEmpty()) {
            event.setGroupingHash("loopbox " + report.getFingerprint());
        }
        addRun(report, event.getApp());
        DeviceWithState device = event.getDevice();
        device.setTime(new Date(report.getTimeMs()));
        device.setFreeDisk(null);
        device.setFreeMemory(null);
        device.setOrientation(null);
        // Of this launch.
        event.setUser(null, null, null);
        event.setContext(null);
        event.getThreads().clear();
        event.getBreadcrumbs().clear();
        event.clearFeatureFlags();
        for (String tab : tabs) {
            event.clearMetadata(tab);
        }
        LoopboxTab.add(report, event);
    }

    private static void addRun(Report report, AppWithState app) {
        app.setDuration(null);
        app.setDurationInForeground(null);
        app.setInForeground(null);
        app.setLaunching(null);
        if (report.getAppVersion().isEmpty()) {
            return;
        }
        Number code = app.getVersionCode();
        boolean other = code == null || code.longValue() != report.getAppVersionCode();
        app.setVersion(report.getAppVersion());
        app.setVersionCode(report.getAppVersionCode());
        if (other) {
            // By which Bugsnag finds the mapping; it finds the other version's by the code.
            app.setBuildUuid(null);
        }
    }
}
