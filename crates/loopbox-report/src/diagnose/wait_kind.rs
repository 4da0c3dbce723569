//! Classifies stacks by what the main thread waits for.
//!
//! The names are those of AOSP and libcore (`model/framework.rs`), which no app obfuscates. Frames are tried
//! from the top of the stack down, and the first match decides. The frames above the match are the platform's
//! code that implements this wait.

pub(super) use crate::model::framework::WaitKind;
use crate::model::framework::{OBJECT_WAIT, Role, is_socket};
use crate::model::lock_kind::LockKind;
use crate::model::time::share;
use crate::model::{Frame, FrameId, FrameKind, FrameTable, GapSums, SampledTree, StackRun};
use std::collections::HashMap;

use WaitKind::{Binder, Database, File, Gc, Loading, Lock, Network, Pipe, Polling, Preferences};

/// How many frames from the top are classified: the platform's own waits are no deeper than this.
const MAX_CLASSIFIED: usize = 24;

fn kind_of(frame: &Frame) -> Option<WaitKind> {
    match frame.role()? {
        Role::Poll => Some(Polling),
        Role::Waits(kind) => Some(kind),
        _ => None,
    }
}

/// The place in the code where a stack waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct WaitSite {
    pub(super) kind: WaitKind,
    /// The frame that matched, for example `BinderProxy.transactNative`. For a stack that does not wait, its
    /// top frame.
    pub(super) at: FrameId,
    /// The proxy that makes a binder call: `IPackageManager$Stub$Proxy.getPackageInfo`.
    pub(super) binder_proxy: Option<FrameId>,
    /// The first frame of the app's own code from the top, or else of a library in the app.
    pub(super) app: Option<FrameId>,
    /// The method that `app` calls: `CountDownLatch.await`; `None` when that is `at`, or not known.
    pub(super) call: Option<FrameId>,
    /// What the stack waits for in another thread; `None` for other kinds of waits.
    pub(super) lock: Option<LockKind>,
}

/// What a stack waits for. `stack` has the outermost frame first.
pub(super) fn kind_of_stack(stack: &[FrameId], frames: &FrameTable) -> Option<WaitKind> {
    classify(stack, frames).map(|site| site.kind)
}

fn classify(stack: &[FrameId], frames: &FrameTable) -> Option<WaitSite> {
    let frame = |id: &FrameId| &frames[*id];
    let top = *stack.last()?;
    let from_top = || stack.iter().rev();
    let app = frames.first_own(from_top(), |id| *id).copied();
    // The frame above it.
    let above = from_top().take_while(|id| Some(**id) != app && app.is_some());
    let call = above.filter(|id| !frame(id).synthetic).last().copied();
    let shipped = from_top().find(|id| frame(id).is_shipped()).copied();
    let mut found: Option<(usize, FrameId, WaitKind)> = None;
    for (depth, &at) in from_top().take(MAX_CLASSIFIED).enumerate() {
        // Below the top it is not the queue that main waits for, but what the queue called.
        let kind = kind_of(frame(&at)).filter(|kind| *kind != Polling || depth == 0);
        match (kind, found) {
            (Some(kind), None) => found = Some((depth, at, kind)),
            // A database takes its lock and reads its file: the database is the better name for both, and so
            // is a pipe.
            (Some(kind @ (Preferences | Database | Pipe)), Some((.., File | Lock))) => {
                found = Some((depth, at, kind));
            }
            // A socket may wait in a call that files have, too.
            (Some(Network), Some((.., File))) if is_socket(&frame(&at).class) => {
                found = Some((depth, at, Network));
            }
            // The first frame that the app ships ends the search: what it called decides, not what called it.
            (None, _) if Some(at) == shipped => break,
            _ => {}
        }
    }
    let Some((depth, at, kind)) = found else {
        let kind = if frame(&top).kind == FrameKind::Unknown { WaitKind::Unknown } else { WaitKind::Running };
        return Some(WaitSite { kind, at: top, binder_proxy: None, app, call: None, lock: None });
    };
    let callers = from_top().skip(depth + 1);
    let is_proxy = |frame: &Frame| matches!(frame.role(), Some(Role::BinderProxy | Role::Waits(Binder)));
    let mut named = callers.filter(|id| !is_proxy(frame(id)));
    let binder_proxy = if kind == Binder { named.next().copied() } else { None };
    // aidl writes a proxy into the app, too. It is the app that calls it.
    let app = match binder_proxy {
        Some(proxy) if app == Some(proxy) => {
            frames.first_own(from_top().skip_while(|id| **id != proxy).skip(1), |id| *id).copied()
        }
        _ => app,
    };
    let called = from_top().take(MAX_CLASSIFIED).take_while(|id| app != Some(**id));
    // The outermost of them says most.
    let lock_kind = called.filter_map(|id| frame(id).lock_kind).last();
    let lock = (kind == Lock).then(|| lock_kind.unwrap_or(LockKind::Park));
    Some(WaitSite { kind, at, binder_proxy, app, call: call.filter(|call| *call != at), lock })
}

