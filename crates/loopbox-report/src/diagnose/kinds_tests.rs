//! Each kind of wait has a name and separate advice.

use super::tests::{calm, diagnosis, evidence, expect};
use super::*;
use crate::test_support::ReportBuilder;
use loopbox_format::model::LockHolder;

const PARK: &str = "java.util.concurrent.locks.LockSupport.park sun.misc.Unsafe.park!";

/// Main in this stack for nearly all of 5.5 seconds, without CPU time.
fn waits(stack: &str) -> ReportBuilder {
    let stack = stack.replace("PARK", PARK);
    calm().running(99, 5_500).doing("android.os.Handler", "", 15).looper_tree(99, &[(&stack, 540)])
}

#[test]
fn a_wait_for_another_thread_says_for_what() {
    let mut advices = Vec::new();
    for (stack, noun) in [
        ("java.util.concurrent.CountDownLatch.await PARK", "a latch in CountDownLatch.await"),
        ("java.util.concurrent.FutureTask.get PARK", "a future's result in FutureTask.get"),
        (
            "java.util.concurrent.LinkedBlockingQueue.put PARK",
            "room in a full queue in LinkedBlockingQueue.put",
        ),
        ("java.util.concurrent.Semaphore.acquire PARK", "a permit of a semaphore in Semaphore.acquire"),
        (
            "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock PARK",
            "a read lock in ReentrantReadWriteLock$ReadLock.lock",
        ),
        (
            "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await PARK",
            "a condition in AbstractQueuedSynchronizer$ConditionObject.await",
        ),
        (
            "java.lang.UNIXProcess.waitFor java.lang.Object.wait!",
            "a child process to end in UNIXProcess.waitFor",
        ),
    ] {
        let v = expect(waits(&format!("com.shop.Feed.show:3 {stack}")), "lock", Confidence::High);
        assert!(v.headline.contains(&format!("waits for {noun}, called from Feed.show")), "{}", v.headline);
        assert!(!advices.contains(&v.causes[0].advice), "{stack}");
        advices.push(v.causes[0].advice);
    }
}

#[test]
fn a_read_lock_hints_at_who_may_hold_it() {
    let lock = "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock PARK";
    let write = "com.shop.Cache.put:9 java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock.lock PARK";
    let report = waits(&format!("com.shop.Feed.show:3 com.shop.Cache.get:5 {lock}"))
        .thread("writer", Some(&write.replace("PARK", PARK)))
        .thread("reader", Some("com.shop.Cache.scan:30 java.io.FileInputStream.read!"));
    let v = expect(report, "lock", Confidence::High);
    assert!(evidence(&v).contains("thread reader (7001): it may be a reader that holds the lock"), "{v:#?}");
    assert!(evidence(&v).contains("thread writer (7000): main may wait for it"), "{v:#?}");
}

#[test]
fn who_is_parked_for_an_unknown_object_has_no_culprit() {
    let v = diagnosis(waits("PARK"));
    assert!(!v.causes.is_empty());
    for cause in &v.causes {
        assert_eq!(cause.culprit, None, "{cause:#?}");
        assert!(!cause.title.contains("monitor"), "{}", cause.title);
        assert!(cause.rule == "lock" || !cause.title.contains("park"), "{}", cause.title);
    }
}

#[test]
fn a_chain_of_locks_is_named_to_its_end() {
    let report = waits("com.shop.Feed.show:3")
        .waits_for("com.shop.Feed", "sync", "com.shop.Sync.run:9 com.shop.Db.begin:4")
        .waits_for("com.shop.Db", "writer", "com.shop.Writer.run:9 com.shop.Disk.flush:7");
    let v = expect(report.watched(5_500, 0), "lock", Confidence::High);
    let chain = "waits for the monitor of a com.shop.Feed, held by thread sync, which waits for a com.shop.Db, held by \
                 thread writer in Disk.flush";
    assert!(v.headline.ends_with(chain), "{}", v.headline);
}

#[test]
fn a_class_that_is_being_initialized_names_the_thread_that_does_it() {
    let report = waits("com.shop.Feed.show:3").waits_for("java.lang.Class", "", "a.B.c").with(|report| {
        let wait = &mut report.locks.waits[0];
        (wait.holder, wait.of_class) = (None::<LockHolder>, "com.shop.Config".into());
    });
    let named = report.clone().thread(
        "loader",
        Some("com.shop.Init.run:3 com.shop.Config.<clinit>:7 java.io.FileInputStream.read!"),
    );
    let v = expect(named, "lock", Confidence::High);
    let wanted =
        "waits for the class com.shop.Config to be initialized, by thread loader in FileInputStream.read";
    assert!(v.headline.ends_with(wanted), "{}", v.headline);
    let other = report.thread("loader", Some("com.shop.Init.run:3 com.shop.Prices.<clinit>:7"));
    let v = expect(other, "lock", Confidence::High);
    assert!(v.headline.ends_with("waits to be notified on the class com.shop.Config"), "{}", v.headline);
}

