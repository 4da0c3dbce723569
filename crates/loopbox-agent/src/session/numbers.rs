//! The numbers that Java gives at install, read in its order.

// Made from jni-glue/options.toml: numbers
/// How many numbers `Settings.numbers` has.
pub const NUMBERS: usize = 29;

/// The numbers of `Settings.numbers`.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
pub(crate) struct Numbers {
    pub(crate) api_level: u32,
    pub(crate) pending_bytes: u32,
    pub(crate) may_reflect: bool,
    pub(crate) is_hooked: bool,
    pub(crate) frames: bool,
    pub(crate) frame_listener: bool,
    pub(crate) jank_stacks: bool,
    pub(crate) jank_frame_ms: u64,
    pub(crate) skipped_frames: u32,
    pub(crate) scenes: u32,
    pub(crate) group_ms: u64,
    pub(crate) detail_ms: u64,
    pub(crate) slots: u32,
    pub(crate) details_per_record: u32,
    pub(crate) sampling: bool,
    pub(crate) sample_onset_ms: u64,
    pub(crate) sample_interval_ms: u64,
    pub(crate) sample_once: bool,
    pub(crate) min_samples: u32,
    pub(crate) trees: u32,
    pub(crate) all_names: bool,
    pub(crate) sig_quit: bool,
    pub(crate) hang_ms: u64,
    pub(crate) pending_lines: u32,
    pub(crate) pending_ms: u64,
    pub(crate) keep_objects: bool,
    pub(crate) redact_thread_names: bool,
    pub(crate) digest_annotations: bool,
    pub(crate) hang_trace_ms: u64,
}

impl From<&[i64; NUMBERS]> for Numbers {
    fn from(numbers: &[i64; NUMBERS]) -> Self {
        let &[
            api_level,
            pending_bytes,
            may_reflect,
            is_hooked,
            frames,
            frame_listener,
            jank_stacks,
            jank_frame_ms,
            skipped_frames,
            scenes,
            group_ms,
            detail_ms,
            slots,
            details_per_record,
            sampling,
            sample_onset_ms,
            sample_interval_ms,
            sample_once,
            min_samples,
            trees,
            all_names,
            sig_quit,
            hang_ms,
            pending_lines,
            pending_ms,
            keep_objects,
            redact_thread_names,
            digest_annotations,
            hang_trace_ms,
        ] = numbers;
        Self {
            api_level: small(api_level),
            pending_bytes: small(pending_bytes),
            may_reflect: may_reflect != 0,
            is_hooked: is_hooked != 0,
            frames: frames != 0,
            frame_listener: frame_listener != 0,
            jank_stacks: jank_stacks != 0,
            jank_frame_ms: large(jank_frame_ms),
            skipped_frames: small(skipped_frames),
            scenes: small(scenes),
            group_ms: large(group_ms),
            detail_ms: large(detail_ms),
            slots: small(slots),
            details_per_record: small(details_per_record),
            sampling: sampling != 0,
            sample_onset_ms: large(sample_onset_ms),
            sample_interval_ms: large(sample_interval_ms),
            sample_once: sample_once != 0,
            min_samples: small(min_samples),
            trees: small(trees),
            all_names: all_names != 0,
            sig_quit: sig_quit != 0,
            hang_ms: large(hang_ms),
            pending_lines: small(pending_lines),
            pending_ms: large(pending_ms),
            keep_objects: keep_objects != 0,
            redact_thread_names: redact_thread_names != 0,
            digest_annotations: digest_annotations != 0,
            hang_trace_ms: large(hang_trace_ms),
        }
    }
}

#[cfg(test)]
impl Default for Numbers {
    fn default() -> Self {
        Self {
            api_level: 29,
            pending_bytes: 65_536,
            may_reflect: true,
            is_hooked: true,
            frames: false,
            frame_listener: false,
            jank_stacks: true,
            jank_frame_ms: 34,
            skipped_frames: 30,
            scenes: 16,
            group_ms: 300,
            detail_ms: 50,
            slots: 100,
            details_per_record: 8,
            sampling: true,
            sample_onset_ms: 50,
            sample_interval_ms: 10,
            sample_once: false,
            min_samples: 95,
            trees: 10,
            all_names: true,
            sig_quit: true,
            hang_ms: 5_000,
            pending_lines: 200,
            pending_ms: 200,
            keep_objects: false,
            redact_thread_names: false,
            digest_annotations: false,
            hang_trace_ms: 0,
        }
    }
}
// End of what is made from jni-glue/options.toml

/// Converts a number. A negative one becomes 0, which is outside of all bounds.
fn large(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn small(number: i64) -> u32 {
    u32::try_from(large(number)).unwrap_or(u32::MAX)
}
