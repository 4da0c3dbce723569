//! What Java's performance monitor is given: long messages with their sampled stacks, the stack of a message
//! that blocks now, and when to sample the process. Java keeps levels, files and listeners. The main thread
//! does nothing for it, because the history has every long message with its name.
//!
//! Each call of Java passes a text, or null when it is time to sample the process. The first line of a text
//! has a letter and fields with tabs between:
//! * `B`: token, start, time of the stack. The stack follows.
//! * `S`: token, start, duration, wait in the queue, CPU time, how it ended (0 returned, 1 threw, 2 not
//!   seen), `what`, target, callback, number of samples. If display frames are recorded and the message's
//!   screen had some, these fields follow: the number of frames that the message dropped, the number of the
//!   screen's frames, how long they stood, how many of them were dropped, the screen's hitch, and its name.
//!   After the first line come the distinct stacks, most frequent first. Before each stack is a line of `#`,
//!   number of samples, times of the first and the last.
//!
//! Times are uptime in nanoseconds; what is not known is empty. A stack has a line for each frame, top first:
//! class, method, file and line (negative for native code); a line with a number alone stands for frames that
//! are left out.

use crate::jni::env::Env;
use crate::jni::raw::{self, Failure};
use crate::jni::{call, class_cache};
use crate::sampler::sample::QueuedSample;
use crate::session::Session;
use crate::session::symbols::NumberedSymbols;
use crate::sys::{clock, log};
use jni::sys::jvalue;
use loopbox_format::model::{
    Detail, End, Location, LocationId, Record, RecordKind, StackTree, Token, Uptime, own_ns,
};
use loopbox_format::stacks;
use loopbox_frames::StallFrames;
use loopbox_recorder::StackTreeBuilder;

/// A message is reported this long after its end: its name and its last stacks come later than the end.
const SETTLED_NS: u64 = 20_000_000;
const SETTLED_MS: u64 = 25;
/// A message may keep one frame on the display until after its end. This frame is counted when the next frame
/// replaces it. So while a frame is expected, the report of a message waits until the frames are counted up
/// to the message's end. The wait ends at the latest this long after the message's end.
const FRAME_LATE_NS: u64 = 1_000_000_000;
/// How many trees of messages that have ended are kept until they are reported.
const MAX_TREES: usize = 8;
/// How many distinct stacks a message is reported with.
const MAX_STACKS: usize = 5;

pub(crate) struct LongMessages<'a> {
    session: &'a Session,
    /// The time up to which ended messages were reported.
    reported_ns: Uptime,
    /// The message of the main thread when the history was last read.
    read_in: Token,
    /// Whether a long message has ended and its report to Java still waits for its name, its last stacks or a
    /// frame.
    waits: bool,
    /// The last message that was reported as blocking.
    blocked: Token,
    block: Option<String>,
    /// The trees, each with the generation of its location numbers.
    trees: Vec<(u32, StackTree)>,
    ticks: u32,
}

impl<'a> LongMessages<'a> {
    pub(crate) fn new(session: &'a Session) -> Self {
        Self {
            session,
            reported_ns: Uptime::ZERO,
            read_in: Token::NONE,
            waits: false,
            blocked: Token::NONE,
            block: None,
            trees: Vec::new(),
            ticks: 0,
        }
    }

    /// Takes note of a stack that was taken. The first stack of a message that blocks is reported to Java.
    pub(crate) fn sampled(&mut self, queued: &QueuedSample) {
        let &QueuedSample { token, start_ns, sample, .. } = queued;
        let age_ns = sample.at_ns.since(start_ns);
        if token == self.blocked || token.is_outside() || !self.session.monitor.is_block(age_ns) {
            return;
        }
        self.session.symbols.with(|symbols| {
            if symbols.generation == sample.frames.generation {
                self.blocked = token;
                let mut text = String::from("B");
                for number in [token.0, start_ns.0, sample.at_ns.0] {
                    field(&mut text, Some(number));
                }
                text.push('\n');
                sample.frames.locations().iter().for_each(|&location| frame(&mut text, symbols, location));
                self.block = Some(text);
            }
        });
    }