#[test]
fn a_service_in_native_code_needs_no_figure_of_the_kernel() {
    for (stack, noun) in [
        ("android.media.AudioTrack.native_release!", "the audio system, in AudioTrack.native_release"),
        ("android.view.ThreadedRenderer.nSyncAndDrawFrame!", "the render thread, in ThreadedRenderer.nSync"),
        (
            "android.graphics.HardwareRenderer.nSyncAndDrawFrame!",
            "the render thread, in HardwareRenderer.nSync",
        ),
        (
            "io.flutter.embedding.engine.FlutterJNI.nativeSurfaceDestroyed!",
            "Flutter's engine, in FlutterJNI.",
        ),
        ("android.media.MediaCodec.native_stop!", "the media server, in MediaCodec.native_stop"),
        ("WV.Startup.start J.N.MnSd4w!", "WebView, in N.MnSd4w"),
    ] {
        let v = expect(waits(&format!("com.shop.Player.stop:3 {stack}")), "native", Confidence::High);
        assert!(v.headline.contains(&format!("waits for {noun}")), "{}", v.headline);
        assert!(v.headline.ends_with("called from Player.stop"), "{}", v.headline);
    }
    // It computes there, and a method of Java is no native one.
    let busy = waits("com.shop.Player.stop:3 android.media.MediaCodec.native_stop!");
    let busy = diagnosis(busy.doing("android.os.Handler", "", 5_300));
    assert_eq!(busy.primary_cause().unwrap().rule, "current-slow", "{busy:#?}");
    let java = diagnosis(waits("com.shop.Player.stop:3 android.media.AudioTrack.native_like:3"));
    assert!(java.causes.iter().all(|cause| cause.rule != "native"), "{java:#?}");
}

#[test]
fn pipes_and_databases_have_separate_words() {
    let pipe = "com.shop.Shell.run:3 java.lang.UNIXProcess$ProcessPipeInputStream.read java.io.FileInputStream.read!";
    let v = expect(waits(pipe), "io", Confidence::High);
    assert!(v.headline.contains("waits for a pipe"), "{}", v.headline);
    let pool = "com.shop.Orders.list:3 android.database.sqlite.SQLiteConnectionPool.waitForConnection PARK";
    let v = expect(waits(pool), "io", Confidence::High);
    assert!(v.headline.contains("waits for a database connection"), "{}", v.headline);
    let query = "com.shop.Orders.list:3 android.database.sqlite.SQLiteConnection.nativeExecute!";
    // 115 is clock_nanosleep: SQLite's busy handler.
    let v = expect(waits(query).interrupted(115, &[]), "io", Confidence::High);
    assert!(v.headline.contains("waits for a database that is busy"), "{}", v.headline);
    let v = expect(waits(query).interrupted(63, &[]), "io", Confidence::High);
    assert!(v.headline.contains("works on a database"), "{}", v.headline);
}

#[test]
fn each_slow_message_of_the_window_is_a_candidate_and_the_newest_comes_first() {
    let report = calm()
        .single("com.shop.Old", 5_000, 4_900)
        .group(4, 40, 100)
        .single("com.shop.New", 4_200, 4_100)
        .group(2, 20, 30);
    let v = diagnosis(report.clone().running(199, 60));
    let history: Vec<&Cause> = v.causes.iter().filter(|cause| cause.rule == "history").collect();
    assert_eq!(history.len(), 2, "{v:#?}");
    assert!(v.headline.contains("4.20 s") && history[1].title.contains("5.00 s"), "{v:#?}");
    // A short one that is newer hides nothing.
    let v = diagnosis(report.single("com.shop.Short", 700, 650).running(199, 60));
    assert!(v.headline.contains("4.20 s"), "{}", v.headline);
    // What each waited for is a cause as well.
    let report =
        calm().single("com.shop.Old", 5_000, 10).group(4, 40, 100).single("com.shop.New", 4_200, 4_100);
    let token = report.clone().build().report.history.iter().rev().nth(2).unwrap().first_token.0;
    let report = report.looper_tree(token, &[("com.shop.Old.run:3 java.lang.Thread.sleep!", 490)]);
    let v = diagnosis(report.running(199, 60));
    assert!(v.causes.iter().any(|cause| cause.rule == "sleep" && cause.title.contains("5.00 s")), "{v:#?}");
}

