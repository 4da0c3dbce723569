//! Sums up stalls, one file after the other. Memory grows with the number of distinct stalls, users and
//! processes, not with the total number of lines.

use crate::culprit::Culprit;
use crate::line::{Line, Sample, Stall, read_line};
use crate::stalls::lines;
use crate::view::{Around, Group, Phase, StackGroup, View};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The stalls of some files.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    whole: View,
    days: HashMap<String, Group>,
    scenes: HashMap<String, Group>,
    messages: HashMap<String, Group>,
    stacks: HashMap<Option<Culprit>, StackGroup>,
    users: BTreeSet<String>,
    /// The processes whose lines say when they started, each with its id and that time. A process has a line
    /// in the file of each day, and more where lines were lost or another process has packed the file.
    started: HashSet<(i64, i64)>,
    around: [PhaseSums; 3],
}

impl Summary {
    /// Adds an unpacked file.
    pub fn add(&mut self, file: &[u8]) {
        self.whole.files += 1;
        let mut of_file: HashSet<i64> = HashSet::new();
        for line in lines(file) {
            match read_line(line) {
                None => self.whole.cut_lines += 1,
                Some(Line::Base { pid, lost, base }) => {
                    let is_new = match base.started_ms {
                        Some(started_ms) => self.started.insert((pid, started_ms)),
                        None => of_file.insert(pid),
                    };
                    self.whole.processes += u64::from(is_new);
                    self.whole.lost_lines = self.whole.lost_lines.saturating_add(lost);
                    self.users.extend(base.user.filter(|user| !user.is_empty()));
                }
                Some(Line::Stall(stall)) => self.add_stall(&stall),
            }
        }
    }

    fn add_stall(&mut self, stall: &Stall) {
        self.whole.stalls += 1;
        self.whole.ms += stall.wall_ms;
        self.whole.longest_ms = self.whole.longest_ms.max(stall.wall_ms);
        *self.whole.levels.entry(stall.level).or_default() += 1;
        let dropped = stall.dropped_frames().unwrap_or_default();
        self.whole.dropped_frames = self.whole.dropped_frames.saturating_add(dropped);
        let groups = [
            (&mut self.days, stall.day()),
            (&mut self.scenes, &stall.scene),
            (&mut self.messages, &stall.message),
        ];
        for (groups, name) in groups {
            let group = groups.entry(name.to_owned()).or_default();
            group.name.clear();
            group.name.push_str(name);
            group.stalls += 1;
            group.ms += stall.wall_ms;
            group.longest_ms = group.longest_ms.max(stall.wall_ms);
            group.dropped_frames = group.dropped_frames.saturating_add(dropped);
            *group.levels.entry(stall.level).or_default() += 1;
        }
        self.add_stacks(stall);
        let phases = Phases::of(stall);
        for (sums, samples) in self.around.iter_mut().zip(phases.each()) {
            sums.add(samples);
        }
    }

    /// Divides the stall's time among its stacks by how often each was seen. Stacks that the line has no room
    /// for count as time without a stack, and so does a whole stall without stacks.
    fn add_stacks(&mut self, stall: &Stall) {
        let listed: u64 = stall.stacks.iter().map(|stack| u64::from(stack.n)).sum();
        let all = u64::from(stall.stack_samples).max(listed);
        let mut shares: HashMap<Option<Culprit>, (u64, &[String])> = HashMap::new();
        for stack in stall.stacks.iter().filter(|stack| stack.n > 0) {
            // The first is the most frequent.
            shares.entry(Culprit::of(stack)).or_insert((0, &stack.frames)).0 += u64::from(stack.n);
        }
        if listed < all || all == 0 {
            shares.entry(None).or_insert((0, &[])).0 += (all - listed).max(u64::from(all == 0));
        }
        for (culprit, (times, frames)) in shares {
            let ms = stall.wall_ms * times as f64 / all.max(1) as f64;
            let group = self.stacks.entry(culprit).or_default();
            group.stalls += 1;
            group.ms += ms;
            if stall.wall_ms > group.longest_ms || group.stalls == 1 {
                group.longest_ms = stall.wall_ms;
                group.frames = frames.to_vec();
            }
        }
    }

