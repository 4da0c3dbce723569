//! The slow messages that causes are about.

use crate::model::time::{format_ns, share};
use crate::model::{Analysis, OutsidePlace, SampledTree, token};
use loopbox_format::model::{MainState, Message, Outside, Token, Uptime};

/// A slow message, running or past; or what ran for long outside of messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlowMessage<'a> {
    pub(super) token: Token,
    pub(super) start_ns: Uptime,
    /// How long the message took, or has been running. It is an upper limit when it is more than
    /// `certain_ns`.
    pub(super) wall_ns: u64,
    /// How long the message certainly ran.
    pub(super) certain_ns: u64,
    /// The CPU time of main during the message; known for the running message, and for an earlier one that
    /// has a separate record.
    pub(super) cpu_ns: Option<u64>,
    pub(super) running: bool,
    /// Whether the end was not seen: the message ended at an unknown time, after `wall_ns` at the latest.
    pub(super) end_unseen: bool,
    pub(super) message: Option<&'a Message>,
    pub(super) tree: Option<&'a SampledTree>,
    /// The kind of place where main was, for work outside of messages.
    pub(super) place: Option<OutsidePlace>,
    /// Whether only the system's trace shows the message: neither its name nor its start is known.
    pub(super) alone: bool,
}

impl<'a> SlowMessage<'a> {
    /// What main was doing at the dump. `None` when main was idle, and when it is not known what main was
    /// doing.
    pub(super) fn at_dump(a: &'a Analysis) -> Option<Self> {
        match &a.main {
            MainState::Running(running) => Some(Self {
                cpu_ns: running.cpu_ns,
                running: true,
                message: running.message.as_ref(),
                ..Self::past(a, running.token, running.start_ns, running.age_ns())
            }),
            MainState::Outside(outside) => {
                let start_ns = outside.start_ns.unwrap_or(outside.after_ns);
                let slow = Self::past(a, outside.token, start_ns, outside.age_ns());
                let certain_ns = match outside.start_ns {
                    Some(_) => slow.wall_ns,
                    None => Self::certain_ns(a, outside, slow.tree).min(slow.wall_ns),
                };
                Some(Self { cpu_ns: outside.cpu_ns, running: true, certain_ns, ..slow })
            }
            _ => None,
        }
    }

    /// A message that has ended.
    pub(super) fn past(a: &'a Analysis, token: Token, start_ns: Uptime, wall_ns: u64) -> Self {
        let tree = a.tree(token);
        let place = tree.filter(|_| token.is_outside()).and_then(|tree| a.place_of(tree));
        Self {
            token,
            start_ns,
            wall_ns,
            certain_ns: wall_ns,
            cpu_ns: None,
            running: false,
            end_unseen: false,
            message: None,
            tree,
            place: place.map(|found| found.place),
            alone: a.is_trace_alone(),
        }
    }

    /// For how long main has certainly not come back to its queue. It is the longest of three times: how long
    /// the queue's first message has been overdue, how long the stacks show no wait, and main's CPU time.
    fn certain_ns(a: &Analysis, outside: &Outside, tree: Option<&SampledTree>) -> u64 {
        let busy = tree.and_then(|tree| tree.outside_place(&a.frames)).map(|found| found.busy_ns);
        let overdue = a.queue.overdue_head(a.dump_ns).certain_ns();
        // Of none of them nothing is certain.
        [busy, overdue, outside.cpu_ns].into_iter().flatten().fold(0, u64::max)
    }
}

impl SlowMessage<'_> {
    /// The part of the message that main spent on the CPU, at most 1.
    pub(super) fn cpu_share(&self) -> Option<f64> {
        self.cpu_ns.filter(|_| self.wall_ns > 0).map(|cpu| share(cpu, self.wall_ns).min(1.0))
    }

    pub(super) fn end_ns(&self) -> Uptime {
        self.start_ns.plus(self.wall_ns)
    }

    /// Whether this is what ran outside of messages.
    pub(super) fn is_outside(&self) -> bool {
        self.token.is_outside()
    }

    /// How long the message took: `5.20 s`, `at most 5.20 s`.
    pub(super) fn length(&self) -> String {
        let bound = if self.certain_ns < self.wall_ns || self.end_unseen { "at most " } else { "" };
        format!("{bound}{}", format_ns(self.wall_ns))
    }

    /// A name for the message as part of a sentence: `the running message (#46)`, `what ran outside of
    /// messages (after #45)`.
    pub(super) fn noun(&self) -> String {
        match (self.is_outside(), self.running) {
            _ if self.alone => "main".into(),
            (true, _) => format!("what ran {}", token::title(self.token)),
            (false, true) => format!("the running message (#{})", self.token),
            (false, false) => format!("an earlier message (#{})", self.token),
        }
    }

    /// The message as the subject of a title, with its length.
    pub(super) fn subject(&self) -> String {
        let place = self.place.and_then(OutsidePlace::words);
        let place = place.map_or_else(String::new, |words| format!("in {words}, "));
        match (self.is_outside(), self.running) {
            _ if self.alone => "Main".into(),
            (true, true) => format!("Main ({place}{}, {})", token::title(self.token), self.length()),
            (true, false) => {
                format!("Earlier, main ({place}{}, {})", token::title(self.token), self.length())
            }
            (false, true) => format!("The running message (#{}, {})", self.token, self.length()),
            (false, false) => format!("An earlier message (#{}, {})", self.token, self.length()),
        }
    }

    /// The number and the name of the message: `message #46 (com.example.Checkout$1 on android.os.Handler)`.
    pub(super) fn name(&self, a: &Analysis) -> String {
        let title = token::title(self.token);
        match (a.title_of(self.token, self.message), self.place.and_then(OutsidePlace::words)) {
            (Some(name), _) => format!("{title} ({name})"),
            (None, Some(words)) => format!("{title} (in {words})"),
            (None, None) => title,
        }
    }

    /// Whether most of the message was before the recorder was installed. The stacks of the rest must not
    /// represent all of the message.
    pub(super) fn is_mostly_before_install(&self, a: &Analysis) -> bool {
        a.before_install_ns(self.start_ns, self.wall_ns) > self.wall_ns / 2
    }

    /// A sentence which says that a part of the message was before the recorder was installed; `None` when
    /// the message began later.
    pub(super) fn before_install(&self, a: &Analysis) -> Option<String> {
        let before = a.before_install_ns(self.start_ns, self.wall_ns);
        (before > 0).then(|| {
            format!("{} of it before the recorder was installed: no stacks of that part", format_ns(before))
        })
    }
}
