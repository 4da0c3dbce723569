//! What a stack does, told from the names on it.
//!
//! The names are those of AOSP and libcore, which no app obfuscates. The patterns are tried from the top of the
//! stack down; the first that matches decides, because what is above it is how the platform waits.

use super::facts::share;
use crate::Frame;
use crate::frame::FrameKind;
use crate::names::is_platform;
use crate::tree::Tree;
use std::collections::HashMap;

/// What the main thread does or waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Doing {
    /// Runs code, as far as the stack tells.
    Running,
    /// Waits for a lock, a condition, a latch, a future or another thread.
    Lock,
    /// `Thread.sleep`.
    Sleep,
    /// A synchronous binder call.
    Binder,
    /// An explicit garbage collection.
    Gc,
    /// Files.
    File,
    /// SQLite.
    Database,
    /// Shared preferences: loading them, or waiting until all of them are written.
    Preferences,
    /// Sockets, name look-up, TLS.
    Network,
    /// Loading classes or native libraries.
    Loading,
    /// Waits in `MessageQueue` for the next message.
    Polling,
}

use Doing::{Binder, Database, File, Gc, Loading, Lock, Network, Polling, Preferences, Sleep};

/// Class (a prefix when it ends in `*`), method (a prefix when it ends in `*`, any when empty), what it does.
///
/// More telling entries come first: shared preferences and databases do file I/O, too.
const PATTERNS: &[(&str, &str, Doing)] = &[
    ("android.os.MessageQueue", "nativePollOnce", Polling),
    ("android.app.QueuedWork", "waitToFinish", Preferences),
    ("android.app.QueuedWork", "processPendingWork", Preferences),
    ("android.app.SharedPreferencesImpl*", "", Preferences),
    ("android.os.BinderProxy", "transact*", Binder),
    ("android.database.sqlite.SQLiteConnectionPool", "waitForConnection", Database),
    ("android.database.sqlite.SQLiteConnection", "native*", Database),
    ("java.lang.Thread", "sleep", Sleep),
    ("android.os.SystemClock", "sleep", Sleep),
    ("java.lang.Object", "wait", Lock),
    ("java.lang.Thread", "join", Lock),
    ("sun.misc.Unsafe", "park", Lock),
    ("jdk.internal.misc.Unsafe", "park", Lock),
    ("java.util.concurrent.locks.LockSupport", "park*", Lock),
    ("java.lang.Runtime", "gc", Gc),
    ("java.lang.Runtime", "nativeGc", Gc),
    ("java.lang.System", "gc", Gc),
    ("dalvik.system.VMRuntime", "requestConcurrentGC", Gc),
    ("dalvik.system.VMRuntime", "clearGrowthLimit", Gc),
    ("dalvik.system.VMRuntime", "runFinalization*", Gc),
    ("java.lang.Runtime", "nativeLoad", Loading),
    ("java.lang.Runtime", "loadLibrary0", Loading),
    ("dalvik.system.DexFile", "", Loading),
    ("dalvik.system.DexPathList*", "", Loading),
    ("java.net.*", "", Network),
    ("com.android.org.conscrypt.*", "", Network),
    ("libcore.io.*", "connect", Network),
    ("libcore.io.*", "recvfrom*", Network),
    ("libcore.io.*", "sendto*", Network),
    ("libcore.io.*", "android_getaddrinfo", Network),
    ("sun.nio.ch.*Socket*", "", Network),
    ("libcore.io.*", "", File),
    ("java.io.FileDescriptor", "sync", File),
    ("java.io.UnixFileSystem", "", File),
    ("java.io.FileInputStream", "", File),
    ("java.io.FileOutputStream", "", File),
    ("java.io.RandomAccessFile", "", File),
    ("sun.nio.ch.FileChannelImpl", "", File),
    ("sun.nio.ch.FileDispatcherImpl", "", File),
    ("sun.nio.fs.UnixNativeDispatcher", "", File),
    ("android.content.res.AssetManager", "native*", File),
    ("android.content.res.ApkAssets", "native*", File),
    ("java.util.zip.ZipFile", "", File),
];

/// Frames below the top that are looked at: how deep the platform's own waiting goes.
const LOOKED_AT: usize = 24;

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern.is_empty() || pattern == name,
        Some((head, tail)) => name
            .strip_prefix(head)
            .is_some_and(|rest| tail.is_empty() || rest.contains(tail.trim_end_matches('*'))),
    }
}

fn doing(frame: &Frame) -> Option<Doing> {
    PATTERNS
        .iter()
        .find(|(class, method, _)| matches(class, &frame.class) && matches(method, &frame.method))
        .map(|(.., doing)| *doing)
}

/// One kind of waiting of one stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Site {
    pub(crate) doing: Doing,
    /// The frame that says so: `BinderProxy.transactNative`; for a running stack its top.
    pub(crate) at: u32,
    /// The frame that called it for a purpose: of a binder call, `IPackageManager$Stub$Proxy.getPackageInfo`.
    pub(crate) purpose: Option<u32>,
    /// The first frame of the app's own code from the top.
    pub(crate) app: Option<u32>,
}