    /// The sums of all files so far.
    pub fn view(&self) -> View {
        let mut days: Vec<Group> = self.days.values().cloned().collect();
        days.sort_by(|a, b| a.name.cmp(&b.name));
        let stacks = self.stacks.iter().map(|(culprit, group)| StackGroup {
            method: culprit.as_ref().map(|culprit| culprit.method.clone()).unwrap_or_default(),
            waits_in: culprit.as_ref().and_then(|culprit| culprit.waits_in.clone()),
            ..group.clone()
        });
        let mut stacks: Vec<StackGroup> = stacks.collect();
        stacks.sort_by(|a, b| {
            b.ms.total_cmp(&a.ms).then_with(|| (&a.method, &a.waits_in).cmp(&(&b.method, &b.waits_in)))
        });
        let [before, during, after] = &self.around;
        View {
            schema: "loopbox.monitor/1",
            users: self.users.len() as u64,
            days,
            scenes: most_first(&self.scenes),
            messages: most_first(&self.messages),
            stacks,
            around: Around { before: before.average(), during: during.average(), after: after.average() },
            ..self.whole.clone()
        }
    }
}

fn most_first(groups: &HashMap<String, Group>) -> Vec<Group> {
    let mut groups: Vec<Group> = groups.values().cloned().collect();
    groups.sort_by(|a, b| b.ms.total_cmp(&a.ms).then_with(|| a.name.cmp(&b.name)));
    groups
}

/// The statistics samples of a stall: the last one before it, those during it, and the first one after it.
pub(crate) struct Phases<'s> {
    before: Vec<&'s Sample>,
    during: Vec<&'s Sample>,
    after: Vec<&'s Sample>,
}

impl<'s> Phases<'s> {
    pub(crate) fn of(stall: &'s Stall) -> Self {
        let during = |sample: &&Sample| sample.at > 0 && (sample.at as f64) < stall.wall_ms;
        let after = |sample: &&Sample| sample.at > 0 && sample.at as f64 >= stall.wall_ms;
        Self {
            before: stall.samples.iter().rev().find(|sample| sample.at <= 0).into_iter().collect(),
            during: stall.samples.iter().filter(during).collect(),
            after: stall.samples.iter().find(after).into_iter().collect(),
        }
    }

    /// The samples before, during and after the stall.
    pub(crate) fn each(&self) -> [&[&'s Sample]; 3] {
        [&self.before, &self.during, &self.after]
    }
}

/// The average over the samples that have the value; `None` when none has.
pub(crate) fn average(samples: &[&Sample], field: fn(&Sample) -> Option<f64>) -> Option<f64> {
    let known: Vec<f64> = samples.iter().filter_map(|sample| field(sample)).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// Sums of the samples' values; each stall counts once.
#[derive(Debug, Clone, Default)]
struct PhaseSums {
    stalls: u64,
    values: [(f64, u64); 6],
}

impl PhaseSums {
    fn add(&mut self, samples: &[&Sample]) {
        if samples.is_empty() {
            return;
        }
        self.stalls += 1;
        let fields: [fn(&Sample) -> Option<f64>; 6] = [
            |sample| sample.proc_cpu,
            |sample| sample.sys_cpu,
            |sample| sample.free_mb.map(|mb| mb as f64),
            |sample| sample.psi_cpu,
            |sample| sample.psi_memory,
            |sample| sample.psi_io,
        ];
        for ((sum, stalls), field) in self.values.iter_mut().zip(fields) {
            if let Some(average) = average(samples, field) {
                *sum += average;
                *stalls += 1;
            }
        }
    }

    fn average(&self) -> Phase {
        let [proc_cpu, sys_cpu, free_mb, psi_cpu, psi_memory, psi_io] =
            self.values.map(|(sum, stalls)| (stalls > 0).then(|| sum / stalls as f64));
        Phase { stalls: self.stalls, proc_cpu, sys_cpu, free_mb, psi_cpu, psi_memory, psi_io }
    }
}
