//! Collecting the display frames of many reports in bounded memory.

use super::gestures::{Gestures, GesturesView};
use super::janks::{JankView, MANY, keep_longest};
use super::once::FramesOnce;
use super::scene::{SceneView, name, shown};
use crate::model::Analysis;
use loopbox_format::model::SceneKind;
use loopbox_frames::MergedScene;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The name and version of the JSON schema.
const SCHEMA: &str = "loopbox.frames/1";
/// How many screens are kept separately; the frames of further screens are added to `other`.
const MAX_SCENES: usize = 2_000;
/// How many users are kept separately for a comparison; reports of further users count as one user.
const MAX_UNITS: usize = 200_000;

/// The display frames of any number of reports.
#[derive(Debug, Clone, Default)]
pub struct Smoothness {
    reports: u64,
    without_frames: u64,
    process: MergedScene,
    other: MergedScene,
    scenes: BTreeMap<String, MergedScene>,
    gestures: Gestures,
    janks: Vec<JankView>,
    units: BTreeMap<String, BTreeMap<String, UnitSums>>,
}

/// What one user, or one report, adds to the figures of a screen. A comparison draws users at random from
/// these sums.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UnitSums {
    pub(super) frames: u64,
    pub(super) sum_ns: u64,
    pub(super) interval_ns: u64,
    pub(super) hitch_ns: u64,
    pub(super) frozen: u64,
    pub(super) gestures: u64,
    pub(super) jank_gestures: u64,
}

impl UnitSums {
    pub(super) fn add(&mut self, other: &Self) {
        self.frames = self.frames.saturating_add(other.frames);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.interval_ns = self.interval_ns.saturating_add(other.interval_ns);
        self.hitch_ns = self.hitch_ns.saturating_add(other.hitch_ns);
        self.frozen = self.frozen.saturating_add(other.frozen);
        self.gestures = self.gestures.saturating_add(other.gestures);
        self.jank_gestures = self.jank_gestures.saturating_add(other.jank_gestures);
    }
}

/// What `loopbox frames --json` prints, and what its text and page are made of.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SmoothnessView {
    /// `loopbox.frames/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The number of reports with display frames.
    pub reports: u64,
    /// The number of reports without display frames.
    pub reports_without_frames: u64,
    /// The number of files that could not be used.
    pub skipped: u64,
    /// The figures of all screens together.
    pub process: SceneView,
    /// The figures of each screen, the one with the longest hitches first. The last entry has the
    /// sum of all screens that were not kept separately.
    pub scenes: Vec<SceneView>,
    /// The gestures.
    pub gestures: GesturesView,
    /// The longest jank frames, the longest first.
    pub janks: Vec<JankView>,
}

impl Smoothness {
    /// Adds the jank frames and the figures of a report that count according to `once`. A report without
    /// display frames is only counted as such.
    pub fn add(&mut self, a: &Analysis, once: &FramesOnce, path: &str) {
        let session = &a.display_frames;
        if session.is_empty() {
            self.without_frames += 1;
            return;
        }
        let name_of = |scene: u16| session.scenes.get(usize::from(scene)).map_or("?".to_string(), name);
        self.janks.extend(once.janks(a).map(|jank| JankView::new(a, jank, name_of(jank.scene), path)));
        if self.janks.len() > MANY {
            keep_longest(&mut self.janks);
        }
        if !once.counts(a) {
            return;
        }
        self.reports += 1;
        let user =
            a.meta.annotations.iter().find(|(name, _)| name == "user").map(|(_, value)| value.as_str());
        let unit = user.filter(|user| !user.is_empty()).unwrap_or(path).to_string();
        for scene in &session.scenes {
            self.scene(&scene.into());
        }
        let mut units = BTreeMap::<String, UnitSums>::new();
        for scene in &session.scenes {
            let sums = units.entry(name(scene)).or_default();
            sums.add(&UnitSums {
                frames: scene.frames.into(),
                sum_ns: scene.sum_ns,
                interval_ns: scene.ideal_ns.saturating_sub(scene.hitch_ns),
                hitch_ns: scene.hitch_ns,
                frozen: scene.frozen_cadence.into(),
                ..UnitSums::default()
            });
        }
        let process = session.scenes.iter().find(|scene| scene.kind == SceneKind::Process).map(name);
        for gesture in &session.gestures {
            let scene = name_of(gesture.scene);
            let one = UnitSums {
                gestures: 1,
                jank_gestures: u64::from(gesture.windows > 0),
                ..UnitSums::default()
            };
            for of in
                process.iter().chain([&scene].into_iter().filter(|scene| Some(*scene) != process.as_ref()))
            {
                units.entry(of.clone()).or_default().add(&one);
            }
            self.gestures.add(gesture, scene, a.dump_ns, path);
        }
        self.unit(unit, units);
    }

