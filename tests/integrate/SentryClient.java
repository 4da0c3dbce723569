package integrate;

import io.sentry.BackfillingEventProcessor;
import io.sentry.EventProcessor;
import io.sentry.Hint;
import io.sentry.SentryEvent;
import io.sentry.hints.AbnormalExit;
import io.sentry.hints.Backfillable;
import io.sentry.hints.Flushable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Passes events on by sentry-java's rules. An event of the last process goes only to backfilling processors,
 * any other event only to processors that do not backfill. Exceptions of a processor are swallowed. Sampling
 * comes after the processors; an event that is sampled away is never flushed. An event that is kept is
 * written to the disk on another thread. A caller that waits for the flush continues after that.
 */
final class SentryClient {
    private static final String ABOUT = "sentry:typeCheckHint";

    private final List<EventProcessor> processors = new ArrayList<EventProcessor>();

    void addEventProcessor(EventProcessor processor) {
        processors.add(processor);
    }

    /**
     * Passes an event on. Returns what became of it: what is attached, and what was logged about a file that
     * is not attached.
     */
    String capture(Object about, boolean sampledAway) {
        SentryEvent event = new SentryEvent();
        Hint hint = new Hint();
        hint.set(ABOUT, about);
        for (EventProcessor processor : processors) {
            if (about instanceof Backfillable == processor instanceof BackfillingEventProcessor) {
                try {
                    event = processor.process(event, hint);
                } catch (Throwable swallowed) {
                    return "threw " + swallowed;
                }
            }
        }
        if (!sampledAway && about instanceof ExitHint) {
            ((ExitHint) about).flushSoon();
        }
        String attached = hint.getAttachments().isEmpty() ? "nothing" : hint.getAttachments().get(0).getFilename();
        return attached + " " + event.getExtra("loopbox_left_out") + " " + (event.getExtra("loopbox") != null);
    }

    /** The hint of the watchdog's events. */
    static final class WatchdogHint implements AbnormalExit {
        @Override
        public String mechanism() {
            return "anr_foreground";
        }

        @Override
        public boolean ignoreCurrentThread() {
            return true;
        }

        @Override
        public Long timestamp() {
            return null;
        }
    }

    /** The hint of events that are made of ApplicationExitInfo. */
    static final class ExitHint implements AbnormalExit, Backfillable, Flushable {
        private final CountDownLatch flushed = new CountDownLatch(1);
        private final CountDownLatch waited = new CountDownLatch(1);
        private final long timestamp;
        private final boolean newest;

        /** @param newest whether the event is of the last process, and not of an older one */
        ExitHint(long timestamp, boolean newest) {
            this.timestamp = timestamp;
            this.newest = newest;
        }

        void flushSoon() {
            new Thread("envelopes") {
                @Override
                public void run() {
                    flushed.countDown();
                }
            }.start();
        }

        @Override
        public boolean waitFlush() {
            try {
                return flushed.await(500, TimeUnit.MILLISECONDS);
            } catch (InterruptedException stopped) {
                return false;
            } finally {
                waited.countDown();
            }
        }

        /** Waits until a thread has waited for the flush, whatever the result was. */
        void awaitWaited() throws InterruptedException {
            waited.await();
        }

        @Override
        public boolean shouldEnrich() {
            return newest;
        }

        @Override
        public String mechanism() {
            return "anr_foreground";
        }

        @Override
        public boolean ignoreCurrentThread() {
            return false;
        }

        @Override
        public Long timestamp() {
            return timestamp;
        }
    }
}
