//! A synchronous binder call that does not return: the hang is in the other process.

use super::super::Finding;
use super::super::facts::Facts;
use super::super::waits::Doing;
use super::{called_from, subject, waiting};

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let w = waiting(facts, Doing::Binder)?;
    let call = w.site.purpose.and_then(|frame| facts.a.frames.get(frame as usize));
    let call = match call {
        // The class that aidl makes: IPackageManager$Stub$Proxy.getPackageInfo is IPackageManager.getPackageInfo.
        Some(frame) => match frame.class.strip_suffix("$Stub$Proxy") {
            Some(interface) => {
                format!("{}.{}", interface.rsplit('.').next().unwrap_or_default(), frame.method)
            }
            None => frame.short(),
        },
        None => "an unnamed call".into(),
    };
    let title = format!("{} waits for a binder call, {call}{}", subject(w.slow), called_from(facts, w.site));
    Some(
        Finding::new("binder", w.score, title)
            .because_of(w.evidence)
            .advise(
                "The other process is slow or stuck: see its stacks in the system's ANR trace, and make the call \
                 from another thread.",
            )
            .about(w.slow.token)
            .blames(w.site.app.or(w.site.purpose)),
    )
}