    /// Keeps the stacks of a message that has ended, where Java has a listener.
    pub(crate) fn ended(&mut self, growing: &StackTreeBuilder) {
        if growing.samples() == 0 || growing.token().is_outside() || !self.listens() {
            return;
        }
        if self.trees.len() == MAX_TREES {
            self.trees.remove(0);
        }
        self.trees.push((self.session.symbols.generation(), growing.tree()));
    }

    fn listens(&self) -> bool {
        self.session.monitor.level().is_some()
    }

    /// How long the worker may sleep.
    pub(crate) fn wait_ms(&self) -> Option<u64> {
        self.waits.then_some(SETTLED_MS)
    }

    /// Reports to Java what is due. Before that, call [`ended`](Self::ended) for each message that has ended.
    /// `awaited`: whether a frame is expected.
    pub(crate) fn notify_java(&mut self, env: &mut Env<'_>, awaited: bool) {
        let Some((level_ns, since_ns)) = self.session.monitor.level() else {
            self.waits = false;
            self.trees.clear();
            return;
        };
        let ticks = self.session.monitor.ticks();
        if self.ticks != ticks {
            self.ticks = ticks;
            call_java(env, None);
        }
        if let Some(block) = self.block.take() {
            call_java(env, Some(&block));
        }
        let running = self.session.shared.main.token();
        if running == self.read_in && !self.waits {
            return;
        }
        self.read_in = running;
        self.reported_ns = self.reported_ns.max(since_ns);
        let now_ns = clock::now_ns();
        let until_ns = now_ns.minus(SETTLED_NS);
        let history = self.session.reader.history();
        let (reported_ns, mut waits) = (self.reported_ns, false);
        for (record, detail) in all(&history) {
            let end_ns = detail.start_ns.plus(detail.wall_ns);
            if detail.wall_ns <= level_ns || end_ns <= reported_ns {
                continue;
            }
            let own_ns = own_ns(&history, detail);
            if own_ns <= level_ns {
                continue;
            }
            let late = now_ns.since(end_ns) > FRAME_LATE_NS;
            if end_ns > until_ns || awaited && !late && !self.is_counted_until(end_ns) {
                waits = true;
                continue;
            }
            self.reported_ns = self.reported_ns.max(end_ns);
            let text = self.text(record, detail, own_ns);
            call_java(env, Some(&text));
        }
        self.waits = waits;
    }

    fn is_counted_until(&self, end_ns: Uptime) -> bool {
        let frames = self.session.frames.as_ref();
        frames.is_none_or(|frames| frames.recorder(|recorder| recorder.is_counted_until(end_ns)))
    }

    /// Frames around the message, where they are recorded.
    fn frames(&self, token: Token) -> Option<StallFrames> {
        let frames = self.session.frames.as_ref()?;
        let annotations = self.session.annotations.list();
        let screen = annotations.iter().find(|(name, _)| name == "scene");
        let screen = screen.map_or("", |(_, screen)| screen.as_str());
        frames.recorder(|recorder| recorder.stall(token, screen))
    }

    fn text(&mut self, record: &Record, detail: &Detail, own_ns: u64) -> String {
        let mut text = String::from("S");
        // A loop inside of it is not its time: what it took itself is put at its end.
        let start_ns = detail.start_ns.plus(detail.wall_ns.saturating_sub(own_ns));
        for number in [detail.token.0, start_ns.0, own_ns] {
            field(&mut text, Some(number));
        }
        field(&mut text, detail.wait_ns);
        // A record of several messages has their time together.
        let alone = record.kind == RecordKind::Single
            && record.slowest.is_some_and(|slowest| slowest.token == detail.token)
            && record.count == 1;
        field(&mut text, record.cpu_ns.filter(|_| alone));
        let ended = match detail.end {
            End::Returned => 0,
            End::Threw => 1,
            _ => 2,
        };
        field(&mut text, Some(ended));
        let message = detail.message.as_ref();
        text.push('\t');
        if let Some(what) = message.and_then(|message| message.what) {
            text.push_str(&what.to_string());
        }
        for name in [message.map(|message| &message.target), message.map(|message| &message.callback)] {
            text.push('\t');
            text.push_str(name.map_or("", String::as_str));
        }
        let tree = take_newest(&mut self.trees, detail.token);
        field(&mut text, Some(tree.as_ref().map_or(0, |(_, tree)| tree.sample_deltas_ns.len() as u64)));
        if let Some(frames) = self.frames(detail.token) {
            frame_fields(&mut text, &frames);
        }
        text.push('\n');
        if let Some((generation, tree)) = tree {
            self.session.symbols.with(|symbols| {
                if symbols.generation == generation {
                    all_stacks(&mut text, symbols, &tree);
                }
            });
        }
        text
    }
}

