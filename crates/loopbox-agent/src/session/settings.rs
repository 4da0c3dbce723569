//! The settings that Java passes at install.

use loopbox_recorder::{Config, Keep, Sampling};
use std::path::PathBuf;

const MS: u64 = 1_000_000;

/// The settings of one recording.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(crate) api_level: u32,
    pub(crate) recorder: Config,
    pub(crate) sig_quit: bool,
    /// Whether Java's listener hears of a first file.
    pub(crate) first_file: bool,
    /// Whether names of threads that the platform did not start stay out of reports.
    pub(crate) redact_threads: bool,
    /// Whether a hook tells of messages.
    pub(crate) hooked: bool,
    /// How long a message may run before it counts as a hang, when only input waits for it.
    pub(crate) hang_threshold_ns: u64,
    pub(crate) pending: PendingLimits,
    /// Where reports and the ring go.
    pub(crate) directory: PathBuf,
    /// Version name and code of the app, as the app gives them.
    pub(crate) app_version: String,
    /// The file that says that this start has not lasted yet; none where starts are not counted.
    pub(crate) start_mark: Option<PathBuf>,
    /// Annotations of the app: names and values.
    pub(crate) annotations: Vec<(String, String)>,
}

/// Bounds on printing the message queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingLimits {
    pub(crate) lines: i32,
    pub(crate) bytes: i32,
    pub(crate) ms: i64,
    /// Whether the text of `obj` stays in.
    pub(crate) keep_objects: bool,
    /// Whether the queue is walked by reflection instead of printed.
    pub(crate) walk: bool,
}

/// How many numbers `Settings.numbers` has.
pub const NUMBERS: usize = 21;

impl Settings {
    /// Reads `Settings.numbers` (the same order there and here) and `Settings.strings`: directory, app version,
    /// the start's mark, then names and values of annotations.
    ///
    /// # Errors
    /// A line for the log: which setting is missing, or which one the recorder refuses and why.
    pub fn read(numbers: &[i64; NUMBERS], strings: Vec<String>) -> Result<Self, String> {
        let number = |at: usize| numbers.get(at).map_or(0, |&number| u64::try_from(number).unwrap_or(0));
        let small = |at: usize| u32::try_from(number(at)).unwrap_or(u32::MAX);
        let recorder = Config {
            group_ns: number(1).saturating_mul(MS),
            detail_ns: number(2).saturating_mul(MS),
            slots: small(3),
            details_per_record: small(4),
            keep: if number(5) != 0 { Keep::Names } else { Keep::ComponentsOnly },
            sampling: Sampling {
                enabled: number(6) != 0,
                onset_ns: number(7).saturating_mul(MS),
                interval_ns: number(8).saturating_mul(MS),
                min_samples: small(9),
                trees: small(10),
                ..Sampling::default()
            },
            ..Config::default()
        };
        let mut strings = strings.into_iter();
        let directory =
            strings.next().filter(|directory| !directory.is_empty()).ok_or("no directory given")?;
        let app_version = strings.next().unwrap_or_default();
        let start_mark = strings.next().filter(|mark| !mark.is_empty()).map(PathBuf::from);
        let mut annotations = Vec::new();
        while let (Some(name), Some(value)) = (strings.next(), strings.next()) {
            annotations.push((name, value));
        }
        Ok(Self {
            api_level: small(0),
            recorder: recorder.validated().map_err(|error| error.to_string())?,
            sig_quit: number(11) != 0,
            pending: PendingLimits {
                lines: small(12).cast_signed(),
                bytes: small(13).cast_signed(),
                ms: number(14).cast_signed(),
                keep_objects: number(15) != 0,
                walk: number(16) != 0,
            },
            hang_threshold_ns: number(17).saturating_mul(MS),
            hooked: number(18) != 0,
            first_file: number(19) != 0,
            redact_threads: number(20) != 0,
            directory: directory.into(),
            app_version,
            start_mark,
            annotations,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defaults of `Config.Builder`.
    const DEFAULTS: [i64; NUMBERS] =
        [29, 300, 50, 100, 8, 1, 1, 50, 10, 95, 10, 1, 200, 65_536, 200, 0, 0, 5_000, 1, 0, 0];

    #[test]
    fn the_builders_defaults_are_the_recorders() {
        let strings = ["/data/app", "1.0 (1)", "", "user", "u1"].map(str::to_owned).to_vec();
        let settings = Settings::read(&DEFAULTS, strings).unwrap();
        assert_eq!(settings.recorder, Config::default());
        assert_eq!((settings.api_level, settings.sig_quit, settings.hooked), (29, true, true));
        assert_eq!(settings.annotations, [("user".to_owned(), "u1".to_owned())]);
        assert_eq!(settings.start_mark, None);
        assert!(!settings.pending.keep_objects);
        assert_eq!(settings.hang_threshold_ns, 5_000 * MS);
    }

    #[test]
    fn a_setting_that_the_recorder_refuses_is_named() {
        let mut numbers = DEFAULTS;
        numbers[2] = 300;
        let refusal = Settings::read(&numbers, vec!["/x".into()]).unwrap_err();
        assert_eq!(refusal, "detail_ns is 300000000, must be less than group_ns (300000000)");
        assert_eq!(Settings::read(&DEFAULTS, vec![]).unwrap_err(), "no directory given");
        let mut negative = DEFAULTS;
        negative[3] = -1;
        assert!(Settings::read(&negative, vec!["/x".into()]).unwrap_err().starts_with("slots is 0"));
    }
}
