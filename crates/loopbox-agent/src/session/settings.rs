//! The settings that Java passes at install.

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
    /// Whether Java's listener hears of a first file.
    pub(crate) first_file: bool,
    /// Whether names of threads that the platform did not start stay out of reports.
    pub(crate) redact_threads: bool,
    /// Whether a hook reports messages.
    pub(crate) hooked: bool,
    /// How long a message may run before it counts as a hang, when only input waits for it.
    pub(crate) hang_threshold_ns: u64,
    pub(crate) pending: PendingLimits,
    /// `None` where they were not asked for.
    pub(crate) frames: Option<FrameSettings>,
    /// Where reports and the ring go.
    pub(crate) directory: PathBuf,
    /// Version name and code of the app, as the app gives them.
    pub(crate) app_version: String,
    /// The file that says that this start has not lasted yet; none where starts are not counted.
    pub(crate) start_mark: Option<PathBuf>,
    /// Annotations of the app: names and values.
    pub(crate) annotations: Vec<(String, String)>,
}

/// Bounds on reading the message queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingLimits {
    pub(crate) lines: i32,
    pub(crate) bytes: i32,
    pub(crate) ms: i64,
    /// Whether the text of `obj` stays in.
    pub(crate) keep_objects: bool,
    /// Whether the queue may be walked by reflection.
    pub(crate) walk: bool,
}

/// What an app wants of its display frames.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameSettings {
    /// A frame that stands longer has a record.
    pub(crate) jank_ns: u64,
    /// How many screens have figures of their own.
    pub(crate) scenes: usize,
    /// Whether the sampler looks for what keeps frames from coming.
    pub(crate) stacks: bool,
    /// How many frames of 60 Hz one stall must drop to be reported.
    pub(crate) skipped: u32,
    /// Whether Java has a listener of frames.
    pub(crate) hears: bool,
}

/// The numbers of `Settings.numbers` in its order, each by the name that it has there.
#[derive(Debug, Clone, Copy)]
enum Number {
    ApiLevel,
    GroupMs,
    DetailMs,
    Slots,
    DetailsPerRecord,
    AllNames,
    Sampling,
    SampleOnsetMs,
    SampleIntervalMs,
    SampleOnce,
    MinSamples,
    Trees,
    SigQuit,
    PendingLines,
    PendingBytes,
    PendingMs,
    KeepObjects,
    MayReflect,
    HangMs,
    IsHooked,
    HearsFirst,
    RedactThreadNames,
    Frames,
    JankFrameMs,
    Scenes,
    JankStacks,
    Listener,
    SkippedFrames,
}

/// How many numbers `Settings.numbers` has.
pub const NUMBERS: usize = Number::SkippedFrames as usize + 1;

