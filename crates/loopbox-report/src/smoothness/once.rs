//! Counts the display frames of a process once, even when the process has left several reports.
//!
//! The figures of a process grow with each frame, and each report has all figures so far. So of several
//! reports of one process, only the newest counts. If the app has reset the figures, the newest report before
//! the reset counts too. A jank frame may also be in several reports. It counts in the newest report that has
//! stacks for it; if none has, in the newest report. A report that the next launch makes from the ring has no
//! such stacks.

use super::janks::tree_token;
use crate::model::Analysis;
use loopbox_format::model::{DumpReason, FrameScene, JankFrame, Meta, SceneKind, Uptime};
use std::collections::{HashMap, HashSet};

/// How much display time the figures in a process's ring may lack at the end of the process, in ns. The ring
/// normally lacks the last second, and somewhat more when the disk was slow.
const RING_IS_LATE_NS: u64 = 3_000_000_000;

/// A process in which the recorder is installed. A second installation in the same process counts as another
/// process. The figures begin at the installation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FrameProcess {
    pid: u32,
    installed_ns: Uptime,
    started_ns: Option<Uptime>,
    name: String,
    device: String,
}

impl FrameProcess {
    /// The process of a report; `None` when the report does not say which one it is of.
    pub fn of(meta: &Meta) -> Option<Self> {
        let process = &meta.process;
        let is_known = process.pid != 0 && process.installed_ns != Uptime::ZERO;
        is_known.then(|| Self {
            pid: process.pid,
            installed_ns: process.installed_ns,
            started_ns: process.started_ns,
            name: process.name.clone(),
            device: process.device.clone(),
        })
    }
}

/// What is kept of a report in order to count its frames once.
#[derive(Debug, Clone)]
pub struct FramesSeen {
    process: FrameProcess,
    report: String,
    is_recovered: bool,
    dump_ns: Uptime,
    figures: Figures,
    janks: Vec<(Uptime, bool)>,
}

impl FramesSeen {
    /// `None` for a report without display frames, and for one whose process is not known.
    pub fn of(a: &Analysis) -> Option<Self> {
        let session = &a.display_frames;
        let janks = session.janks.iter().map(|jank| (jank.frame_time_ns, tree_token(a, jank).is_some()));
        let process = FrameProcess::of(&a.meta).filter(|_| !session.is_empty())?;
        Some(Self {
            process,
            report: a.identity.report_id.clone(),
            is_recovered: matches!(a.meta.reason, DumpReason::Recovered { .. }),
            dump_ns: a.dump_ns,
            figures: Figures::of(&session.scenes),
            janks: janks.collect(),
        })
    }

    /// The key that sorts the reports of one process by time, the newest last. A report that was recovered
    /// from the ring is the newest, because the ring has the state at the end of the process.
    fn order(&self) -> (bool, Uptime, &str) {
        (self.is_recovered, self.dump_ns, &self.report)
    }

    /// Whether this report was recovered from the ring and has only an earlier state of the figures in
    /// `earlier`. The ring may lack the newest frames (see [`RING_IS_LATE_NS`]).
    fn is_behind(&self, earlier: &Self) -> bool {
        let lacks_ns = earlier.figures.sum_ns.saturating_sub(self.figures.sum_ns);
        self.is_recovered && lacks_ns <= RING_IS_LATE_NS && earlier.figures.continue_from(&self.figures)
    }
}

/// Some figures of all screens together. They only grow, until the app resets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Figures {
    frames: u32,
    sum_ns: u64,
    gestures: u32,
    staged: u32,
    histogram: [u32; 32],
}

impl Figures {
    fn of(scenes: &[FrameScene]) -> Self {
        let all = scenes.iter().find(|scene| scene.kind == SceneKind::Process);
        all.map_or_else(Self::default, |all| Self {
            frames: all.frames,
            sum_ns: all.sum_ns,
            gestures: all.gestures,
            staged: all.staged,
            histogram: all.histogram,
        })
    }

    /// Whether these figures may be the `earlier` figures plus the frames since then. If not, the app has
    /// reset the figures in between.
    fn continue_from(&self, earlier: &Self) -> bool {
        let mut buckets = self.histogram.iter().zip(&earlier.histogram);
        self.frames >= earlier.frames
            && self.sum_ns >= earlier.sum_ns
            && self.gestures >= earlier.gestures
            && self.staged >= earlier.staged
            && buckets.all(|(now, then)| now >= then)
    }
}

