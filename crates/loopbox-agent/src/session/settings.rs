//! The settings that Java passes at install.

use super::numbers::{NUMBERS, Numbers};
use crate::error::InstallError;
use loopbox_recorder::{Config, Keep, Sampling};
use std::path::PathBuf;

const MS: u64 = 1_000_000;

/// The settings of one recording.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(crate) api_level: u32,
    pub(crate) recorder: Config,
    pub(crate) sig_quit: bool,
    /// Whether reports leave out the names of threads that the platform did not start.
    pub(crate) redact_threads: bool,
    /// Whether a digest has the annotations.
    pub(crate) digest_annotations: bool,
    /// Whether a hook reports messages.
    pub(crate) hooked: bool,
    /// How long a message may run before it counts as a hang. Messages for which the
    /// system's time-out is longer than that of input, such as a service's, may run longer in proportion.
    pub(crate) hang_threshold_ns: u64,
    pub(crate) pending: PendingLimits,
    /// Whether Java is notified of each message under suspicion. Java then asks the system for its running
    /// system-wide trace.
    pub(crate) traces_hangs: bool,
    /// `None` where frames were not asked for.
    pub(crate) frames: Option<FrameSettings>,
    /// Where reports and the ring go.
    pub(crate) directory: PathBuf,
    /// Version name and code of the app, as the app gives them.
    pub(crate) app_version: String,
    /// The file that marks that the app has started. The worker removes the file five seconds after the
    /// installation. `None` where starts are not counted.
    pub(crate) start_mark: Option<PathBuf>,
    /// The file that switches the recorder off when it exists. Any process of the app can make it. `None`
    /// without a Context.
    pub(crate) kill_switch: Option<PathBuf>,
    /// Annotations of the app: names and values.
    pub(crate) annotations: Vec<(String, String)>,
}

/// Bounds on reading the message queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingLimits {
    pub(crate) lines: i32,
    pub(crate) bytes: i32,
    pub(crate) ms: i64,
    /// Whether a message's line keeps the text of its `obj`.
    pub(crate) keep_objects: bool,
    /// Whether the queue may be walked by reflection.
    pub(crate) walk: bool,
}

/// An app's configuration for its display frames.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameSettings {
    /// A frame that is shown for longer than this gets a record.
    pub(crate) jank_ns: u64,
    /// How many screens have separate figures.
    pub(crate) scenes: usize,
    /// Whether the sampler searches for what delays frames.
    pub(crate) stacks: bool,
    /// A stall is reported when it lasts for at least this number of frames at 60 Hz.
    pub(crate) skipped: u32,
    /// Whether Java has a listener of frames.
    pub(crate) has_listener: bool,
}

impl Settings {
    /// Reads `Settings.numbers` and `Settings.strings`. The strings are: the directory, the app version, the
    /// file that marks a start whose end is not known yet, the file of the kill switch, then names and values
    /// of annotations.
    ///
    /// # Errors
    /// When a setting is missing, or the recorder refuses one.
    pub fn read(numbers: &[i64; NUMBERS], strings: Vec<String>) -> Result<Self, InstallError> {
        Self::new(&numbers.into(), strings)
    }

    pub(crate) fn new(numbers: &Numbers, strings: Vec<String>) -> Result<Self, InstallError> {
        let recorder = Config {
            group_ns: numbers.group_ms.saturating_mul(MS),
            detail_ns: numbers.detail_ms.saturating_mul(MS),
            slots: numbers.slots,
            details_per_record: numbers.details_per_record,
            keep: if numbers.all_names { Keep::Names } else { Keep::ComponentsOnly },
            sampling: Sampling {
                enabled: numbers.sampling,
                onset_ns: numbers.sample_onset_ms.saturating_mul(MS),
                interval_ns: numbers.sample_interval_ms.saturating_mul(MS),
                once: numbers.sample_once,
                min_samples: numbers.min_samples,
                trees: numbers.trees,
                ..Sampling::default()
            },
            ..Config::default()
        };
        let mut strings = strings.into_iter();
        let directory =
            strings.next().filter(|directory| !directory.is_empty()).ok_or(InstallError::NoDirectory)?;
        let app_version = strings.next().unwrap_or_default();
        let mut file = || strings.next().filter(|path| !path.is_empty()).map(PathBuf::from);
        let (start_mark, kill_switch) = (file(), file());
        let mut annotations = Vec::new();
        while let (Some(name), Some(value)) = (strings.next(), strings.next()) {
            annotations.push((name, value));
        }
        Ok(Self {
            api_level: numbers.api_level,
            recorder: recorder.validated()?,
            sig_quit: numbers.sig_quit,
            pending: PendingLimits {
                lines: numbers.pending_lines.cast_signed(),
                bytes: numbers.pending_bytes.cast_signed(),
                ms: numbers.pending_ms.cast_signed(),
                keep_objects: numbers.keep_objects,
                walk: numbers.may_reflect,
            },
            hang_threshold_ns: numbers.hang_ms.saturating_mul(MS),
            traces_hangs: numbers.hang_trace_ms > 0,
            hooked: numbers.is_hooked,
            redact_threads: numbers.redact_thread_names,
            digest_annotations: numbers.digest_annotations,
            frames: numbers.frames.then(|| FrameSettings {
                jank_ns: numbers.jank_frame_ms.saturating_mul(MS),
                scenes: numbers.scenes as usize,
                stacks: numbers.jank_stacks,
                has_listener: numbers.frame_listener,
                skipped: numbers.skipped_frames,
            }),
            directory: directory.into(),
            app_version,
            start_mark,
            kill_switch,
            annotations,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn javas_defaults_are_the_recorders() {
        let strings = ["/data/app", "1.0 (1)", "", "", "user", "u1"].map(str::to_owned).to_vec();
        let settings = Settings::new(&Numbers::default(), strings).unwrap();
        assert_eq!(settings.recorder, Config::default());
        assert_eq!((settings.api_level, settings.sig_quit, settings.hooked), (29, true, true));
        assert_eq!(settings.annotations, [("user".to_owned(), "u1".to_owned())]);
        assert_eq!((settings.start_mark, settings.kill_switch), (None, None));
        assert!(!settings.pending.keep_objects);
        assert!(settings.frames.is_none());
        assert_eq!(settings.hang_threshold_ns, 5_000 * MS);
    }

    #[test]
    fn a_setting_that_the_recorder_refuses_is_named() {
        let refuse = |numbers: &Numbers| Settings::new(numbers, vec!["/x".into()]).unwrap_err().to_string();
        assert_eq!(
            refuse(&Numbers { detail_ms: 300, ..Numbers::default() }),
            "detail_ns is 300000000, must be less than group_ns (300000000)"
        );
        let no_strings = Settings::new(&Numbers::default(), vec![]);
        assert_eq!(no_strings.unwrap_err().to_string(), "no directory given");
        let refusal = Settings::read(&[-1; NUMBERS], vec!["/x".into()]).unwrap_err();
        assert!(refusal.to_string().starts_with("group_ns is 0"), "{refusal}");
    }
}
