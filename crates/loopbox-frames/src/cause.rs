//! The main cause of a slow frame.

use crate::interval::RefreshInterval;
use crate::stages::StageReport;
use loopbox_format::model::{FrameCause, Stage};

/// Two refreshes of the display. At 60 Hz this is Taobao's threshold, 1/30 s or 33.3 ms.
pub const fn default_threshold_ns(interval: RefreshInterval) -> u64 {
    2 * interval.ns()
}

/// The stages that can be a cause: all except the GPU's tail, in the order that breaks ties.
const CANDIDATES: [(Stage, FrameCause); 9] = [
    (Stage::UnknownDelay, FrameCause::UnknownDelay),
    (Stage::Input, FrameCause::Input),
    (Stage::Animation, FrameCause::Animation),
    (Stage::LayoutMeasure, FrameCause::LayoutMeasure),
    (Stage::Draw, FrameCause::Draw),
    (Stage::RenderWait, FrameCause::RenderWait),
    (Stage::Sync, FrameCause::Sync),
    (Stage::CommandIssue, FrameCause::CommandIssue),
    (Stage::SwapBuffers, FrameCause::SwapBuffers),
];

/// The main cause of a frame; `None` for one that was not slow.
///
/// A frame is slow when its total is above the threshold. Its main cause is the longest stage, if that stage
/// takes more than half of the threshold (Taobao's article: "when one stage takes more than half of it"). Of
/// two equally long stages, the earlier one is the cause; Taobao does not define this case. The wait for the
/// render thread is a stage here, which Taobao does not consider. If this wait is not known exactly and may
/// be the longest stage, the cause is [`FrameCause::Unattributed`].
///
/// The GPU works in parallel to the stages and is not a stage. It is the cause when it took more than half of
/// the threshold and no stage is known to have taken more than half.
pub fn main_cause(report: &StageReport, threshold_ns: u64) -> Option<FrameCause> {
    if report.total_ns <= threshold_ns {
        return None;
    }
    // Above the half that is cut means above the half.
    let mut longest = (FrameCause::None, threshold_ns / 2);
    for (stage, cause) in CANDIDATES {
        let ns = report.stage(stage);
        if ns > longest.1 {
            longest = (cause, ns);
        }
    }
    // Where the tail is not exact, the wait may be longer than what is certain of it.
    let beyond = report.unattributed_ns();
    if !report.tail_is_exact && beyond > longest.1 && longest.0 != FrameCause::RenderWait {
        longest.0 = FrameCause::Unattributed;
    }
    let gpu_is = matches!(longest.0, FrameCause::None | FrameCause::Unattributed);
    if gpu_is && report.gpu_ns.is_some_and(|gpu| gpu > threshold_ns / 2) {
        return Some(FrameCause::Gpu);
    }
    Some(longest.0)
}