/// Which display frames of which report count. If no two reports are of the same process, all frames count.
#[derive(Debug, Clone, Default)]
pub struct FramesOnce {
    left_out: HashMap<String, LeftOut>,
}

/// The parts of a report that do not count, because another report of the same process has them, too.
#[derive(Debug, Clone, Default)]
struct LeftOut {
    figures: bool,
    janks: HashSet<Uptime>,
}

impl FramesOnce {
    /// Compares reports with each other. Several copies of one report count as one report.
    pub fn of(seen: impl IntoIterator<Item = FramesSeen>) -> Self {
        let mut processes: HashMap<FrameProcess, Vec<FramesSeen>> = HashMap::new();
        for report in seen {
            processes.entry(report.process.clone()).or_default().push(report);
        }
        let mut once = Self::default();
        for mut reports in processes.into_values() {
            reports.sort_by(|a, b| a.order().cmp(&b.order()));
            reports.dedup_by(|a, b| a.report == b.report);
            once.figures(&reports);
            once.jank_frames(&reports);
        }
        once
    }

    fn figures(&mut self, reports: &[FramesSeen]) {
        let Some((mut newest, later)) = reports.split_first() else { return };
        for report in later {
            let left_out = if report.figures.continue_from(&newest.figures) {
                std::mem::replace(&mut newest, report)
            } else if report.is_behind(newest) {
                report
            } else {
                newest = report;
                continue;
            };
            self.left_out.entry(left_out.report.clone()).or_default().figures = true;
        }
    }

    fn jank_frames(&mut self, reports: &[FramesSeen]) {
        let mut best: HashMap<Uptime, (bool, usize)> = HashMap::new();
        for (nth, report) in reports.iter().enumerate() {
            for &(at_ns, has_stacks) in &report.janks {
                let best = best.entry(at_ns).or_default();
                *best = (*best).max((has_stacks, nth));
            }
        }
        for (nth, report) in reports.iter().enumerate() {
            let elsewhere = report.janks.iter().map(|(at_ns, _)| *at_ns).filter(|at_ns| best[at_ns].1 != nth);
            let elsewhere: HashSet<Uptime> = elsewhere.collect();
            if !elsewhere.is_empty() {
                self.left_out.entry(report.report.clone()).or_default().janks = elsewhere;
            }
        }
    }

    /// Whether the figures of a report count.
    pub fn counts(&self, a: &Analysis) -> bool {
        self.left_out.get(&a.identity.report_id).is_none_or(|left_out| !left_out.figures)
    }