impl Settings {
    /// Reads `Settings.numbers` (the same order there and here) and `Settings.strings`: directory, app version,
    /// the start's mark, then names and values of annotations.
    ///
    /// # Errors
    /// When a setting is missing, or the recorder refuses one.
    pub fn read(numbers: &[i64; NUMBERS], strings: Vec<String>) -> Result<Self, InstallError> {
        let number =
            |at: Number| numbers.get(at as usize).map_or(0, |&number| u64::try_from(number).unwrap_or(0));
        let small = |at: Number| u32::try_from(number(at)).unwrap_or(u32::MAX);
        let recorder = Config {
            group_ns: number(Number::GroupMs).saturating_mul(MS),
            detail_ns: number(Number::DetailMs).saturating_mul(MS),
            slots: small(Number::Slots),
            details_per_record: small(Number::DetailsPerRecord),
            keep: if number(Number::AllNames) != 0 { Keep::Names } else { Keep::ComponentsOnly },
            sampling: Sampling {
                enabled: number(Number::Sampling) != 0,
                onset_ns: number(Number::SampleOnsetMs).saturating_mul(MS),
                interval_ns: number(Number::SampleIntervalMs).saturating_mul(MS),
                once: number(Number::SampleOnce) != 0,
                min_samples: small(Number::MinSamples),
                trees: small(Number::Trees),
                ..Sampling::default()
            },
            ..Config::default()
        };
        let mut strings = strings.into_iter();
        let directory =
            strings.next().filter(|directory| !directory.is_empty()).ok_or(InstallError::NoDirectory)?;
        let app_version = strings.next().unwrap_or_default();
        let start_mark = strings.next().filter(|mark| !mark.is_empty()).map(PathBuf::from);
        let mut annotations = Vec::new();
        while let (Some(name), Some(value)) = (strings.next(), strings.next()) {
            annotations.push((name, value));
        }
        Ok(Self {
            api_level: small(Number::ApiLevel),
            recorder: recorder.validated()?,
            sig_quit: number(Number::SigQuit) != 0,
            pending: PendingLimits {
                lines: small(Number::PendingLines).cast_signed(),
                bytes: small(Number::PendingBytes).cast_signed(),
                ms: number(Number::PendingMs).cast_signed(),
                keep_objects: number(Number::KeepObjects) != 0,
                walk: number(Number::MayReflect) != 0,
            },
            hang_threshold_ns: number(Number::HangMs).saturating_mul(MS),
            hooked: number(Number::IsHooked) != 0,
            first_file: number(Number::HearsFirst) != 0,
            redact_threads: number(Number::RedactThreadNames) != 0,
            frames: (number(Number::Frames) != 0).then(|| FrameSettings {
                jank_ns: number(Number::JankFrameMs).saturating_mul(MS),
                scenes: small(Number::Scenes) as usize,
                stacks: number(Number::JankStacks) != 0,
                hears: number(Number::Listener) != 0,
                skipped: small(Number::SkippedFrames),
            }),
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

    const JAVA: &str = include_str!("../../../../jni-glue/java/io/loopbox/internal/Settings.java");

    /// The name that each number of `Settings.numbers` has in Java: the last one of its expression, `jankFrameMs` of
    /// `frames != null ? frames.jankFrameMs : 0`.
    fn java_names() -> Vec<&'static str> {
        let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase()) && *word != "null";
        let name =
            |expression: &'static str| expression.split(|c: char| !c.is_ascii_alphanumeric()).rfind(is_name);
        let (_, list) = JAVA.split_once("return new long[] {").unwrap();
        let (list, _) = list.split_once("};").unwrap();
        list.split(",\n").filter_map(name).collect()
    }

    /// What the fields of Java's `Settings` begin with, as numbers.
    fn defaults() -> [i64; NUMBERS] {
        let field = |name: &str| {
            let is_it = |line: &&str| {
                let declared = line.trim().strip_prefix("public ").and_then(|rest| rest.split_once(' '));
                declared.is_some_and(|(_, rest)| rest.split([' ', ';']).next() == Some(name))
            };
            let line = JAVA.lines().find(is_it)?;
            Some(line.split_once(" = ").map_or("0", |(_, value)| value.trim_end_matches(';')))
        };
        let number = |name: &str| match (name, field(name)) {
            ("apiLevel", _) => 29,
            ("isHooked", _) | (_, Some("true")) => 1,
            (_, Some("false") | None) => 0,
            (_, Some(value)) => value
                .split(" << ")
                .map(|number| number.replace('_', "").parse().unwrap())
                .reduce(|number: i64, by| number << by)
                .unwrap(),
        };
        let all: Vec<i64> = java_names().into_iter().map(number).collect();
        all.try_into().unwrap()
    }

    #[test]
    fn numbers_are_read_in_the_order_that_java_writes_them_in() {
        let (_, list) = include_str!("settings.rs").split_once("enum Number {").unwrap();
        let (list, _) = list.split_once('}').unwrap();
        let own: Vec<String> = list
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .map(|name| name[..1].to_lowercase() + &name[1..])
            .collect();
        assert_eq!(own, java_names());
        assert_eq!(own.len(), NUMBERS);
    }

    #[test]
    fn javas_defaults_are_the_recorders() {
        let strings = ["/data/app", "1.0 (1)", "", "user", "u1"].map(str::to_owned).to_vec();
        let settings = Settings::read(&defaults(), strings).unwrap();
        assert_eq!(settings.recorder, Config::default());
        assert_eq!((settings.api_level, settings.sig_quit, settings.hooked), (29, true, true));
        assert_eq!(settings.annotations, [("user".to_owned(), "u1".to_owned())]);
        assert_eq!(settings.start_mark, None);
        assert!(!settings.pending.keep_objects);
        assert!(settings.frames.is_none());
        assert_eq!(settings.hang_threshold_ns, 5_000 * MS);
    }

    #[test]
    fn a_setting_that_the_recorder_refuses_is_named() {
        let mut numbers = defaults();
        numbers[Number::DetailMs as usize] = 300;
        let refusal = Settings::read(&numbers, vec!["/x".into()]).unwrap_err();
        assert_eq!(refusal.to_string(), "detail_ns is 300000000, must be less than group_ns (300000000)");
        assert_eq!(Settings::read(&defaults(), vec![]).unwrap_err().to_string(), "no directory given");
        let mut negative = defaults();
        negative[Number::Slots as usize] = -1;
        let refusal = Settings::read(&negative, vec!["/x".into()]).unwrap_err();
        assert!(refusal.to_string().starts_with("slots is 0"), "{refusal}");
    }
}
