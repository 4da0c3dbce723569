//! Why something does not work: every error of this crate and its text, in one place.

use loopbox_art::{Off, Phase};
use loopbox_format::codec::CodecError;
use loopbox_recorder::ConfigError;
use loopbox_store::BlownFuse;
use std::io;

/// Why there is no recording. Its text is what `Status` and the app's log say.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// A recording is running already.
    #[error("already installed")]
    AlreadyInstalled,
    /// `JNI_OnLoad` was not called.
    #[error("the library is not loaded")]
    NotLoaded,
    /// The Java part passes settings in another form than this library reads.
    #[error("the Java classes and libloopbox.so are of different versions; take both from the same AAR")]
    OtherVersion,
    /// The settings name no directory for reports.
    #[error("no directory given")]
    NoDirectory,
    /// A setting that the recorder cannot work with.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The process cannot get another descriptor.
    #[error("cannot create an eventfd: {0}")]
    NoEventFd(io::Error),
    /// The process cannot start another thread.
    #[error("cannot create a thread: {0}")]
    NoThread(io::Error),
}

/// Why the native sampler is off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SamplerError {
    #[error(transparent)]
    Art(#[from] Off),
    /// An earlier process ended in the middle of something dangerous.
    #[error("fuse blown, an earlier process ended in phase {}; starts until the next try: {}", phase(.0), .0.starts_left)]
    FuseBlown(BlownFuse),
    /// It is unknown whether an earlier process ended in the middle of something dangerous.
    #[error("cannot read the fuse: {0}")]
    FuseUnread(io::Error),
    #[error("the library is not loaded")]
    NotLoaded,
    #[error("the call through Java failed")]
    CallFailed,
    #[error("the self-check did not run")]
    NotChecked,
    #[error("cannot create a thread: {0}")]
    NoThread(io::Error),
    #[error("cannot create the dead-man thread: {0}")]
    NoDeadman(io::Error),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "thiserror passes fields by reference")]
fn phase(fuse: &BlownFuse) -> &'static str {
    Phase::from_mark(u32::from(fuse.phase)).map_or("unknown", Phase::name)
}

impl SamplerError {
    /// Stable short code, by which logs can be searched.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Art(off) => off.code(),
            Self::FuseBlown(_) => "fuse-blown",
            Self::FuseUnread(_) => "fuse-unread",
            Self::NotLoaded => "not-loaded",
            Self::CallFailed => "call-failed",
            Self::NotChecked => "not-checked",
            Self::NoThread(_) => "no-thread",
            Self::NoDeadman(_) => "no-deadman",
        }
    }
}

/// Why there is no report file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error(transparent)]
    Encode(#[from] CodecError),
    #[error(transparent)]
    Write(#[from] io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blown_fuse_names_the_phase_and_the_starts_left() {
        let known = SamplerError::FuseBlown(BlownFuse { phase: 1, starts_left: 4 });
        let phase = Phase::from_mark(1).unwrap().name();
        let expected =
            format!("fuse blown, an earlier process ended in phase {phase}; starts until the next try: 4");
        assert_eq!((known.to_string(), known.code()), (expected, "fuse-blown"));
        let unknown = SamplerError::FuseBlown(BlownFuse { phase: 99, starts_left: 1 }).to_string();
        assert!(unknown.contains("in phase unknown;"), "{unknown}");
    }

    #[test]
    fn errors_of_art_keep_their_code_and_text() {
        let error = SamplerError::from(Off::UnknownArt("older than Android 8"));
        assert_eq!(
            (error.code(), error.to_string()),
            ("unknown-art", "unknown ART: older than Android 8".into())
        );
    }
}