/// Takes the newest tree of a message. A message whose first stack came through Java, before the sampler was
/// ready, has two trees: one with that stack alone, then one with all others.
fn take_newest(trees: &mut Vec<(u32, StackTree)>, token: Token) -> Option<(u32, StackTree)> {
    let at = trees.iter().rposition(|(_, tree)| tree.token == token)?;
    Some(trees.remove(at))
}

fn all(history: &[Record]) -> impl Iterator<Item = (&Record, &Detail)> {
    history.iter().flat_map(|record| record.details.iter().map(move |detail| (record, detail)))
}

/// A stack, how often it was seen, and when first and last.
struct Seen {
    stack: Vec<LocationId>,
    times: u64,
    first_ns: Uptime,
    last_ns: Uptime,
}

fn all_stacks(text: &mut String, symbols: &NumberedSymbols, tree: &StackTree) {
    let Ok(stacks) = stacks::stacks(tree) else { return };
    let mut seen: Vec<Seen> = Vec::new();
    let mut at_ns = tree.start_ns;
    for (stack, delta_ns) in stacks.zip(&tree.sample_deltas_ns) {
        at_ns = at_ns.plus(*delta_ns);
        // From the newest: a stack is most often that of the sample before.
        match seen.iter_mut().rev().find(|seen| seen.stack == stack) {
            Some(known) => {
                known.times += 1;
                known.last_ns = at_ns;
            }
            None => seen.push(Seen { stack, times: 1, first_ns: at_ns, last_ns: at_ns }),
        }
    }
    // Picked one by one: a sort would be several times as much code.
    for _ in 0..MAX_STACKS {
        let most = seen.iter().enumerate().rev().max_by_key(|(_, seen)| seen.times);
        let Some(at) = most.map(|(at, _)| at) else { break };
        let seen = seen.remove(at);
        text.push('#');
        for number in [seen.times, seen.first_ns.0, seen.last_ns.0] {
            field(text, Some(number));
        }
        text.push('\n');
        seen.stack.iter().rev().for_each(|&location| frame(text, symbols, location));
    }
}

fn frame_fields(text: &mut String, frames: &StallFrames) {
    let scene = &frames.scene;
    let dropped = scene.level_dropped.into_iter().fold(0, u64::saturating_add);
    field(text, frames.dropped.map(u64::from));
    for number in [scene.frames.into(), scene.sum_ns, dropped, scene.hitch_ns] {
        field(text, Some(number));
    }
    text.push('\t');
    // The app's word, which may have what separates fields and lines.
    text.extend(scene.name.as_str().chars().map(|c| if c.is_control() { ' ' } else { c }));
}

fn field(text: &mut String, number: Option<u64>) {
    text.push('\t');
    if let Some(number) = number {
        text.push_str(&number.to_string());
    }
}

fn frame(text: &mut String, symbols: &NumberedSymbols, location: LocationId) {
    let (line, dex_pc) = match symbols.table.place(location) {
        Some((Location::Frame { line, dex_pc, .. }, Some(method))) => {
            for name in [&method.class, &method.name, &method.source_file] {
                text.push_str(name);
                text.push('\t');
            }
            (line, dex_pc)
        }
        Some((Location::Elided { frames }, _)) => {
            text.push_str(&frames.to_string());
            text.push('\n');
            return;
        }
        _ => return,
    };
    match (line, dex_pc) {
        (Some(line), _) => text.push_str(&line.to_string()),
        // As `StackTraceElement` has it: no line, and native code.
        (None, Some(_)) => text.push_str("-1"),
        (None, None) => text.push_str("-2"),
    }
    text.push('\n');
}

