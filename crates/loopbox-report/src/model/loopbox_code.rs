//! Loopbox's own code in the stacks of an app.
//!
//! A thread that asks for a report is in our code while the report is written, so each such report shows the
//! thread in our code. These frames say nothing about what main waits for. What the thread does by itself is
//! below them.

use super::frame::{Frame, FrameId, FrameTable};
use loopbox_format::code::LOOPBOX;

/// The prefix of the names of Loopbox's threads.
const THREADS: &str = "loopbox-";

impl Frame {
    /// Whether the frame is Loopbox's own code.
    pub(crate) fn is_of_loopbox(&self) -> bool {
        self.class.starts_with(LOOPBOX)
    }
}

impl FrameTable {
    /// What a thread does by itself: its stack, outermost frame first, up to the call of Loopbox that the
    /// thread is in. The frames of that call are left out, as are the platform's frames above it. The whole
    /// stack when the thread is in no such call.
    pub(crate) fn below_loopbox<'s>(&self, stack: &'s [FrameId]) -> &'s [FrameId] {
        let of_others = |id: &FrameId| self[*id].is_shipped() && !self[*id].is_of_loopbox();
        let from = stack.iter().rposition(of_others).map_or(0, |at| at + 1);
        let above = stack.get(from..).unwrap_or_default();
        let ours = above.iter().position(|id| self[*id].is_of_loopbox());
        ours.and_then(|at| stack.get(..from + at)).unwrap_or(stack)
    }

    /// Whether a thread with this name and stack runs only Loopbox's code, as far as names show. Where a
    /// shrinker has renamed the code, only the thread's name is left.
    pub(crate) fn is_thread_of_loopbox(&self, name: &str, stack: &[FrameId]) -> bool {
        let named = stack.iter().any(|&id| self[id].is_of_loopbox());
        name.starts_with(THREADS)
            && (!named || !self.below_loopbox(stack).iter().any(|&id| self[id].is_shipped()))
    }
}

#[cfg(test)]
mod tests {
    use crate::Analysis;
    use crate::test_support::ReportBuilder;

    #[test]
    fn what_a_thread_does_on_its_own_stands_below_our_call() {
        for (stack, own) in [
            (
                "com.shop.Job.run io.loopbox.Loopbox.dump io.loopbox.internal.recording.Native.dump!",
                Some("Job.run"),
            ),
            // It waits in our code for a report to be there.
            ("a.B.c io.loopbox.Loopbox.takePendingReports java.lang.Object.wait!", Some("B.c")),
            (
                "a.B.c io.loopbox.Loopbox.pause java.lang.Runnable.run io.loopbox.internal.recording.Gate.close",
                Some("B.c"),
            ),
            // A listener of the app, called by us.
            (
                "java.lang.Thread.run io.loopbox.internal.Calls.run a.Listener.onReport",
                Some("Listener.onReport"),
            ),
            ("a.B.c java.lang.Thread.sleep!", Some("Thread.sleep")),
            (
                "java.lang.Thread.run io.loopbox.internal.report.PendingQueue.run java.lang.Object.wait!",
                Some("Thread.run"),
            ),
            ("io.loopbox.internal.recording.Native.run", None),
        ] {
            let a = Analysis::new(&ReportBuilder::new().thread("asker", Some(stack)).build());
            let read = a.threads.threads[0].stack.as_ref().unwrap();
            let top = a.frames.below_loopbox(read).last().map(|&id| a.frames[id].short());
            assert_eq!(top.as_deref(), own, "{stack}");
        }
    }

    #[test]
    fn our_threads_are_known_by_their_names_unless_they_run_code_of_the_app() {
        for (name, stack, is_ours) in [
            ("loopbox-pending", "java.lang.Thread.run io.loopbox.internal.report.PendingQueue.run", true),
            ("loopbox-worker", "a.b.c java.lang.Object.wait!", true),
            ("loopbox-listene", "io.loopbox.internal.Calls.run com.shop.Store.onReport", false),
            ("asker", "com.shop.Job.run io.loopbox.Loopbox.dump", false),
        ] {
            let a = Analysis::new(&ReportBuilder::new().thread(name, Some(stack)).build());
            let read = a.threads.threads[0].stack.as_ref().unwrap();
            assert_eq!(a.frames.is_thread_of_loopbox(name, read), is_ours, "{name}: {stack}");
        }
    }
}
