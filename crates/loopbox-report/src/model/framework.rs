//! Android's own frames, by their names. Nothing else in this crate knows these names.

use super::frame::{Frame, FrameId, FrameKind, FrameTable};
use super::pattern::matches;
pub(crate) use super::role::{NativeService, Role, WaitKind};
use super::sampled_tree::SampledTree;
use std::collections::HashMap;

/// `Object.wait`.
pub(crate) const OBJECT_WAIT: (&str, &str) = ("java.lang.Object", "wait");
/// `Thread.join`, which calls `Object.wait`.
pub(crate) const THREAD_JOIN: (&str, &str) = ("java.lang.Thread", "join");
/// The method in which a thread waits until another thread returns a database connection.
pub(crate) const DATABASE_CONNECTION: (&str, &str) =
    ("android.database.sqlite.SQLiteConnectionPool", "waitForConnection");
/// The package of Java's own locks.
pub(crate) const JAVA_LOCKS: &str = "java.util.concurrent.";
/// The end of the name of a class that aidl generates for an interface.
pub(crate) const AIDL_PROXY: &str = "$Stub$Proxy";

/// Class, method, and role; the first row that matches decides. A `*` at the end stands for any end, and a
/// `*` in front stands for any beginning. An empty method name matches every method. Methods of a newer
/// Android come after those that they replaced.
pub(crate) const FRAMES: &[(&str, &str, Role)] = &[
    ("android.os.Looper", "loop", Role::Loop),
    // Android 12.
    ("android.os.Looper", "loopOnce", Role::Loop),
    ("android.os.Handler", "dispatchMessage", Role::Dispatch),
    // Android 17.
    ("android.os.Handler", "dispatchMessageImpl", Role::Dispatch),
    ("*", "dispatchMessage", Role::OwnDispatch),
    // `next`, and of Android 16 and 17 nextLegacy, nextConcurrent, nextDeliQueue.
    ("android.os.MessageQueue", "next*", Role::Queue),
    ("android.os.MessageQueue", "nativePollOnce", Role::Poll),
    ("android.os.MessageQueue", "dispatchEvents", Role::Descriptors),
    ("*", "onFileDescriptorEvents", Role::DescriptorListener),
    ("*", "queueIdle", Role::IdleHandler),
    ("*", "dispatchTouchEvent", Role::InputEvent),
    ("*", "dispatchKeyEvent", Role::InputEvent),
    ("*", "dispatchKeyShortcutEvent", Role::InputEvent),
    ("*", "dispatchGenericMotionEvent", Role::InputEvent),
    ("*", "dispatchTrackballEvent", Role::InputEvent),
    ("*", "dispatchPointerEvent", Role::InputEvent),
    ("android.view.InputEventReceiver", "", Role::Input),
    ("android.view.DisplayEventReceiver*", "", Role::Vsync),
    ("android.hardware.SystemSensorManager*", "", Role::Sensor),
    ("android.app.ActivityThread", "installContentProviders", Role::Providers),
    // A heap dump stops all threads until the heap has been walked through twice, and counting instances
    // once.
    ("dalvik.system.VMDebug", "dumpHprof*", Role::SuspendsAll),
    ("dalvik.system.VMDebug", "countInstances*", Role::SuspendsAll),
    ("dalvik.system.VMDebug", "getInstancesOfClasses*", Role::SuspendsAll),
    // More specific rows come first: shared preferences and databases do file I/O, too.
    ("android.app.QueuedWork", "waitToFinish", Role::Waits(WaitKind::Preferences)),
    ("android.app.QueuedWork", "processPendingWork", Role::Waits(WaitKind::Preferences)),
    ("android.app.SharedPreferencesImpl*", "", Role::Waits(WaitKind::Preferences)),
    ("android.os.BinderProxy", "transact*", Role::Waits(WaitKind::Binder)),
    (DATABASE_CONNECTION.0, DATABASE_CONNECTION.1, Role::Waits(WaitKind::Database)),
    ("android.database.sqlite.SQLiteConnection", "native*", Role::Waits(WaitKind::Database)),
    ("java.lang.Thread", "sleep", Role::Waits(WaitKind::Sleep)),
    ("android.os.SystemClock", "sleep", Role::Waits(WaitKind::Sleep)),
    (OBJECT_WAIT.0, OBJECT_WAIT.1, Role::Waits(WaitKind::Lock)),
    (THREAD_JOIN.0, THREAD_JOIN.1, Role::Waits(WaitKind::Lock)),
    ("sun.misc.Unsafe", "park", Role::Waits(WaitKind::Lock)),
    ("jdk.internal.misc.Unsafe", "park", Role::Waits(WaitKind::Lock)),
    ("java.util.concurrent.locks.LockSupport", "park*", Role::Waits(WaitKind::Lock)),
    ("java.lang.Runtime", "gc", Role::Waits(WaitKind::Gc)),
    ("java.lang.Runtime", "nativeGc", Role::Waits(WaitKind::Gc)),
    ("java.lang.System", "gc", Role::Waits(WaitKind::Gc)),
    ("dalvik.system.VMRuntime", "requestConcurrentGC", Role::Waits(WaitKind::Gc)),
    ("dalvik.system.VMRuntime", "clearGrowthLimit", Role::Waits(WaitKind::Gc)),
    ("dalvik.system.VMRuntime", "runFinalization*", Role::Waits(WaitKind::Gc)),
    ("java.lang.Runtime", "nativeLoad", Role::Waits(WaitKind::Loading)),
    ("java.lang.Runtime", "loadLibrary0", Role::Waits(WaitKind::Loading)),
    ("dalvik.system.DexFile", "", Role::Waits(WaitKind::Loading)),
    ("dalvik.system.DexPathList*", "", Role::Waits(WaitKind::Loading)),
    ("java.net.*", "", Role::Waits(WaitKind::Network)),
    ("com.android.org.conscrypt.*", "", Role::Waits(WaitKind::Network)),
    ("libcore.io.*", "connect", Role::Waits(WaitKind::Network)),
    ("libcore.io.*", "recvfrom*", Role::Waits(WaitKind::Network)),
    ("libcore.io.*", "sendto*", Role::Waits(WaitKind::Network)),
    ("libcore.io.*", "android_getaddrinfo", Role::Waits(WaitKind::Network)),
    ("sun.nio.ch.*Socket*", "", Role::Waits(WaitKind::Network)),
    ("sun.nio.ch.*Datagram*", "", Role::Waits(WaitKind::Network)),
    ("sun.nio.ch.Net", "", Role::Waits(WaitKind::Network)),
    // Selectors wait for sockets.
    ("sun.nio.ch.*Selector*", "", Role::Waits(WaitKind::Network)),
    ("sun.nio.ch.*Poll*", "", Role::Waits(WaitKind::Network)),
    ("libcore.io.*", "", Role::Waits(WaitKind::File)),
    ("java.io.FileDescriptor", "sync", Role::Waits(WaitKind::File)),
    ("java.io.UnixFileSystem", "", Role::Waits(WaitKind::File)),
    ("java.io.FileInputStream", "", Role::Waits(WaitKind::File)),
    ("java.io.FileOutputStream", "", Role::Waits(WaitKind::File)),
    ("java.io.RandomAccessFile", "", Role::Waits(WaitKind::File)),
    ("sun.nio.ch.FileChannelImpl", "", Role::Waits(WaitKind::File)),
    ("sun.nio.ch.FileDispatcherImpl", "", Role::Waits(WaitKind::File)),
    ("sun.nio.fs.UnixNativeDispatcher", "", Role::Waits(WaitKind::File)),
    ("android.content.res.AssetManager", "native*", Role::Waits(WaitKind::File)),
    ("android.content.res.ApkAssets", "native*", Role::Waits(WaitKind::File)),
    ("java.util.zip.ZipFile", "", Role::Waits(WaitKind::File)),
    ("java.io.PipedInputStream", "", Role::Waits(WaitKind::Pipe)),
    ("java.io.PipedOutputStream", "", Role::Waits(WaitKind::Pipe)),
    ("java.lang.UNIXProcess$ProcessPipe*", "", Role::Waits(WaitKind::Pipe)),
    ("java.lang.ProcessManager$Process*", "", Role::Waits(WaitKind::Pipe)),
    ("android.os.ParcelFileDescriptor$AutoClose*", "", Role::Waits(WaitKind::Pipe)),
    ("android.media.AudioTrack", "native_*", Role::Waits(WaitKind::Native(NativeService::Audio))),
    ("android.media.AudioRecord", "native_*", Role::Waits(WaitKind::Native(NativeService::Audio))),
    ("android.media.SoundPool", "_*", Role::Waits(WaitKind::Native(NativeService::Audio))),
    ("android.media.MediaPlayer", "_*", Role::Waits(WaitKind::Native(NativeService::Codec))),
    ("android.media.MediaCodec", "native_*", Role::Waits(WaitKind::Native(NativeService::Codec))),
    ("android.media.MediaExtractor", "native*", Role::Waits(WaitKind::Native(NativeService::Codec))),
    ("android.media.MediaMetadataRetriever", "_*", Role::Waits(WaitKind::Native(NativeService::Codec))),
    ("android.hardware.Camera", "native_*", Role::Waits(WaitKind::Native(NativeService::Camera))),
    // Of Android 5 to 9, and newer.
    ("android.view.ThreadedRenderer", "n*", Role::Waits(WaitKind::Native(NativeService::Renderer))),
    ("android.graphics.HardwareRenderer", "n*", Role::Waits(WaitKind::Native(NativeService::Renderer))),
    (
        "io.flutter.embedding.engine.FlutterJNI",
        "native*",
        Role::Waits(WaitKind::Native(NativeService::Flutter)),
    ),
    // WebView's glue to its native code, whatever else is renamed.
    ("J.N", "", Role::Waits(WaitKind::Native(NativeService::WebView))),
    ("org.chromium.base.natives.GEN_JNI", "", Role::Waits(WaitKind::Native(NativeService::WebView))),
    ("android.os.BinderProxy*", "", Role::BinderProxy),
];

