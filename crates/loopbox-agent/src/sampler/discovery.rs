//! Finds ART, unless an earlier process died while it did so.

use super::suspended_call::{Job, KeptSymbols, call};
use crate::error::SamplerError;
use crate::jni::env::Env;
use crate::session::Session;
#[cfg(debug_assertions)]
use crate::sys::fault;
use crate::sys::proc;
use loopbox_art::{Art, Off, ThreadEnv};
use loopbox_store::{FuseSubject, RingFuse, count_start};

/// Android 8. For older releases nobody has read in the sources whether the self-check is safe, so it is not
/// tried there.
const FIRST_API_LEVEL: u32 = 26;

/// Whether the self-check may be tried, or why not.
fn check_release(api_level: u32) -> Result<(), Off> {
    if api_level < FIRST_API_LEVEL { Err(Off::UnknownArt("older than Android 8")) } else { Ok(()) }
}

/// Finds ART.
///
/// # Errors
/// Why native sampling does not work in this process.
pub(super) fn find_art(
    env: &mut Env<'_>,
    session: &Session,
    main: ThreadEnv,
    fuse: &RingFuse,
) -> Result<Art, SamplerError> {
    check_release(session.settings.api_level)?;
    // Whether an earlier process blew the fuse.
    session.previous_runs.wait();
    let settings = &session.settings;
    let process = proc::process_name();
    let subject =
        FuseSubject { process: &process, app_version: &settings.app_version, libart: session.libart };
    if let Some(fuse) = count_start(&settings.directory, &subject).map_err(SamplerError::FuseUnread)? {
        return Err(SamplerError::FuseBlown(fuse));
    }
    #[cfg(debug_assertions)]
    if fault::unknown_art() {
        return Err(Off::UnknownArt("a test asks for it").into());
    }
    let api_level = settings.api_level;
    let symbols = KeptSymbols { session };
    let mut job = Job::Discover { main, api_level, symbols, fuse: fuse.clone(), found: None };
    call(env, &mut job, |classes| classes.native_discover)?;
    match job {
        Job::Discover { found: Some(found), .. } => Ok(*found?),
        _ => Err(SamplerError::NotChecked),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_sampling_is_not_tried_before_android_8() {
        assert_eq!(check_release(FIRST_API_LEVEL), Ok(()));
        assert_eq!(check_release(99), Ok(()), "newer ones are for the self-check to decide");
        for api_level in [21, 25] {
            assert!(matches!(check_release(api_level), Err(Off::UnknownArt(_))));
        }
    }
}