/// How the time of one message was spent.
#[derive(Debug, Clone)]
pub(super) struct WaitProfile {
    pub(super) total_ns: u64,
    /// The part of `total_ns` in which a stack shows where main was.
    pub(super) stacks_ns: u64,
    by_kind: HashMap<WaitKind, u64>,
    by_site: HashMap<WaitSite, u64>,
    /// The time with a native method on top of the stack.
    pub(super) native_top_ns: u64,
    /// The frame that was on top of the stack for most of the time.
    pub(super) top: Option<TopFrame>,
    /// Where the newest stack ends.
    pub(super) newest: Option<NewestStack>,
}

/// The newest stack of a message. Locks and the kernel's data are read only once, at the dump. They describe
/// the wait that this stack shows, and no earlier one.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewestStack {
    pub(super) top: FrameId,
    pub(super) site: WaitSite,
    kind: FrameKind,
    /// Whether a thread with this stack may be waiting for a monitor. `false` for most native methods that
    /// wait, because they enter no monitor.
    may_enter_monitor: bool,
    /// How long the method of `top`, at any line, was on top of the stack.
    method_ns: u64,
}

/// A frame (with its line) on top of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TopFrame {
    pub(super) frame: FrameId,
    /// How long the frame was on top of the stack.
    pub(super) ns: u64,
    /// For the stacks with `frame` on top: the first frame of the app's own code from the top, or else of a
    /// library in the app. If these stacks have different first frames, it is the one with the most time. It
    /// may be `frame` itself.
    pub(super) app: Option<FrameId>,
}

impl TopFrame {
    /// The method to report as the culprit: the app's method, because a helper of the platform or of a
    /// library spends the time of its caller.
    pub(super) fn culprit(self) -> FrameId {
        self.app.unwrap_or(self.frame)
    }
}

impl NewestStack {
    fn of(
        tree: &SampledTree,
        runs: &[StackRun],
        seen_ns: impl Fn(u32, u32) -> u64,
        frames: &FrameTable,
    ) -> Option<Self> {
        let top_of = |run: &StackRun| tree.nodes[run.top as usize].frame;
        let newest = runs.last()?;
        let top = top_of(newest);
        let method = |id: FrameId| (&frames[id].class, &frames[id].method);
        let same = runs.iter().filter(|run| method(top_of(run)) == method(top));
        let site = classify(&tree.stack(newest.top), frames)?;
        // Who is notified needs the monitor again, and classes are loaded under locks.
        let enters = !site.kind.is_wait() || site.kind == Loading || frames[top].is(OBJECT_WAIT);
        Some(Self {
            top,
            site,
            kind: frames[top].kind,
            may_enter_monitor: enters || frames[top].kind == FrameKind::Java,
            method_ns: same.fold(0, |sum: u64, run| sum.saturating_add(seen_ns(run.start, run.end))),
        })
    }

    /// How long the top method of this stack was on top of the message's stacks, in nanoseconds. `None` when
    /// this stack shows a known wait, or when its top frame is not of kind `kind`.
    pub(super) fn nameless_ns(self, kind: FrameKind) -> Option<u64> {
        (!self.site.kind.is_wait() && self.kind == kind && self.method_ns > 0).then_some(self.method_ns)
    }

    /// The method to report as the culprit of what main waits for at the dump.
    pub(super) fn culprit(self) -> FrameId {
        self.site.app.unwrap_or(self.top)
    }
}

impl WaitProfile {
    /// The waits of a tree, without the gaps for which there are no stacks.
    pub(super) fn new(tree: &SampledTree, gaps: &GapSums, frames: &FrameTable) -> Self {
        let seen_ns = |start, end| tree.span_ns(start, end).saturating_sub(gaps.ns(start, end));
        let mut profile = Self {
            total_ns: seen_ns(0, tree.samples()),
            stacks_ns: 0,
            by_kind: HashMap::new(),
            by_site: HashMap::new(),
            native_top_ns: 0,
            top: None,
            newest: None,
        };
        let runs = tree.stack_runs();
        profile.newest = NewestStack::of(tree, &runs, seen_ns, frames);
        let mut on_top: HashMap<FrameId, HashMap<Option<FrameId>, u64>> = HashMap::new();
        for run in runs {
            let ns = seen_ns(run.start, run.end);
            profile.stacks_ns = profile.stacks_ns.saturating_add(ns);
            let top = tree.nodes[run.top as usize].frame;
            let stack = tree.stack(run.top);
            let app = frames.first_own(stack.iter().rev(), |id| *id).copied();
            *on_top.entry(top).or_default().entry(app).or_default() += ns;
            let native_ns = if frames[top].kind == FrameKind::Native { ns } else { 0 };
            profile.native_top_ns = profile.native_top_ns.saturating_add(native_ns);
            if let Some(site) = classify(&stack, frames) {
                *profile.by_kind.entry(site.kind).or_default() += ns;
                *profile.by_site.entry(site).or_default() += ns;
            }
        }
        let tops = on_top.into_iter().map(|(frame, apps)| {
            let ns = apps.values().fold(0, |sum: u64, ns| sum.saturating_add(*ns));
            let app = apps.into_iter().max_by_key(|&(app, ns)| (ns, app)).and_then(|(app, _)| app);
            TopFrame { frame, ns, app }
        });
        profile.top = tops.max_by_key(|top| (top.ns, top.frame));
        profile
    }

