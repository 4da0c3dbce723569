//! A wait in native code: Java's stack ends at the native method, and the kernel reports what it waits for.

use crate::diagnose::cpu_wait::{NOT_MEASURED, measured_cpu_wait};
use crate::diagnose::dominant_wait::{called_from, short, uncovered};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::{TopFrame, WaitKind};
use crate::model::time::{format_ns, percent, share};
use crate::model::{FrameKind, MainThread, MainWaitKind};

const ADVICE: &str =
    "Name the native frames (loopbox symbolize), and call the native method from another thread.";

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let slow = facts.running()?;
    // The kernel was asked at the dump, and the stacks have to be of the same.
    if facts.primary_message()?.token != slow.token || slow.is_mostly_before_install(facts.analysis) {
        return None;
    }
    let (main, wait) = (facts.analysis.main_thread.as_ref()?, facts.analysis.main_wait()?);
    let profile = facts.profile.as_ref()?;
    let TopFrame { frame, ns, .. } = profile.top?;
    // What computes in native code may wait for a moment, too. What waited for a CPU computes as soon as it has one, and
    // the sampler has it stopped meanwhile (in a futex) longer than on other machines: a wait takes no CPU and wants none.
    let cpu = slow.cpu_share().filter(|cpu| *cpu < 0.3)?;
    let starved = measured_cpu_wait(facts, slow).map(|(part, _)| part);
    if starved.is_some_and(|starved| cpu + starved > 0.5) {
        return None;
    }
    let is_native = facts.analysis.frames[frame].kind == FrameKind::Native;
    let known_from_java = profile.share(WaitKind::Running) < 0.6;
    if !is_wait(wait.kind) || !is_native || known_from_java || share(ns, profile.total_ns) < 0.6 {
        return None;
    }
    if profile.total_ns < 300_000_000 {
        return None;
    }
    let (site, _) = profile.main_site(WaitKind::Running).filter(|(site, _)| site.at == frame)?;
    // The native method may be the app's own.
    let caller = if site.app == Some(frame) { String::new() } else { called_from(facts, site) };
    let title = format!(
        "{} waits in native code, in {}{caller}: it {}",
        slow.subject(),
        short(facts, frame),
        wait.text
    );
    let in_method = format!(
        "{} of the {} that its stacks cover are in this native method",
        percent(share(ns, profile.total_ns)),
        format_ns(profile.total_ns)
    );
    Some(
        Finding::new("native", facts.score(slow) + 0.05, title)
            .with_evidence(in_method)
            .with_evidence(format!("main was on the CPU for {} of the time", percent(cpu)))
            .with_all_evidence(native_frames(main))
            .at_most_medium(starved.is_none().then(|| NOT_MEASURED.to_owned()))
            .at_most_medium(uncovered(slow, profile))
            .with_advice(ADVICE)
            .with_message(slow.token)
            .with_culprit(site.app.or(Some(frame))),
    )
}

/// Whether the kernel names something that main waits for, and no event of a Looper: an idle main thread waits for that.
fn is_wait(kind: MainWaitKind) -> bool {
    use MainWaitKind::{Cpu, Looper, Runs, Stopped, Unknown};
    !matches!(kind, Looper | Unknown | Cpu | Runs | Stopped)
}

/// Whether a library has the functions around system calls: the C library of Android, or that of a testbed's machine.
fn is_system_call_stub(library: &str) -> bool {
    library.starts_with("libc.so") || library == "[vdso]"
}

/// The innermost native frame that is not the C library's, with its function if symbols have it.
fn native_frames(main: &MainThread) -> Option<String> {
    let native = main.native.as_ref()?;
    let mut named =
        native.frames.iter().filter_map(|frame| Some((frame, native.modules.get(frame.module?)?)));
    let (frame, module) = named.find(|(_, module)| !is_system_call_stub(module.file_name()))?;
    let function = frame.function().map_or_else(String::new, |function| format!("{} of ", function.name));
    Some(format!("native code: {function}{} at pc {:#x}", module.file_name(), frame.offset))
}
