//! Which threads main may wait for, when some of them are in Loopbox's own code.

use super::Confidence;
use super::tests::{calm, evidence, expect};
use crate::test_support::ReportBuilder;

const GET: &str = "com.shop.Cart$1.run:9 java.util.concurrent.FutureTask.get:192 \
                   java.util.concurrent.locks.LockSupport.park:190 sun.misc.Unsafe.park!";
const LOADER: &str = "java.lang.Thread.run com.shop.Cart$2.call:7 java.lang.Thread.sleep!";

fn waits() -> ReportBuilder {
    waits_in(GET)
}

fn waits_in(stack: &str) -> ReportBuilder {
    calm().running(99, 5_500).doing("android.os.Handler", "", 15).looper_tree(99, &[(stack, 540)])
}

/// The lines of the verdict about threads.
fn hints(report: ReportBuilder) -> Vec<String> {
    let v = expect(report, "lock", Confidence::High);
    evidence(&v).lines().filter(|line| line.starts_with("thread ")).map(str::to_owned).collect()
}

#[test]
fn suspects_are_none_of_the_threads_that_call_loopbox() {
    for call in [
        "io.loopbox.Loopbox.dump:5 io.loopbox.internal.recording.Native.dump!",
        "io.loopbox.Loopbox.status:5 io.loopbox.internal.recording.Native.status!",
        "io.loopbox.Loopbox.takePendingReports:5 io.loopbox.internal.Pending.take:3 java.lang.Object.wait!",
        "io.loopbox.Loopbox.pause:5 java.util.concurrent.FutureTask.get:3 sun.misc.Unsafe.park!",
        "io.loopbox.Monitor.flush:5 java.lang.Object.wait:3 java.lang.Object.wait!",
    ] {
        let asker = format!("java.lang.Thread.run com.shop.Cart$3.run:10 {call}");
        let hints = hints(waits().thread("asker", Some(&asker)).thread("loader", Some(LOADER)));
        let loader = "thread loader (7001): main may wait for it: it is in java.lang.Thread.sleep(Native \
                      method), called from com.shop.Cart$2.call(Cart.java:7)";
        assert_eq!(hints, [loader], "{call}");
    }
}

#[test]
fn suspects_need_more_than_a_method_that_calls_loopbox() {
    let asker = "com.shop.Cart$3.run:10 io.loopbox.Loopbox.dump:5 io.loopbox.internal.recording.Native.dump!";
    assert_eq!(hints(waits().thread("asker", Some(asker))), [""; 0], "of the class");
    let asker = asker.replace("Cart$3", "Watch");
    assert_eq!(hints(waits().thread("asker", Some(&asker))), [""; 0], "of the package");
}

#[test]
fn suspects_that_call_loopbox_are_named_with_what_they_do_themselves() {
    let asker = "com.shop.Cart.save:3 com.shop.Log.write:10 io.loopbox.Loopbox.dump:5 \
                 io.loopbox.internal.recording.Native.dump!";
    let hint = "thread asker (7000): main may wait for it: it called Loopbox from \
                com.shop.Log.write(Log.java:10), called from com.shop.Cart.save(Cart.java:3)";
    assert_eq!(hints(waits().thread("asker", Some(asker))), [hint]);
}

#[test]
fn suspects_are_none_of_loopbox_s_own_threads() {
    let in_package = calm().running(99, 5_500).doing("android.os.Handler", "", 15);
    // As a shrinker names them: all in one package.
    let renamed = GET.replace("com.shop.Cart$1", "a.b");
    let report =
        in_package.looper_tree(99, &[(&renamed, 540)]).thread("loopbox-pending", Some("a.c.run a.c.d"));
    assert_eq!(hints(report), [""; 0]);
    // It runs a listener of the app.
    let listener = "io.loopbox.internal.Calls.run:4 com.shop.Cart.onReport:9 java.lang.Thread.sleep!";
    let hints = hints(waits().thread("loopbox-listene", Some(listener)));
    assert!(hints[0].contains("called from com.shop.Cart.onReport(Cart.java:9)"), "{hints:#?}");
}

#[test]
fn lock_holder_that_asks_for_the_report_is_named_by_its_own_code() {
    let held = |stack| waits_in("com.shop.Cart.show:9").waits_for("com.shop.Store", "asker", stack);
    let v = expect(
        held("com.shop.Store.put:30 io.loopbox.Loopbox.dump:5 io.loopbox.internal.recording.Native.dump!"),
        "lock",
        Confidence::High,
    );
    assert!(v.headline.ends_with("held by thread asker in Store.put"), "{}", v.headline);
    let does = "holds it and calls Loopbox from com.shop.Store.put(Store.java:30)";
    assert!(evidence(&v).contains(does), "{v:#?}");
    // A lock that a thread of ours holds is held by us.
    let ours = "java.lang.Thread.run io.loopbox.internal.report.PendingQueue.run java.lang.Class.forName!";
    let v = expect(
        held(ours).with(|r| r.locks.waits[0].holder.as_mut().unwrap().name = "loopbox-pending".into()),
        "lock",
        Confidence::High,
    );
    assert!(v.headline.ends_with("held by thread loopbox-pending in Class.forName"), "{}", v.headline);
}