    /// Each place in the code where stacks wait, with its time.
    pub(super) fn sites(&self) -> impl Iterator<Item = (WaitSite, u64)> + '_ {
        self.by_site.iter().map(|(site, ns)| (*site, *ns))
    }

    /// The share of the sampled time in this kind of wait.
    pub(super) fn share(&self, kind: WaitKind) -> f64 {
        share(self.ns(kind), self.total_ns)
    }

    /// The share of the sampled time in waits that need no CPU.
    pub(super) fn waiting_share(&self) -> f64 {
        let waits = self.waits().filter(|(kind, _)| ![Gc, Loading].contains(kind));
        share(waits.fold(0, |sum: u64, (_, ns)| sum.saturating_add(ns)), self.total_ns)
    }

    /// Each kind of wait with its time.
    pub(super) fn waits(&self) -> impl Iterator<Item = (WaitKind, u64)> + '_ {
        self.by_kind.iter().map(|(kind, ns)| (*kind, *ns)).filter(|(kind, _)| kind.is_wait())
    }

    pub(super) fn ns(&self, kind: WaitKind) -> u64 {
        self.by_kind.get(&kind).into_iter().sum()
    }

    /// The share of the stacks that may show the wait for a monitor, if main waits for one at the dump.
    /// `None` when the newest stack has no names.
    pub(super) fn monitor_share(&self) -> Option<f64> {
        let newest = self.newest.filter(|newest| newest.site.kind != WaitKind::Unknown)?;
        let ns = match newest.site.kind {
            // Main had not come to the monitor yet.
            _ if !newest.may_enter_monitor => 0,
            // The platform does these under locks, in more than one method.
            kind @ (Preferences | Database | Loading) => self.ns(kind),
            // A wait for a monitor has no frame.
            _ => newest.method_ns,
        };
        Some(share(ns, self.total_ns))
    }

    /// The place that took most of the time in this kind of wait.
    pub(super) fn main_site(&self, kind: WaitKind) -> Option<(WaitSite, u64)> {
        let sites = self.by_site.iter().filter(|(site, _)| site.kind == kind);
        sites.map(|(site, ns)| (*site, *ns)).max_by_key(|&(site, ns)| (ns, site))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Analysis;
    use crate::test_support::ReportBuilder;
    use WaitKind::{Network, Sleep};

    fn site(stack: &str) -> (WaitKind, String, Option<String>, Option<String>) {
        let report = ReportBuilder::new().running(1, 1_000).looper_tree(1, &[(stack, 50)]).build();
        let a = Analysis::new(&report);
        let profile = WaitProfile::new(&a.trees[0], &GapSums::default(), &a.frames);
        let (site, _) = *profile.by_site.iter().map(|(s, n)| (*s, *n)).collect::<Vec<_>>().first().unwrap();
        let name = |id| a.frames[id].short();
        (site.kind, name(site.at), site.binder_proxy.map(name), site.app.map(name))
    }

    #[test]
    fn classify_goes_by_what_the_app_called() {
        let binder = "com.shop.A.run android.app.ApplicationPackageManager.getPackageInfo \
                      android.content.pm.IPackageManager$Stub$Proxy.getPackageInfo \
                      android.os.BinderProxy.transact android.os.BinderProxy.transactNative!";
        let (kind, at, proxy, app) = site(binder);
        assert_eq!((kind, at.as_str()), (Binder, "BinderProxy.transactNative"));
        assert_eq!(proxy.unwrap(), "IPackageManager$Stub$Proxy.getPackageInfo");
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
        assert_eq!(of("com.shop.A.run java.util.HashMap.get"), WaitKind::Running);
    }

    #[test]
    fn classify_ignores_what_called_the_app() {
        // A callback out of a native wait: the app's frame is on top of it and runs.
        let stack = "java.io.FileInputStream.read com.shop.Filter.read com.shop.Filter.decode";
        assert_eq!(site(stack).0, WaitKind::Running);
    }
}
