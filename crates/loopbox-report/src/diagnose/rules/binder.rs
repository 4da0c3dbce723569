//! A synchronous binder call that does not return: the hang is in the other process.

use crate::diagnose::dominant_wait::{called_from, dominant_wait};
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::Finding;
use crate::diagnose::wait_kind::WaitKind;
use crate::model::framework::AIDL_PROXY;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let w = dominant_wait(facts, WaitKind::Binder)?;
    let call = match w.site.binder_proxy.map(|frame| &facts.analysis.frames[frame]) {
        // The proxy class that aidl generates: IPackageManager$Stub$Proxy.getPackageInfo calls
        // IPackageManager.getPackageInfo.
        Some(frame) => match frame.class.strip_suffix(AIDL_PROXY) {
            Some(interface) => {
                format!("{}.{}", interface.rsplit('.').next().unwrap_or(interface), frame.method)
            }
            None => frame.short(),
        },
        None => "an unnamed call".into(),
    };
    let title = format!("{} waits for a binder call, {call}{}", w.slow.subject(), called_from(facts, w.site));
    Some(
        Finding::new("binder", w.score, title)
            .with_all_evidence(w.evidence)
            .at_most_medium(w.unknown)
            .with_share(w.share)
            .with_advice(
                "The other process is slow or stuck: see its stacks in the system's ANR trace, and make the call \
                 from another thread.",
            )
            .with_message(w.slow.token)
            .with_culprit(w.site.app.or(w.site.binder_proxy)),
    )
}
