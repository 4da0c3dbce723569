//! The SIGQUIT feature's state, as reports and `Status` show it.

use super::other_handler;
use super::sigquit::{self, HandlerState};
use crate::session::Session;
use loopbox_format::model::Feature;

/// The detail while our handler is called first.
pub(crate) const HANDLED: &str = "handled on the main thread";

/// The detail while our handler is called first and another library has a handler, too.
const SHARED: &str = "handled on the main thread, then by another library's handler";

/// Checks how SIGQUIT reaches us and updates the feature. Returns whether it has changed.
pub(crate) fn update_handler_feature(session: &Session) -> bool {
    let (on, how) = match sigquit::check_handler() {
        HandlerState::NotInstalled => return false,
        HandlerState::Installed { shared: false } => (true, HANDLED),
        HandlerState::Installed { shared: true } => (true, SHARED),
        HandlerState::Chained => (true, "another library's SIGQUIT handler is installed in front of ours"),
        HandlerState::Ignored => (false, "another library ignores SIGQUIT (SIG_IGN) for the process"),
        HandlerState::Blocked => (false, "another library has blocked SIGQUIT on the main thread"),
    };
    let mut detail = how.to_owned();
    let [defaults, ignores, blocks] = sigquit::repairs();
    let causes = [
        ("; put back from the default action: ", defaults),
        ("; put back from being ignored: ", ignores),
        ("; unblocked again: ", blocks),
        ("; another library's handler was gone with its library: ", other_handler::gone()),
        ("; another library's handler may have been gone, and was left out: ", other_handler::unknown()),
    ];
    for (cause, times) in causes.iter().filter(|(_, times)| *times > 0) {
        detail.push_str(cause);
        detail.push_str(&times.to_string());
    }
    session.features.update(Feature::SigQuit, on, detail)
}
