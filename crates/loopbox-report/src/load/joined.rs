//! The thread that main waits for in `Thread.join`, from the statistics of a report.

use super::parked::is_of_this_message;
use crate::model::framework::{OBJECT_WAIT, THREAD_JOIN};
use crate::model::{Analysis, FrameId, LockChain, LockHolder, LockSource, LockWait};
use loopbox_format::model::Uptime;

/// How many frames at the top of a stack may belong to the wait in `Thread.join`.
const MOST_FRAMES: usize = 6;

/// If main waits in `Thread.join`, records the joined thread as the holder of the object that main waits on,
/// unless the recorder knows another holder. Main's stack must show `Thread.join`, because `Thread.sleep`
/// also waits on an object of a thread.
pub(super) fn complete(a: &mut Analysis) {
    if a.locks.waits.first().is_some_and(|wait| wait.holder.is_some()) {
        return;
    }
    let Some(captured_ns) = a.text("joined.at_ns").and_then(|at| at.parse::<u64>().ok()) else { return };
    let Some(name) = a.text("joined.name") else { return };
    let joins = a.last_stack().is_some_and(|stack| is_join(a, &stack));
    if !joins || !is_of_this_message(a, Uptime(captured_ns)) {
        return;
    }
    let tid = a.text("joined.tid").and_then(|tid| tid.parse::<u32>().ok()).filter(|tid| *tid != 0);
    let thread = a.threads.threads.iter().find(|thread| tid.is_some() && thread.tid == tid);
    let stack = thread.and_then(|thread| thread.stack.clone()).unwrap_or_default();
    let holder = LockHolder { name: name.to_owned(), tid, stack };
    let waits = vec![LockWait { object: format!("the end of thread {name}"), holder: Some(holder) }];
    a.locks =
        LockChain { captured_ns: Uptime(captured_ns), waits, deadlock: false, source: LockSource::Join };
}

/// Whether a stack, outermost frame first, waits in `Thread.join`.
fn is_join(a: &Analysis, stack: &[FrameId]) -> bool {
    let top = stack.iter().rev().take(MOST_FRAMES).map(|&id| &a.frames[id]);
    let mut below = top.skip_while(|frame| frame.is(OBJECT_WAIT));
    below.next().is_some_and(|frame| frame.is(THREAD_JOIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::{Confidence, Diagnosis, diagnose};
    use crate::test_support::{NOW_NS, ReportBuilder};

    const JOIN: &str = "java.lang.Thread.join:9 java.lang.Object.wait:4 java.lang.Object.wait!";
    const WORKS: &str = "com.shop.Sync$1.run:40 java.io.FileDescriptor.sync!";

    /// A report in which main waits. The recorder has found that main waits for the end of the thread `name`
    /// with the id `tid`.
    fn report(wait: &str, name: &str, tid: u32) -> ReportBuilder {
        let stack = format!("com.shop.Sync.stop:17 {wait}");
        let report = ReportBuilder::new().group(45, 310, 240).running(99, 5_200);
        let report = report.doing("android.os.Handler", "", 3);
        let report = report.looper_tree(99, &[(&stack, 515)]).thread("sync", Some(WORKS));
        // As the recorder follows the lock, whose owner nothing says.
        let report = report.waits_for("java.lang.Object", "", "").with(|r| r.locks.waits[0].holder = None);
        report
            .statistic("joined.name", name)
            .statistic("joined.tid", &tid.to_string())
            .statistic("joined.at_ns", &NOW_NS.to_string())
    }

    fn verdict(report: ReportBuilder) -> Diagnosis {
        diagnose(&Analysis::new(&report.build()))
    }

    #[test]
    fn the_thread_that_is_joined_is_named_with_what_it_does() {
        let verdict = verdict(report(JOIN, "sync", 7_000));
        let wanted =
            "The running message (#99, 5.20 s) waits for thread sync to end, which is in FileDescriptor.sync";
        assert_eq!((verdict.headline.as_str(), verdict.confidence), (wanted, Some(Confidence::High)));
        let cause = &verdict.causes[0];
        assert_eq!(
            (cause.rule, cause.culprit.as_deref()),
            ("lock", Some("com.shop.Sync.stop(Sync.java:17)"))
        );
        let does = "main waits for thread sync (7000), which is in java.io.FileDescriptor.sync(Native method), called from \
                    com.shop.Sync$1.run(Sync.java:40)";
        assert!(cause.evidence.iter().any(|line| line == does), "{verdict:#?}");
        assert_eq!(verdict.causes.iter().filter(|cause| cause.rule == "lock").count(), 1, "{verdict:#?}");
    }

    #[test]
    fn a_thread_without_a_stack_is_named_all_the_same() {
        let verdict = verdict(report(JOIN, "a name that the kernel has cut", 0));
        assert!(
            verdict.headline.ends_with("waits for thread a name that the kernel has cut to end"),
            "{verdict:#?}"
        );
    }

    #[test]
    fn a_thread_that_joins_itself_waits_for_ever() {
        let report = report(JOIN, "main", 4_711).with(|r| r.meta.process.pid = 4_711);
        let verdict = verdict(report);
        assert!(verdict.headline.ends_with("waits for thread main to end, which is itself"), "{verdict:#?}");
    }

    #[test]
    fn other_waits_on_the_object_of_a_thread_name_none() {
        for other in [
            "java.lang.Thread.sleep:9 java.lang.Thread.sleep!",
            "com.shop.Sync.take:3 java.lang.Object.wait!",
            "com.shop.Sync.work:3",
        ] {
            let a = Analysis::new(&report(other, "sync", 7_000).build());
            assert_ne!(a.locks.source, LockSource::Join, "{other}");
        }
        let early = report(JOIN, "sync", 7_000).with(|r| r.statistics.last_mut().unwrap().value = "1".into());
        assert_ne!(Analysis::new(&early.build()).locks.source, LockSource::Join, "before the message");
        let held = report(JOIN, "sync", 7_000).with(|r| r.locks.waits.clear());
        let held = held.waits_for("com.shop.Db", "writer", "com.shop.Db.write:3");
        assert_ne!(
            Analysis::new(&held.build()).locks.source,
            LockSource::Join,
            "what the recorder saw counts more"
        );
    }
}