fn call_java(env: &mut Env<'_>, text: Option<&str>) {
    let Some(classes) = class_cache::get() else { return };
    let called = call::with_frame(env, |env| {
        let text = text.map(|text| raw::new_string(env, text)).transpose()?;
        let argument = jvalue { l: text.map_or(std::ptr::null_mut(), |text| text.as_raw()) };
        // SAFETY: looked up in this class with this signature: a String or null, no result.
        unsafe { call::void(env, (&classes.calls, classes.calls_on_monitor), &[argument]) }
    });
    if let Err(Failure(why)) = called {
        log::warn(&["the performance monitor could not be called: ", &why].concat());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::symbols::SharedSymbols;
    use loopbox_format::model::{FrameScene, StackSource};
    use loopbox_format::text::BoundedStr;
    use loopbox_recorder::{Sample, Sampling};

    #[test]
    fn stacks_of_a_message_come_with_the_most_frequent_first_and_top_frame_first() {
        let shared = SharedSymbols::new();
        let stack = shared.locate_lines("a.B\tread\tB.java\t-2\n17\na.B\trun\tB.java\t7\n");
        let &[read, cut, run] = stack.locations() else { panic!("{:?}", stack.locations()) };
        let mut builder = StackTreeBuilder::new(&Sampling::default());
        builder.begin(Token(5), Uptime(100), StackSource::Art);
        for (frames, at_ns) in [(&[run][..], 160), (&[read, cut, run], 170), (&[read, cut, run], 180)] {
            builder.push(&Sample { frames, at_ns: Uptime(at_ns), stop_ns: 1, interval_ns: 10 });
        }
        let mut text = String::new();
        shared.with(|symbols| all_stacks(&mut text, symbols, &builder.tree()));
        let expected = "#\t2\t170\t180\na.B\tread\tB.java\t-2\n17\na.B\trun\tB.java\t7\n#\t1\t160\t160\na.B\trun\tB.java\t7\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_first_stack_that_the_sampler_was_not_ready_for_does_not_stand_for_the_others() {
        let tree_with = |token, samples: u64| {
            let mut builder = StackTreeBuilder::new(&Sampling::default());
            builder.begin(token, Uptime(100), StackSource::Art);
            for at in 1..=samples {
                let at_ns = Uptime(100 + 10 * at);
                builder.push(&Sample { frames: &[LocationId(0)], at_ns, stop_ns: 1, interval_ns: 10 });
            }
            (0, builder.tree())
        };
        let (bind, next) = (Token(1), Token(2));
        let mut trees = vec![tree_with(bind, 1), tree_with(bind, 7), tree_with(next, 3)];
        let samples = |tree: Option<(u32, StackTree)>| tree.map(|(_, tree)| tree.sample_deltas_ns.len());
        assert_eq!(samples(take_newest(&mut trees, bind)), Some(7));
        assert_eq!(samples(take_newest(&mut trees, next)), Some(3));
        assert_eq!(samples(take_newest(&mut trees, Token(9))), None);
    }

    #[test]
    fn frames_around_a_message_come_as_fields_with_the_screen_last() {
        let scene = FrameScene {
            name: BoundedStr::new("a\tFeed\n"),
            frames: 83,
            sum_ns: 1_535,
            level_dropped: [0, 11, 0, 0, 43],
            hitch_ns: 900,
            ..FrameScene::default()
        };
        let fields = |dropped| {
            let mut text = String::new();
            frame_fields(&mut text, &StallFrames { dropped, scene });
            text
        };
        assert_eq!(fields(Some(43)), "\t43\t83\t1535\t54\t900\ta Feed ");
        assert_eq!(fields(None), "\t\t83\t1535\t54\t900\ta Feed ");
    }
}
