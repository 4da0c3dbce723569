//! The processed profile format of the Firefox profiler (profiler.firefox.com): the main thread with its
//! sampled stacks, and the messages as markers.

use super::slice::Slice;
use super::timeline::Timeline;
use crate::model::time::ms;
use crate::model::{Analysis, CodeOwner, Frame, FrameKind, SampledTree};
use crate::render::write_json;
use fxprof_processed_profile as fx;
use loopbox_format::model::{Breadcrumb, Uptime};
use std::io::{self, Write};

pub(super) fn write(a: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let timeline = Timeline::new(a);
    let origin_ns = timeline.start_ns(&a.trees);
    let mut profile = build(a, &timeline, origin_ns);
    profile.set_symbolicated(true);
    let mut profile = serde_json::to_value(&profile)?;
    // Without these the profiler shows the time that has samples, and nothing of the history before.
    profile["meta"]["profilingStartTime"] = 0.into();
    profile["meta"]["profilingEndTime"] = ms(end_ns(a, &timeline).since(origin_ns)).into();
    write_json(&mut *out, &profile)?;
    out.write_all(b"\n")
}

/// How far the profile extends after the dump for messages that are due later: a message due an hour later
/// would compress everything else.
const MAX_AFTER_NS: u64 = 10_000_000_000;

/// The end of the visible time.
fn end_ns(a: &Analysis, timeline: &Timeline) -> Uptime {
    let slices = timeline.messages.iter().chain(&timeline.records).chain(&timeline.pending);
    let shown = a.dump_ns.plus(MAX_AFTER_NS);
    let ends = slices.map(|slice| slice.end_ns).filter(|end| *end <= shown);
    let samples = a.trees.iter().filter_map(|tree| tree.sample_ns.last().copied());
    ends.chain(samples).fold(a.dump_ns, Uptime::max)
}

fn build(a: &Analysis, timeline: &Timeline, origin_ns: Uptime) -> fx::Profile {
    let at = |at: Uptime| fx::Timestamp::from_nanos_since_reference(at.since(origin_ns));
    let unix_ms = a.wall_clock().unix_ms(origin_ns).unwrap_or_default();
    let interval_ns = a.meta.limits.sample_interval_ns.clamp(1_000_000, 1_000_000_000);
    let mut profile = fx::Profile::new(
        &a.meta.process.name,
        fx::ReferenceTimestamp::from_millis_since_unix_epoch(unix_ms as f64),
        fx::SamplingInterval::from_nanos(interval_ns),
    );
    profile.set_os_name(&format!("Android API {}", a.meta.process.api_level));
    let process = profile.add_process(&a.meta.process.name, a.meta.process.pid, at(origin_ns));
    let thread = profile.add_thread(process, a.meta.process.pid, at(origin_ns), true);
    profile.set_thread_name(thread, "main");
    profile.set_thread_show_markers_in_timeline(thread, true);
    profile.add_initial_visible_thread(thread);
    profile.add_initial_selected_thread(thread);

    let categories = Categories::add(&mut profile);
    let frames: Vec<fx::FrameHandle> = a
        .frames
        .iter()
        .map(|frame| {
            let label = fx::Frame::Label(profile.intern_string(&frame.full()));
            let category_pair = categories.of(frame).into();
            profile.intern_frame(
                thread,
                fx::FrameInfo { frame: label, category_pair, flags: fx::FrameFlags::empty() },
            )
        })
        .collect();
    let mut not_before = origin_ns;
    for tree in &a.trees {
        samples(&mut profile, thread, &frames, tree, not_before, &at, interval_ns);
        not_before = not_before.max(tree.sample_ns.last().copied().unwrap_or_default());
    }
    for (kind, slices) in [
        ("Message", &timeline.messages),
        ("History", &timeline.records),
        ("Pending", &timeline.pending),
        ("Frame", &timeline.frames.actual),
    ] {
        for slice in slices {
            let marker = SliceMarker::new(&mut profile, kind, slice);
            let timing = fx::MarkerTiming::Interval(at(slice.start_ns), at(slice.end_ns));
            profile.add_marker(thread, timing, marker);
        }
    }
    // The profile's clock begins with what it shows.
    for Breadcrumb { at_ns, name } in a.breadcrumbs.iter().filter(|one| one.at_ns >= origin_ns) {
        let slice = Slice { name: name.clone(), start_ns: *at_ns, end_ns: *at_ns, facts: Vec::new() };
        let marker = SliceMarker::new(&mut profile, "Breadcrumb", &slice);
        profile.add_marker(thread, fx::MarkerTiming::Instant(at(*at_ns)), marker);
    }
    profile
}