    /// The jank frames of a report, without those that count in another report of the same process.
    pub fn janks<'a>(&self, a: &'a Analysis) -> impl Iterator<Item = &'a JankFrame> {
        let left_out = self.left_out.get(&a.identity.report_id);
        let counts = move |jank: &&JankFrame| {
            left_out.is_none_or(|left_out| !left_out.janks.contains(&jank.frame_time_ns))
        };
        a.display_frames.janks.iter().filter(counts)
    }

    /// How many reports have figures that do not count.
    pub fn left_out(&self) -> usize {
        self.left_out.values().filter(|left_out| left_out.figures).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoothness::{Smoothness, SmoothnessView};
    use crate::test_frames::{ARTICLE_TRACE, SessionBuilder};
    use crate::test_support::{NOW_NS, ReportBuilder};
    use loopbox_format::model::{FrameSession, Report};

    const STACK: &str = "com.example.shop.Checkout.run:31 com.example.shop.Cart.total:88";

    /// A report of the process that was written at this second, with the stacks of message 46.
    fn at(second: u64, frames: FrameSession) -> Report {
        let report = ReportBuilder::new().running(46, 5_200).looper_tree(46, &[(STACK, 500)]);
        let report = report.with(|report| {
            report.meta.dumped_at.uptime_ns = Uptime(NOW_NS + second * 1_000_000_000);
            report.frames = frames;
        });
        report.build().report
    }

    /// What the next launch makes of the ring.
    fn of_ring(second: u64, frames: FrameSession) -> Report {
        let mut report = at(second, frames);
        report.meta.reason = DumpReason::Recovered { crash_signal: None };
        report.trees.clear();
        report
    }

    fn scrolls(scrolls: &[&[u64]]) -> FrameSession {
        let session = SessionBuilder::new();
        scrolls.iter().fold(session, |session, scroll| session.scroll_with("Feed", scroll, Some(46))).build()
    }

    /// The figures of these reports, and which of them count.
    fn counted(reports: &[Report]) -> (SmoothnessView, Vec<bool>) {
        let analyses: Vec<Analysis> = reports
            .iter()
            .map(|report| {
                Analysis::new(&loopbox_format::report::Decoded { report: report.clone(), damage: Vec::new() })
            })
            .collect();
        let once = FramesOnce::of(analyses.iter().rev().filter_map(FramesSeen::of));
        let mut all = Smoothness::default();
        for (nth, a) in analyses.iter().enumerate() {
            all.add(a, &once, &format!("{nth}.lbx"));
        }
        (all.view(0), analyses.iter().map(|a| once.counts(a)).collect())
    }

    #[test]
    fn of_several_reports_of_a_process_the_newest_has_the_figures() {
        let (short, long) = ([17; 30], ARTICLE_TRACE);
        let reports = [
            at(9, scrolls(&[&short, &long, &short])),
            at(0, scrolls(&[&short])),
            at(4, scrolls(&[&short, &long])),
            at(5, FrameSession::default()),
        ];
        let (view, counts) = counted(&reports);
        assert_eq!(counts, [true, false, false, true]);
        let alone = counted(&reports[..1]).0;
        assert_eq!((view.reports, view.reports_without_frames), (1, 1));
        assert_eq!((view.process.frames, view.process.hitch_ms), (143, alone.process.hitch_ms));
        assert_eq!(view.gestures.count, 3);
        let times =
            |view: &SmoothnessView| view.janks.iter().map(|jank| jank.duration_ms).collect::<Vec<_>>();
        assert_eq!(times(&view), times(&alone), "each jank frame once");
    }

    #[test]
    fn reports_of_other_processes_and_of_unknown_ones_count_for_themselves() {
        let mut reports = vec![at(0, scrolls(&[&[17; 30]])); 5];
        reports[1].meta.process.pid += 1;
        reports[2].meta.process.installed_ns.0 += 1;
        for (nth, unknown) in reports[3..].iter_mut().enumerate() {
            (unknown.meta.process.pid, unknown.meta.dumped_at.unix_ms) = (0, nth as u64);
        }
        assert_eq!(counted(&reports).0.process.frames, 150);
        let copy = reports[0].clone();
        assert_eq!(counted(&[copy.clone(), copy]).1, [true, true], "of copies the batch reads one");
    }

    #[test]
    fn figures_that_the_app_had_begin_anew_count_too() {
        let reports = [
            at(0, scrolls(&[&[17; 30]])),
            at(4, scrolls(&[&[17; 30], &ARTICLE_TRACE])),
            at(9, scrolls(&[&[20; 40]])),
        ];
        assert_eq!(counted(&reports).1, [false, true, true]);
        // The process ended soon after that.
        let ended = [reports[1].clone(), of_ring(9, scrolls(&[&[17; 20], &[1_000; 2]]))];
        assert_eq!(counted(&ended).1, [true, true]);
    }

    #[test]
    fn a_ring_that_lacks_the_last_second_has_no_new_figures() {
        let written = at(9, scrolls(&[&ARTICLE_TRACE, &[17; 60]]));
        let reports = [of_ring(5, scrolls(&[&ARTICLE_TRACE, &[17; 20]])), written];
        assert_eq!(counted(&reports).1, [false, true]);
    }

    #[test]
    fn a_jank_frame_counts_where_its_stacks_are() {
        let (live, ring) = (scrolls(&[&ARTICLE_TRACE]), scrolls(&[&ARTICLE_TRACE, &[17, 400, 17]]));
        let all = ring.janks.len();
        assert!(live.janks.len() < all);
        let (view, counts) = counted(&[of_ring(9, ring), at(0, live)]);
        assert_eq!((counts, view.process.frames), (vec![true, false], 86));
        assert_eq!(view.janks.len(), all);
        for jank in &view.janks {
            let of_ring = jank.path == "0.lbx";
            assert_eq!((jank.method.is_none(), jank.duration_ms > 300.0), (of_ring, of_ring), "{jank:?}");
        }
    }
}
