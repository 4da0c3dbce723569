//! Loading a decoded report as a whole.

use super::identity::{ReportId, mapping_id};
use super::kernel_view;
use super::limits;
use super::sampled_tree::{TreeBudget, read_tree};
use super::stack_frames::FrameCollector;
use super::{joined, parked, pending_queue, sections, system_trace};
use crate::model::framework;
use crate::model::sanitize::sanitize;
use crate::model::{Analysis, AppPackages, Frame, Identity, Issue, SampledTree, token};
use loopbox_format::model::{FeatureState, Record, Report, Statistic};
use loopbox_format::problem::{message_end, written_at};
use loopbox_format::report::Decoded;

impl Analysis {
    /// Loads a decoded report. This never fails: what is damaged, inconsistent or beyond the limits is left
    /// out and listed in [`Analysis::issues`].
    pub fn new(decoded: &Decoded) -> Self {
        Self::with_packages(decoded, &AppPackages::default())
    }

    /// As [`Analysis::new`], with the packages of the app.
    pub fn with_packages(decoded: &Decoded, packages: &AppPackages) -> Self {
        let report = &decoded.report;
        let mut issues: Vec<Issue> = decoded
            .damage
            .iter()
            .take(limits::DAMAGE)
            .map(|d| Issue { offset: Some(d.offset as u64), what: sanitize(&d.what, limits::LINE_CHARS) })
            .collect();
        issues.extend(over_limits(decoded));

        let packages = packages.of_report(report);
        let mut frames = FrameCollector::new(&report.symbols, &packages);
        let mut budget = TreeBudget::default();
        let history: Vec<Record> =
            newest(&report.history, limits::RECORDS).iter().map(sections::record).collect();
        let main = sections::main(&report.main);
        let dump_ns = written_at(report);
        let end_ns = |token| message_end(token, &main, &history, dump_ns);
        let mut trees: Vec<SampledTree> = newest(&report.trees, limits::TREES)
            .iter()
            .map(|t| read_tree(t, end_ns(t.token), &mut frames, &mut budget))
            .collect();
        let locks = sections::locks(&report.locks, &mut frames);
        let threads = sections::threads(&report.threads, &mut frames);
        let trace = system_trace::read(&report.system_trace, &mut frames, &mut issues);
        issues.extend(trees.iter().filter_map(|tree| {
            let what = format!("stack tree of {}: {}", token::title(tree.token), tree.error?);
            Some(Issue { offset: None, what })
        }));
        let frames = frames.into_table();
        let roles: Vec<_> = frames.iter().map(Frame::role).collect();
        for tree in trees.iter_mut().filter(|tree| !tree.token.is_outside()) {
            tree.entry = framework::entry(tree, &frames, &roles);
        }
        let identity = Identity {
            report_id: ReportId::of(report).to_string(),
            mapping_id: sanitize(mapping_id(report), limits::NAME_CHARS),
        };
        let mut analysis = Self {
            identity,
            dump_ns,
            meta: sections::meta(&report.meta),
            history,
            breadcrumbs: sections::breadcrumbs(newest(&report.breadcrumbs, limits::BREADCRUMBS)),
            main,
            anr: sections::anr(&report.anr),
            anr_warnings: newest(&report.anr_warnings, limits::SHORT_LIST).to_vec(),
            anr_info: report.anr_info,
            cpu_use: report.cpu_use,
            queue: pending_queue::read(&report.pending),
            locks,
            main_thread: kernel_view::read(&report.main_thread),
            threads,
            system_trace: trace,
            frames,
            display_frames: sections::display_frames(&report.frames),
            trees,
            features: features(report),
            statistics: statistics(report),
            lost: report
                .lost
                .iter()
                .take(limits::DAMAGE)
                .map(|line| sanitize(line, limits::LINE_CHARS))
                .collect(),
            issues,
        };
        parked::complete(&mut analysis);
        joined::complete(&mut analysis);
        system_trace::complete(&mut analysis);
        analysis
    }
}

fn newest<T>(list: &[T], limit: usize) -> &[T] {
    &list[list.len().saturating_sub(limit)..]
}

/// One issue for each list that is longer than its limit.
fn over_limits(decoded: &Decoded) -> impl Iterator<Item = Issue> {
    let report = &decoded.report;
    let native = report.main_thread.native.as_ref();
    [
        ("damage", decoded.damage.len(), limits::DAMAGE),
        ("history records", report.history.len(), limits::RECORDS),
        ("stack trees", report.trees.len(), limits::TREES),
        ("pending lines", report.pending.lines.len(), limits::PENDING_LINES),
        ("lock holders", report.locks.waits.len(), limits::LOCK_WAITS),
        ("other threads", report.threads.threads.len(), limits::THREADS),
        ("native frames", native.map_or(0, |stack| stack.frames.len()), limits::STACK_DEPTH),
        ("native modules", native.map_or(0, |stack| stack.modules.len()), limits::NATIVE_MODULES),
        ("screens", report.frames.scenes.len(), limits::SCENES),
        ("gestures", report.frames.gestures.len(), limits::DISPLAY_FRAMES),
        ("jank frames", report.frames.janks.len(), limits::DISPLAY_FRAMES),
        ("display frames", report.frames.recent.len(), limits::DISPLAY_FRAMES),
        ("stages of frames", report.frames.stages.len(), limits::DISPLAY_FRAMES),
        ("annotations", report.meta.annotations.len(), limits::SHORT_LIST),
        ("breadcrumbs", report.breadcrumbs.len(), limits::BREADCRUMBS),
        ("warnings of an ANR", report.anr_warnings.len(), limits::SHORT_LIST),
        ("features", report.features.len(), limits::SHORT_LIST),
        ("statistics", report.statistics.len(), limits::SHORT_LIST),
        ("lost parts of the ring", report.lost.len(), limits::DAMAGE),
    ]
    .into_iter()
    .filter(|(_, len, limit)| len > limit)
    .map(|(what, len, limit)| {
        let left_out = len - limit;
        let what = format!("{what}: {left_out} of {len} are left out, because a report has at most {limit}");
        Issue { offset: None, what }
    })
}

fn features(report: &Report) -> Vec<FeatureState> {
    let features = report.features.iter().take(limits::SHORT_LIST);
    features.map(|f| FeatureState { detail: sanitize(&f.detail, limits::LINE_CHARS), ..f.clone() }).collect()
}

fn statistics(report: &Report) -> Vec<Statistic> {
    let statistics = report.statistics.iter().take(limits::SHORT_LIST);
    statistics
        .map(|f| Statistic {
            name: sanitize(&f.name, limits::NAME_CHARS),
            value: sanitize(&f.value, limits::LINE_CHARS),
        })
        .collect()
}
