// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.sentry;

import io.loopbox.Report;
import io.sentry.Hint;
import io.sentry.Sentry;
import io.sentry.SentryEvent;
import io.sentry.SentryLevel;
import io.sentry.SentryOptions;
import io.sentry.hints.Backfillable;
import io.sentry.hints.DiskFlushNotification;
import io.sentry.protocol.DebugImage;
import io.sentry.protocol.DebugMeta;
import io.sentry.protocol.Mechanism;
import io.sentry.protocol.SentryException;
import io.sentry.protocol.SentryId;
import io.sentry.protocol.SentryStackFrame;
import io.sentry.protocol.SentryStackTrace;
import io.sentry.protocol.SentryThread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Sends an event for a hang that Sentry has not reported, because it was no ANR. Call {@link #send} at the
 * next start, after {@code SentryAndroid.init}, on a thread that may wait, for each of {@code
 * Loopbox.pendingReports()}:
 *
 * <pre>{@code hangs.send(report);}</pre>
 */
public final class LoopboxHangs {
    /** The main thread's id, as on Android. */
    private static final long MAIN = 1;

    /** Prefixes of frames that are not the app's. */
    private static final List<String> PLATFORM =
            Arrays.asList(
                    "android.", "androidx.", "com.android.", "dalvik.", "java.", "javax.", "jdk.", "kotlin.",
                    "kotlinx.", "libcore.", "sun.");

    private final SentryOptions options;

    /** @param options of {@code SentryAndroid.init} */
    public LoopboxHangs(SentryOptions options) {
        this.options = options;
    }

    /**
     * Claims the report, and deletes its file when Sentry has the event on its own disk, attachment included.
     * If the event is sampled away, dropped by beforeSend or not written by Sentry, the report stays for the
     * next start. A report that is larger than {@code maxAttachmentSize} is not claimed.
     *
     * @return whether Sentry has it
     */
    public boolean send(Report report) {
        boolean hang = report.getKind() == Report.Kind.HANG || report.getKind() == Report.Kind.RECOVERED;
        if (!hang || report.getFile().length() > options.getMaxAttachmentSize() || !report.claim()) {
            return false;
        }
        Handover handover = new Handover();
        Hint hint = new Hint();
        hint.set(LoopboxAttachment.ABOUT, handover);
        SentryEvent event = event(report);
        boolean kept =
                LoopboxAttachment.add(report, options.getMaxAttachmentSize(), event, hint)
                        && !SentryId.EMPTY_ID.equals(Sentry.captureEvent(event, hint))
                        && handover.await(options.getFlushTimeoutMillis());
        return kept && report.getFile().delete();
    }

    private SentryEvent event(Report report) {
        SentryStackTrace stack = new SentryStackTrace(frames(report.getStackTrace()));
        Mechanism mechanism = new Mechanism();
        mechanism.setType("AppHang");
        mechanism.setHandled(true);
        SentryException hang = new SentryException();
        hang.setType("Hang");
        hang.setValue(report.getTitle());
        hang.setThreadId(MAIN);
        hang.setStacktrace(stack);
        hang.setMechanism(mechanism);
        SentryThread main = new SentryThread();
        main.setId(MAIN);
        main.setName(report.getThreadName());
        main.setMain(true);
        main.setCurrent(true);
        main.setCrashed(false);
        main.setStacktrace(stack);
        SentryEvent event = new SentryEvent(new Date(report.getTimeMs()));
        event.setLevel(SentryLevel.ERROR);
        event.setPlatform("java");
        event.setExceptions(Collections.singletonList(hang));
        event.setThreads(Collections.singletonList(main));
        event.setEnvironment(options.getEnvironment());
        if (!report.getFingerprint().isEmpty()) {
            event.setFingerprints(Arrays.asList("loopbox", report.getFingerprint()));
        }
        addVersion(report, event);
        return event;
    }

    /**
     * Sets the version of the run that hung, named as Sentry names a release: {@code package@version+code}.
     */
    private void addVersion(Report report, SentryEvent event) {
        if (report.getAppVersion().isEmpty()) {
            return;
        }
        String own = options.getRelease() == null ? "" : options.getRelease();
        String release = own.substring(0, own.indexOf('@') + 1) + report.getAppVersion();
        if (report.getAppVersionCode() > 0) {
            release += "+" + report.getAppVersionCode();
            event.setDist(Long.toString(report.getAppVersionCode()));
        }
        event.setRelease(release);
        String mapping = options.getProguardUuid();
        // That of another version is not known any more, and this one's would give wrong names.
        if (mapping != null && release.equals(own)) {
            DebugImage image = new DebugImage();
            image.setType(DebugImage.PROGUARD);
            image.setUuid(mapping);
            DebugMeta meta = new DebugMeta();
            meta.setImages(new ArrayList<DebugImage>(Collections.singletonList(image)));
            event.setDebugMeta(meta);
        }
    }

    /** The frames in Sentry's order, outermost first. */
    private static List<SentryStackFrame> frames(StackTraceElement[] stack) {
        List<SentryStackFrame> frames = new ArrayList<SentryStackFrame>();
        for (StackTraceElement element : stack) {
            SentryStackFrame frame = new SentryStackFrame();
            frame.setModule(element.getClassName());
            frame.setFunction(element.getMethodName());
            frame.setFilename(element.getFileName());
            if (element.getLineNumber() >= 0) {
                frame.setLineno(element.getLineNumber());
            }
            frame.setNative(element.isNativeMethod());
            frame.setInApp(isOfApp(element.getClassName()));
            frames.add(0, frame);
        }
        return frames;
    }

    private static boolean isOfApp(String name) {
        for (String prefix : PLATFORM) {
            if (name.startsWith(prefix)) {
                return false;
            }
        }
        return true;
    }

    /**
     * The hint of the event. The event is about an earlier run, so it gets no data of this run ({@link
     * Backfillable}). It gets no data of the run before this one either, because the event may be about a
     * still earlier run. Sentry notifies the hint when the event is on its disk.
     */
    private static final class Handover implements Backfillable, DiskFlushNotification {
        private final CountDownLatch flushed = new CountDownLatch(1);

        @Override
        public boolean shouldEnrich() {
            return false;
        }

        @Override
        public void markFlushed() {
            flushed.countDown();
        }

        /**
         * Always true, because this hint has only one event. The interface has this method since sentry-java
         * 6.22, where one hint may have several events.
         */
        public boolean isFlushable(SentryId event) {
            return true;
        }

        public void setFlushable(SentryId event) {}

        boolean await(long ms) {
            try {
                return flushed.await(ms, TimeUnit.MILLISECONDS);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
    }
}