    fn scene(&mut self, scene: &MergedScene) {
        match scene.kind {
            SceneKind::Process => self.process.add(scene),
            SceneKind::Other => self.other.add(scene),
            SceneKind::Named => {
                let name = scene.name.as_str();
                if let Some(known) = self.scenes.get_mut(name) {
                    known.add(scene);
                } else if self.scenes.len() < MAX_SCENES {
                    self.scenes.insert(name.to_string(), *scene);
                } else {
                    self.other.add(scene);
                }
            }
        }
    }

    fn unit(&mut self, unit: String, scenes: BTreeMap<String, UnitSums>) {
        let unit =
            if self.units.len() < MAX_UNITS || self.units.contains_key(&unit) { unit } else { String::new() };
        let of_unit = self.units.entry(unit).or_default();
        for (scene, sums) in scenes {
            of_unit.entry(scene).or_default().add(&sums);
        }
    }

    /// Adds all reports of another collection.
    pub fn merge(&mut self, other: Self) {
        self.reports += other.reports;
        self.without_frames += other.without_frames;
        self.process.add(&other.process);
        self.other.add(&other.other);
        other.scenes.values().for_each(|scene| self.scene(scene));
        self.gestures.merge(other.gestures);
        self.janks.extend(other.janks);
        keep_longest(&mut self.janks);
        for (unit, scenes) in other.units {
            self.unit(unit, scenes);
        }
    }

    /// Whether no report has display frames.
    pub fn is_empty(&self) -> bool {
        self.reports == 0
    }

    /// The names of all screens. The name for all screens together comes first.
    pub(super) fn scene_names(&self) -> Vec<String> {
        let all = shown(SceneKind::Process, "");
        let named = self.scenes.values().map(|scene| shown(scene.kind, scene.name.as_str()));
        let named = named.filter(|name| *name != all);
        [all.clone()].into_iter().chain(named).collect()
    }

    /// The sums of each user of a screen.
    pub(super) fn units(&self, scene: &str) -> Vec<UnitSums> {
        self.units.values().filter_map(|scenes| scenes.get(scene).copied()).collect()
    }

    /// The result. `skipped` is the number of files that could not be used.
    pub fn view(mut self, skipped: u64) -> SmoothnessView {
        keep_longest(&mut self.janks);
        self.process.kind = SceneKind::Process;
        self.other.kind = SceneKind::Other;
        let mut scenes: Vec<&MergedScene> = self.scenes.values().collect();
        scenes.sort_by_key(|scene| std::cmp::Reverse((scene.hitch_ns, scene.frames)));
        scenes.extend(Some(&self.other).filter(|other| other.frames > 0));
        SmoothnessView {
            schema: SCHEMA,
            reports: self.reports,
            reports_without_frames: self.without_frames,
            skipped,
            process: SceneView::new(&self.process),
            scenes: scenes.into_iter().map(SceneView::new).collect(),
            gestures: self.gestures.view(),
            janks: self.janks,
        }
    }
}