fn classify(stack: &[u32], frames: &[Frame]) -> Option<Site> {
    let frame = |i: &u32| &frames[*i as usize];
    let top = *stack.last()?;
    let from_top = || stack.iter().rev();
    let app =
        from_top().find(|i| frame(i).kind != FrameKind::Elided && !is_platform(&frame(i).class)).copied();
    let mut found: Option<(usize, u32, Doing)> = None;
    for (depth, &at) in from_top().take(LOOKED_AT).enumerate() {
        match (doing(frame(&at)), found) {
            (Some(doing), None) => found = Some((depth, at, doing)),
            // A database waits for its lock and reads a file: what it does that for is the better name.
            (Some(doing @ (Preferences | Database)), Some((.., File | Lock))) => {
                found = Some((depth, at, doing));
            }
            // The first frame of the app ends the search: what it called decides, not what called it.
            (None, _) if Some(at) == app => break,
            _ => {}
        }
    }
    let Some((depth, at, doing)) = found else {
        return Some(Site { doing: Doing::Running, at: top, purpose: None, app });
    };
    let callers = from_top().skip(depth + 1);
    let mut named = callers.filter(|i| !frame(i).class.starts_with("android.os.BinderProxy"));
    let purpose = if doing == Binder { named.next().copied() } else { None };
    Some(Site { doing, at, purpose, app })
}

/// Where the time of one message went.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) total_ns: u64,
    by_doing: HashMap<Doing, u64>,
    by_site: HashMap<Site, u64>,
    /// The frame that was on top of the stack longest without moving from its line, and for how long.
    pub(crate) stuck: Option<(u32, u64)>,
}

impl Profile {
    pub(crate) fn new(tree: &Tree, frames: &[Frame]) -> Self {
        let mut profile = Self {
            total_ns: tree.total_ns(),
            by_doing: HashMap::new(),
            by_site: HashMap::new(),
            stuck: None,
        };
        let mut on_top: HashMap<u32, u64> = HashMap::new();
        for (node, begin, end) in tree.tops() {
            let ns = tree.span_ns(begin, end);
            *on_top.entry(tree.nodes[node as usize].frame).or_default() += ns;
            if let Some(site) = classify(&tree.stack(node), frames) {
                *profile.by_doing.entry(site.doing).or_default() += ns;
                *profile.by_site.entry(site).or_default() += ns;
            }
        }
        profile.stuck = on_top.into_iter().max_by_key(|&(frame, ns)| (ns, frame));
        profile
    }

    /// How much of the sampled time was spent so.
    pub(crate) fn share(&self, doing: Doing) -> f64 {
        share(self.ns(doing), self.total_ns)
    }

    pub(crate) fn ns(&self, doing: Doing) -> u64 {
        self.by_doing.get(&doing).copied().unwrap_or(0)
    }

    /// The place that took most of the time spent so.
    pub(crate) fn main_site(&self, doing: Doing) -> Option<(Site, u64)> {
        let sites = self.by_site.iter().filter(|(site, _)| site.doing == doing);
        sites.map(|(site, ns)| (*site, *ns)).max_by_key(|&(site, ns)| (ns, site))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::test_support::ReportBuilder;

    fn site(stack: &str) -> (Doing, String, Option<String>, Option<String>) {
        let report = ReportBuilder::new().running(1, 1_000).looper_tree(1, &[(stack, 50)]).build();
        let a = Analysis::new(&report);
        let profile = Profile::new(&a.trees[0], &a.frames);
        let (site, _) = *profile.by_site.iter().map(|(s, n)| (*s, *n)).collect::<Vec<_>>().first().unwrap();
        let name = |i: u32| a.frames[i as usize].short();
        (site.doing, name(site.at), site.purpose.map(name), site.app.map(name))
    }

    #[test]
    fn a_stack_is_known_by_what_the_app_called() {
        let binder = "com.shop.A.run android.app.ApplicationPackageManager.getPackageInfo \
                      android.content.pm.IPackageManager$Stub$Proxy.getPackageInfo \
                      android.os.BinderProxy.transact android.os.BinderProxy.transactNative!";
        let (doing, at, purpose, app) = site(binder);
        assert_eq!((doing, at.as_str()), (Binder, "BinderProxy.transactNative"));
        assert_eq!(purpose.unwrap(), "IPackageManager$Stub$Proxy.getPackageInfo");
        assert_eq!(app.unwrap(), "A.run");
        let of = |stack| site(stack).0;
        let future = "com.shop.A.run java.util.concurrent.FutureTask.get java.util.concurrent.FutureTask.awaitDone \
                      java.util.concurrent.locks.LockSupport.park sun.misc.Unsafe.park!";
        assert_eq!(of(future), Lock);
        assert_eq!(of("com.shop.A.run java.lang.Thread.sleep java.lang.Thread.sleep!"), Sleep);
        let prefs = "android.app.ActivityThread.handleStopActivity android.app.QueuedWork.waitToFinish \
                     java.io.FileDescriptor.sync libcore.io.Linux.fsync!";
        assert_eq!(of(prefs), Preferences);
        let prefs = "com.shop.A.run android.app.SharedPreferencesImpl.getString \
                     android.app.SharedPreferencesImpl.awaitLoadedLocked java.lang.Object.wait!";
        assert_eq!(of(prefs), Preferences);
        assert_eq!(of("com.shop.A.run java.net.Socket.connect libcore.io.Linux.connect!"), Network);
        assert_eq!(of("com.shop.A.run java.util.HashMap.get"), Doing::Running);
    }

    #[test]
    fn what_called_the_app_does_not_decide() {
        // A callback out of a native wait: the app's frame is on top of it and runs.
        let stack = "java.io.FileInputStream.read com.shop.Filter.read com.shop.Filter.decode";
        assert_eq!(site(stack).0, Doing::Running);
    }
}