/// Adds a sample for each stack of a tree. A sample's weight is the number of base intervals that it
/// represents, because long messages are sampled at doubled intervals. An empty sample ends the tree.
fn samples(
    profile: &mut fx::Profile,
    thread: fx::ThreadHandle,
    frames: &[fx::FrameHandle],
    tree: &SampledTree,
    not_before: Uptime,
    at: &impl Fn(Uptime) -> fx::Timestamp,
    interval_ns: u64,
) {
    let mut stacks: Vec<fx::StackHandle> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let parent = node.parent.map(|parent| stacks[parent as usize]);
        stacks.push(profile.intern_stack(thread, parent, frames[node.frame.index()]));
    }
    let mut stack_of_sample = vec![None; tree.samples() as usize];
    for run in tree.stack_runs() {
        stack_of_sample[run.start as usize..run.end as usize].fill(Some(stacks[run.top as usize]));
    }
    for (sample, stack) in stack_of_sample.into_iter().enumerate() {
        let span_ns = tree.span_ns(sample as u32, sample as u32 + 1);
        let weight =
            i32::try_from(span_ns.saturating_add(interval_ns / 2) / interval_ns).unwrap_or(i32::MAX).max(1);
        // The CPU time of a single sample is not known, and a delta of zero would be drawn as idle.
        let cpu = fx::CpuDelta::from_nanos(span_ns.min(interval_ns.saturating_mul(weight as u64)));
        profile.add_sample(thread, at(tree.sample_ns[sample].max(not_before)), stack, cpu, weight);
    }
    if let Some(&end) = tree.sample_ns.last() {
        profile.add_sample(thread, at(end.max(not_before)), None, fx::CpuDelta::ZERO, 1);
    }
}

struct Categories {
    app: fx::CategoryHandle,
    library: fx::CategoryHandle,
    platform: fx::CategoryHandle,
    native: fx::CategoryHandle,
}

impl Categories {
    fn add(profile: &mut fx::Profile) -> Self {
        Self {
            app: profile.add_category("App", fx::CategoryColor::Green),
            library: profile.add_category("Libraries", fx::CategoryColor::Yellow),
            platform: profile.add_category("Android and Java", fx::CategoryColor::Blue),
            native: profile.add_category("Native", fx::CategoryColor::Orange),
        }
    }

    fn of(&self, frame: &Frame) -> fx::CategoryHandle {
        match (frame.kind, frame.owner) {
            (FrameKind::Native, _) => self.native,
            (FrameKind::Java, CodeOwner::App) => self.app,
            (FrameKind::Java, CodeOwner::Library) => self.library,
            (FrameKind::Java, CodeOwner::Platform) => self.platform,
            (FrameKind::Elided | FrameKind::Unknown, _) => fx::CategoryHandle::OTHER,
        }
    }
}

/// A slice as a marker: the row is its kind, the label its name.
#[derive(Debug, Clone, Copy)]
struct SliceMarker {
    kind: fx::StringHandle,
    name: fx::StringHandle,
    facts: fx::StringHandle,
}

impl SliceMarker {
    fn new(profile: &mut fx::Profile, kind: &str, slice: &Slice) -> Self {
        let facts: Vec<String> = slice.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
        Self {
            kind: profile.intern_string(kind),
            name: profile.intern_string(&slice.name),
            facts: profile.intern_string(&facts.join(", ")),
        }
    }
}

impl fx::StaticSchemaMarker for SliceMarker {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "LoopboxSlice";
    const DESCRIPTION: Option<&'static str> = Some("A part of the main thread's time");
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.name}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.data.name} ({marker.data.facts})");
    const FIELDS: &'static [fx::StaticSchemaMarkerField] = &[
        fx::StaticSchemaMarkerField {
            key: "name",
            label: "Name",
            format: fx::MarkerFieldFormat::String,
            flags: fx::MarkerFieldFlags::SEARCHABLE,
        },
        fx::StaticSchemaMarkerField {
            key: "facts",
            label: "Facts",
            format: fx::MarkerFieldFormat::String,
            flags: fx::MarkerFieldFlags::SEARCHABLE,
        },
    ];

    fn name(&self, _profile: &mut fx::Profile) -> fx::StringHandle {
        self.kind
    }

    fn category(&self, _profile: &mut fx::Profile) -> fx::CategoryHandle {
        fx::CategoryHandle::OTHER
    }

    fn string_field_value(&self, field_index: u32) -> fx::StringHandle {
        if field_index == 0 { self.name } else { self.facts }
    }

    /// Never called: the schema has no number field.
    fn number_field_value(&self, _field_index: u32) -> f64 {
        f64::NAN
    }
}
