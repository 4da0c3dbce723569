//! A wait in native code: Java's stack ends at the native method, and the kernel reports what main waits for.

use crate::diagnose::account::account;
use crate::diagnose::cpu_wait::{NOT_MEASURED, measured_cpu_wait};
use crate::diagnose::dominant_wait::{called_from, dominant_wait, short, uncovered};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::{TopFrame, WaitKind};
use crate::model::framework::NativeService;
use crate::model::time::{format_ns, percent, share};
use crate::model::{FrameKind, MainThread};

const ADVICE: &str =
    "Name the native frames (loopbox symbolize), and call the native method from another thread.";

/// Native code that is known to wait for another thread or process. This rule needs no data from the kernel.
pub(super) fn find_service(facts: &Facts<'_>) -> Option<Finding> {
    let services = facts.profile.as_ref()?.waits().map(|(kind, _)| kind);
    let services: Vec<WaitKind> = services.filter(|kind| matches!(kind, WaitKind::Native(_))).collect();
    let found = services.into_iter().filter_map(|kind| dominant_wait(facts, kind));
    let w = found.max_by(|a, b| a.score.total_cmp(&b.score))?;
    let WaitKind::Native(service) = w.site.kind else { return None };
    let title = format!(
        "{} waits for {}, in {}{}",
        w.slow.subject(),
        service.noun(),
        short(facts, w.site.at),
        called_from(facts, w.site)
    );
    Some(
        Finding::new("native", w.score, title)
            .with_all_evidence(w.evidence)
            .at_most_medium(w.unknown)
            .with_share(w.share)
            .with_advice(advice(service))
            .with_message(w.slow.token)
            .with_culprit(w.site.app.or(Some(w.site.at))),
    )
}

fn advice(service: NativeService) -> &'static str {
    match service {
        NativeService::Audio | NativeService::Codec | NativeService::Camera => {
            "Create, stop and release players, codecs and cameras on a separate thread: the system's media and audio \
             processes answer when they can."
        }
        NativeService::Renderer => {
            "The render thread is behind: see its stack and the frames' stages; less to draw, smaller bitmaps and layers."
        }
        NativeService::Flutter => {
            "Flutter's engine waits for its own threads: see its ui and raster threads, and what the app calls over \
             platform channels."
        }
        NativeService::WebView => {
            "WebView starts its own processes and threads when it is used first: do that early, once, and not while a user \
             waits; see the native frames (loopbox symbolize)."
        }
    }
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    // The kernel was asked at the dump, and the stacks have to be of the same.
    let slow = facts.primary_message().filter(|slow| slow.running)?;
    if slow.is_mostly_before_install(facts.analysis) {
        return None;
    }
    let (main, wait) = (facts.analysis.main_thread.as_ref()?, facts.analysis.main_wait()?);
    let profile = facts.profile.as_ref()?;
    let TopFrame { frame, ns, .. } = profile.top?;
    // What computes in native code may wait for a moment, too. What waited for a CPU computes as soon as it
    // has one, and the sampler has it stopped meanwhile (in a futex) longer than on other machines: a wait
    // takes no CPU and wants none.
    let cpu = slow.cpu_share().filter(|cpu| *cpu < 0.3)?;
    let starved = measured_cpu_wait(facts, slow).map(|(part, _)| part);
    if starved.is_some_and(|starved| cpu + starved > 0.5) {
        return None;
    }
    let is_native = facts.analysis.frames[frame].kind == FrameKind::Native;
    let known_from_java = profile.share(WaitKind::Running) < 0.6;
    if !wait.kind.is_specific() || !is_native || known_from_java || share(ns, profile.total_ns) < 0.6 {
        return None;
    }
    if profile.total_ns < 300_000_000 {
        return None;
    }
    // What the kernel says is of the newest stack.
    if profile.newest.is_none_or(|newest| newest.top != frame) {
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
            .with_share(share(ns, profile.total_ns) * account(facts)?.own_share())
            .at_most_medium(starved.is_none().then(|| NOT_MEASURED.to_owned()))
            .at_most_medium(uncovered(facts, slow, profile))
            .with_advice(ADVICE)
            .with_message(slow.token)
            .with_culprit(site.app.or(Some(frame))),
    )
}

/// Whether a library contains the functions around system calls: the C library of Android or of a testbed's
/// machine, or the vDSO.
fn is_system_call_stub(library: &str) -> bool {
    library.starts_with("libc.so") || library == "[vdso]"
}

/// The innermost native frame outside of the C library, with its function if symbols name it.
fn native_frames(main: &MainThread) -> Option<String> {
    let native = main.native.as_ref()?;
    let mut named =
        native.frames.iter().filter_map(|frame| Some((frame, native.modules.get(frame.module?)?)));
    let (frame, module) = named.find(|(_, module)| !is_system_call_stub(module.file_name()))?;
    let function = frame.function().map_or_else(String::new, |function| format!("{} of ", function.name));
    Some(format!("native code: {function}{} at pc {:#x}", module.file_name(), frame.offset))
}