/// The class `a.b` in `java.lang.Class<a.b>`, as ART prints the class that is locked.
pub(crate) fn in_class_object(text: &str) -> Option<&str> {
    text.strip_prefix(CLASS_OBJECT)?.strip_suffix('>')
}
pub(crate) const CLASS_OBJECT: &str = "java.lang.Class<";

/// Whether a class is one of Java's sockets. Its waits are waits for the network, even in a method that is
/// also used for files.
pub(crate) fn is_socket(class: &str) -> bool {
    matches("java.net.*Socket*", class)
}

/// The role of a method for the main thread; `None` for most methods. This searches the whole table, so a
/// frame stores the result.
pub(crate) fn role_of(class: &str, method: &str, kind: FrameKind) -> Option<Role> {
    let known = FRAMES.iter().find(|(of, name, _)| matches(of, class) && matches(name, method));
    // A service in native code is one in its native methods alone.
    let role = known.map(|(.., role)| *role);
    role.filter(|role| kind == FrameKind::Native || !matches!(role, Role::Waits(WaitKind::Native(_))))
}

impl Frame {
    /// Whether the frame is in this method.
    pub(crate) fn is(&self, (class, method): (&str, &str)) -> bool {
        self.class == class && self.method == method
    }
}

/// Finds the method by which a message is named: the app's first method above the dispatch. If the stacks
/// have different ones, it is the one with the most time. It does not matter which library dispatched the
/// message. `None` when no stack has a method of the app there.
///
/// `roles` has the role of each frame, by the frame's number.
pub(crate) fn entry(tree: &SampledTree, frames: &FrameTable, roles: &[Option<Role>]) -> Option<FrameId> {
    /// What is known of a node and its callers.
    #[derive(Clone, Copy, Default)]
    struct Above {
        dispatched: bool,
        entry: Option<FrameId>,
    }
    type Method<'f> = (&'f str, &'f str, &'f str);
    let mut nodes: Vec<Above> = Vec::with_capacity(tree.nodes.len());
    let mut times: HashMap<Method<'_>, (u64, FrameId)> = HashMap::new();
    for node in &tree.nodes {
        let caller = node.parent.and_then(|at| nodes.get(at as usize).copied()).unwrap_or_default();
        let frame = &frames[node.frame];
        let mut above = match roles.get(node.frame.index()).copied().flatten() {
            // A loop inside of a message runs other messages, which begin with their dispatch. An app
            // may dispatch by itself: then its method is the first above the loop.
            Some(Role::Loop) => Above { dispatched: true, ..caller },
            Some(Role::Dispatch) => Above { dispatched: true, entry: None },
            _ => caller,
        };
        if above.dispatched && above.entry.is_none() && frame.is_of_app() && !frame.synthetic {
            above.entry = Some(node.frame);
        }
        nodes.push(above);
        if let Some(entry) = above.entry.filter(|_| node.self_ns > 0) {
            let Frame { class, method, signature, .. } = &frames[entry];
            let (ns, _) = times.entry((class, method, signature)).or_insert((0, entry));
            *ns = ns.saturating_add(node.self_ns);
        }
    }
    // Of equal times the one that was seen first.
    times.into_values().max_by_key(|&(ns, frame)| (ns, std::cmp::Reverse(frame))).map(|(_, frame)| frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::test_support::ReportBuilder;
    use loopbox_format::looper::is_dispatch;

    /// The name of a message by its stacks.
    fn named(stacks: &[(&str, u32)]) -> Option<String> {
        let a = Analysis::new(&ReportBuilder::new().running(1, 2_000).tree(1, stacks).build());
        a.trees[0].entry.map(|id| a.frames[id].qualified())
    }

    const LOOP: &str = "android.app.ActivityThread.main android.os.Looper.loop";
    const DISPATCH: &str = "com.shop.Main.main android.os.Looper.loop android.os.Handler.dispatchMessage";
    const LOOP_17: &str = "android.app.ActivityThread.main android.os.Looper.loop android.os.Looper.loopOnce";
    const DISPATCH_17: &str = "android.os.Handler.dispatchMessage android.os.Handler.dispatchMessageImpl";
    const CALLBACK: &str = "android.os.Handler.handleCallback";

    #[test]
    fn entry_is_the_first_method_of_the_app_above_the_dispatch() {
        let coroutine = "kotlinx.coroutines.DispatchedTask.run \
                         kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith";
        let nested =
            "android.os.Looper.loop android.os.Handler.dispatchMessage com.shop.Dialog.handleMessage";
        let waits =
            "android.os.Looper.loop android.os.MessageQueue.next android.os.MessageQueue.nativePollOnce!";
        let lambda =
            "com.shop.A$$ExternalSyntheticLambda0.run com.shop.A.$r8$lambda$h4sh com.shop.A.lambda$b$0";
        let click = "android.view.View.-$$Nest$mperformClickInternal com.shop.Cart.onClick";
        let rx = "io.reactivex.rxjava3.android.schedulers.HandlerScheduler$ScheduledRunnable.run \
                  io.reactivex.rxjava3.internal.observers.LambdaObserver.onNext";
        for (name, stack, entry) in [
            (
                "a handler",
                format!("{DISPATCH} com.shop.Feed.handleMessage com.shop.Feed.load"),
                Some("com.shop.Feed.handleMessage"),
            ),
            (
                "a runnable",
                format!("{DISPATCH} {CALLBACK} com.shop.A$1.run com.shop.A.a"),
                Some("com.shop.A$1.run"),
            ),
            (
                "a coroutine",
                format!(
                    "{DISPATCH} {CALLBACK} {coroutine} com.shop.Repo$load$1.invokeSuspend com.shop.Repo.parse"
                ),
                Some("com.shop.Repo$load$1.invokeSuspend"),
            ),
            (
                "Rx",
                format!("{DISPATCH} {CALLBACK} {rx} com.shop.Feed$2.accept java.util.HashMap.get"),
                Some("com.shop.Feed$2.accept"),
            ),
            ("a lambda", format!("{DISPATCH} {CALLBACK} {lambda}"), Some("com.shop.A.lambda$b$0")),
            (
                "Android 17",
                format!("{LOOP_17} {DISPATCH_17} {CALLBACK} {click}"),
                Some("com.shop.Cart.onClick"),
            ),
            (
                "a loop in a message",
                format!("{DISPATCH} com.shop.Main.ask {nested}"),
                Some("com.shop.Dialog.handleMessage"),
            ),
            (
                "a message whose own loop waits",
                format!("{DISPATCH} com.shop.Main.ask {waits}"),
                Some("com.shop.Main.ask"),
            ),
            (
                "an app that dispatches itself",
                format!("{LOOP} com.shop.H.dispatchMessage com.shop.H.work"),
                Some("com.shop.H.dispatchMessage"),
            ),
            ("no code of the app", format!("{DISPATCH} {CALLBACK} {coroutine}"), None),
            ("no dispatch", "com.shop.Main.main com.shop.Main.work".to_owned(), None),
        ] {
            assert_eq!(named(&[(&stack, 50)]).as_deref(), entry, "{name}");
        }
    }

    #[test]
    fn entry_is_that_of_most_of_the_time() {
        let of = |rest: &str| format!("{DISPATCH} {CALLBACK} android.view.Choreographer.doFrame {rest}");
        let (short, long, none) =
            (of("com.shop.Bar.onDraw"), of("com.shop.List.onMeasure"), of("android.view.View.draw"));
        let stacks = [(short.as_str(), 20), (long.as_str(), 30), (none.as_str(), 90)];
        assert_eq!(named(&stacks).as_deref(), Some("com.shop.List.onMeasure"));
        // One method at several lines, and in several places.
        let lines = [of("com.shop.Bar.onDraw:3"), of("android.view.View.draw com.shop.Bar.onDraw:9"), long];
        let stacks: Vec<(&str, u32)> = lines.iter().zip([20, 20, 30]).map(|(s, n)| (s.as_str(), n)).collect();
        assert_eq!(named(&stacks).as_deref(), Some("com.shop.Bar.onDraw"));
    }

    #[test]
    fn each_row_of_the_table_is_found() {
        for (class, method, role) in FRAMES {
            let any = |pattern: &str, of_none: &str| match pattern {
                "" | "*" => vec![of_none.to_owned()],
                pattern => vec![pattern.replace('*', ""), pattern.replace('*', "X")],
            };
            for (class, name) in any(class, "com.shop.A").iter().zip(any(method, "m").iter().cycle()) {
                let frame = frame(class, name);
                let expected =
                    if matches!(role, Role::Waits(WaitKind::Native(_))) { None } else { Some(*role) };
                assert_eq!(frame.role(), expected, "{class}.{name} is no native method");
                assert_eq!(role_of(class, name, FrameKind::Native), Some(*role), "{class}.{name}");
                let dispatches = matches!(role, Role::Dispatch | Role::OwnDispatch);
                assert_eq!(is_dispatch(class, name), dispatches, "the app says so, too: {class}.{name}");
                assert!(!frame.synthetic, "{class}.{name}");
                assert!(!frame.is_of_app() || class == "com.shop.A", "{class}.{name}");
            }
        }
    }

    fn frame(class: &str, method: &str) -> Frame {
        let stack = format!("{class}.{method}");
        let a = Analysis::new(&ReportBuilder::new().running(1, 2_000).tree(1, &[(&stack, 50)]).build());
        a.frames[a.trees[0].nodes[0].frame].clone()
    }

    #[test]
    fn a_name_that_is_like_one_of_the_table_is_none_of_it() {
        assert_eq!(frame("com.shop.Looper", "loop").role(), None);
        assert_eq!(frame("android.os.Looper", "looper").role(), None, "no end is any end");
    }
}