#[test]
fn the_culprit_is_who_called_the_helper_and_the_path_leads_to_it() {
    let sleep = "com.shop.Main.onResume:8 com.shop.Feed.refresh:30 com.shop.util.Threads.sleep:4 java.lang.Thread.sleep!";
    let v = expect(waits(sleep), "sleep", Confidence::High);
    assert!(v.headline.ends_with("sleeps, called from Feed.refresh"), "{}", v.headline);
    assert_eq!(v.causes[0].culprit.as_deref(), Some("com.shop.Feed.refresh(Feed.java:30)"));
    assert_eq!(v.causes[0].path, ["com.shop.Main.onResume", "com.shop.Feed.refresh"]);
    let join = "com.shop.Feed.run:3 com.shop.Prices.show:5 com.shop.StringUtils.join:9";
    let busy = waits(join).doing("android.os.Handler", "", 5_300);
    assert!(diagnosis(busy).headline.ends_with("most of it in Prices.show"));
    // Nothing but the helper is known.
    let alone = waits("com.shop.util.Threads.sleep:4 java.lang.Thread.sleep!");
    assert!(diagnosis(alone).headline.ends_with("called from Threads.sleep"));
}

#[test]
fn a_slow_message_has_its_largest_branches_with_what_they_wait_for() {
    let report = calm().running(99, 5_500).doing("android.os.Handler", "", 3_200).looper_tree(
        99,
        &[
            ("com.shop.Main.run:3 com.shop.Json.parse:5", 300),
            ("com.shop.Main.run:4 com.shop.Orders.list:5 android.database.sqlite.SQLiteConnection.nativeExecute!", 150),
            ("com.shop.Main.run:5 com.shop.Feed.get:5 java.net.Socket.connect:9", 70),
            ("com.shop.Main.run:6 com.shop.Log.write:5", 20),
        ],
    );
    let v = expect(report, "current-slow", Confidence::High);
    let wanted =
        "of the stacks 56 % in Json.parse, 28 % in Orders.list (a database), 13 % in Feed.get (the network)";
    assert!(evidence(&v).contains(wanted), "{v:#?}");
}

/// Java reads from files, pipes and sockets by the same methods. Only the kernel knows which of these main
/// reads from.
#[test]
fn a_read_is_called_by_what_the_kernel_says_it_reads() {
    let read = "com.shop.Shell.run:3 java.io.FileInputStream.read:313 libcore.io.Linux.readBytes!";
    for (descriptor, wchan, words) in [
        ("pipe", "anon_pipe_read", "waits for a pipe"),
        ("", "pipe_read", "waits for a pipe"),
        ("socket", "unix_stream_data_wait", "waits for the other end of a socket"),
        ("file in cache", "folio_wait_bit_common", "works on files"),
    ] {
        let report = waits(read).interrupted(63, &[]).with(|report| {
            report.main_thread.wchan = wchan.into();
            report.main_thread.system_call.as_mut().unwrap().descriptor = descriptor.into();
        });
        let v = expect(report, "io", Confidence::High);
        let title = format!("{words}, in Linux.readBytes, called from Shell.run");
        assert!(v.headline.contains(&title), "{}", v.headline);
    }
}

#[test]
fn a_socket_waits_for_the_network_by_whatever_call() {
    for (stack, at) in [
        (
            "java.net.Socket.connect:621 java.net.PlainSocketImpl.socketConnect:142 libcore.io.IoBridge.isConnected:267 \
             libcore.io.Linux.poll!",
            "PlainSocketImpl.socketConnect",
        ),
        ("sun.nio.ch.SelectorImpl.select:101 sun.nio.ch.PollArrayWrapper.poll0!", "PollArrayWrapper.poll0"),
        ("sun.nio.ch.EPollSelectorImpl.doSelect:120 sun.nio.ch.EPoll.wait!", "EPoll.wait"),
        ("sun.nio.ch.SocketChannelImpl.connect:95 sun.nio.ch.Net.connect0!", "Net.connect0"),
    ] {
        let v = expect(waits(&format!("com.shop.Api.call:3 {stack}")), "io", Confidence::High);
        assert!(v.headline.contains(&format!("waits for the network, in {at}")), "{}", v.headline);
    }
    // A jar that a class loader opens is a file.
    let jar = "com.shop.Plugins.load:3 java.net.URLClassLoader.findClass:9 libcore.io.Linux.readBytes!";
    let v = expect(waits(jar), "io", Confidence::High);
    assert!(v.headline.contains("works on files"), "{}", v.headline);
}
