//! The notices that listeners have not received yet, and the thread that delivers them.

use super::Notice;
use crate::jni::env::Env;
use crate::jni::{attach, class_cache};
use crate::sys::clock;
use crate::sys::wake::{ANYONE, futex_wait, futex_wake};
use loopbox_format::model::Uptime;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many reports wait for a listener that does not return: as many as a directory keeps.
const MAX_WAITING: usize = 16;

/// A caller whose request is refused is notified this much later, so that a caller that immediately asks
/// again does so once a second.
const REFUSED_AFTER_NS: u64 = 1_000_000_000;
/// The notices that the listeners have not received yet.
struct Waiting {
    notices: Vec<Notice>,
    /// Whether a thread takes the notices.
    has_thread: bool,
    /// Whether the thread stays when there are no notices.
    stays: bool,
    /// Requests for reports that were refused. Their callers are notified at `refused_at_ns`.
    refused: Vec<i64>,
    refused_at_ns: Uptime,
}

/// A queue with the thread that takes notices from it. The thread is started with the recording and not with
/// the first notice: a thread needs memory, and memory may be short when there is a report. The thread sleeps
/// until there is a notice.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    /// Changes when the thread has something to do.
    news: AtomicU32,
    name: &'static CStr,
    notify: fn(&mut Env<'_>, Notice),
    refuse: fn(&mut Env<'_>, i64),
}

impl Queue {
    pub(super) const fn new(
        name: &'static CStr,
        notify: fn(&mut Env<'_>, Notice),
        refuse: fn(&mut Env<'_>, i64),
    ) -> Self {
        Self { waiting: Mutex::new(Waiting::new()), news: AtomicU32::new(0), name, notify, refuse }
    }

    fn waiting<T>(&self, body: impl FnOnce(&mut Waiting) -> T) -> T {
        body(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes sure that the thread exists, because a recording begins. It sleeps at first.
    ///
    /// # Errors
    /// When the system cannot create a thread.
    pub(super) fn start(&'static self) -> std::io::Result<()> {
        let missing = self.waiting(|waiting| {
            waiting.notices.reserve(MAX_WAITING);
            waiting.stays = true;
            !std::mem::replace(&mut waiting.has_thread, true)
        });
        if missing { self.start_thread() } else { Ok(()) }
    }

    /// Whether a recording still runs.
    pub(super) fn stays(&self) -> bool {
        self.waiting(|waiting| waiting.stays)
    }

    /// Notes that the recording has ended: the thread ends when its calls are done.
    pub(super) fn end(&self) {
        self.waiting(|waiting| waiting.stays = false);
        self.wake();
    }

    pub(super) fn add(&'static self, notice: Notice) -> std::io::Result<()> {
        if self.waiting(|waiting| waiting.add(notice)) {
            return self.start_thread();
        }
        self.wake();
        Ok(())
    }

    /// Makes the thread refuse the request with this number, after [`REFUSED_AFTER_NS`].
    pub(super) fn refuse(&self, asked: i64) {
        self.waiting(|waiting| waiting.refuse(asked, clock::now_ns()));
        self.wake();
    }

    fn wake(&self) {
        futex_wake(&self.news, ANYONE);
    }

    fn start_thread(&'static self) -> std::io::Result<()> {
        let Some(classes) = class_cache::get() else { return Ok(()) };
        // Where it fails the next report tries again.
        attach::spawn(&classes.vm, self.name, |env| self.run(env))
            .inspect_err(|_| self.waiting(|waiting| waiting.has_thread = false))
    }

    fn run(&self, env: &mut Env<'_>) {
        loop {
            let news = self.news.load(Ordering::SeqCst);
            match self.waiting(|waiting| waiting.next(clock::now_ns())) {
                Next::Notify(notice) => (self.notify)(env, notice),
                Next::Refuse(all) => all.into_iter().for_each(|asked| (self.refuse)(env, asked)),
                Next::Sleep(until_ns) => futex_wait(&self.news, news, ANYONE, until_ns),
                Next::End => return,
            }
        }
    }
}

/// What the thread does next.
#[derive(Debug)]
enum Next {
    Notify(Notice),
    /// Notify the callers that these requests are refused.
    Refuse(Vec<i64>),
    /// Sleep until this time, or until there is something to do.
    Sleep(Option<Uptime>),
    End,
}

impl Waiting {
    const fn new() -> Self {
        Self {
            notices: Vec::new(),
            has_thread: false,
            stays: false,
            refused: Vec::new(),
            refused_at_ns: Uptime::ZERO,
        }
    }

    /// Adds a notice. When [`MAX_WAITING`] notices that are no answers wait already, the oldest of these is
    /// dropped. Answers to requests are never dropped: the number of requests is limited elsewhere. Returns
    /// whether a thread has to be started.
    fn add(&mut self, notice: Notice) -> bool {
        let of_reports = self.notices.iter().filter(|notice| !notice.is_answer()).count();
        if !notice.is_answer() && of_reports == MAX_WAITING {
            self.notices.iter().position(|notice| !notice.is_answer()).map(|at| self.notices.remove(at));
        }
        self.notices.push(notice);
        !std::mem::replace(&mut self.has_thread, true)
    }

    fn next(&mut self, now_ns: Uptime) -> Next {
        if !self.notices.is_empty() {
            return Next::Notify(self.notices.remove(0));
        }
        if !self.refused.is_empty() {
            let due = now_ns >= self.refused_at_ns || !self.stays;
            return if due {
                Next::Refuse(std::mem::take(&mut self.refused))
            } else {
                Next::Sleep(Some(self.refused_at_ns))
            };
        }
        self.has_thread = self.stays;
        if self.stays { Next::Sleep(None) } else { Next::End }
    }

    fn refuse(&mut self, asked: i64, now_ns: Uptime) {
        if self.refused.is_empty() {
            self.refused_at_ns = now_ns.plus(REFUSED_AFTER_NS);
        }
        self.refused.push(asked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_listener_that_does_not_return_keeps_a_bounded_number_waiting() {
        let mut waiting = Waiting::new();
        let now_ns = Uptime(7);
        let notice = |about| Notice { path: None, reason: String::new(), about, gate: Arc::default() };
        assert!(waiting.add(notice(0)), "the first one starts the thread");
        for nth in 1..40 {
            assert!(!waiting.add(notice(-nth)));
        }
        let left: Vec<_> = std::iter::from_fn(|| match waiting.next(now_ns) {
            Next::Notify(notice) => Some(notice.about),
            _ => None,
        })
        .collect();
        let newest: Vec<_> = (24..40).map(|nth: i64| -nth).collect();
        assert_eq!(left, newest);
        assert!(waiting.add(notice(-40)), "the thread has ended");
        waiting.stays = true;
        assert!(matches!((waiting.next(now_ns), waiting.next(now_ns)), (Next::Notify(_), Next::Sleep(None))));
        assert!(!waiting.add(notice(-41)), "the thread is asleep");
    }

    #[test]
    fn whoever_has_asked_for_a_report_is_answered_however_many_have() {
        let mut waiting = Waiting::new();
        let notice = |about| Notice { path: None, reason: String::new(), about, gate: Arc::default() };
        for nth in 1..=60 {
            waiting.add(notice(nth));
            waiting.add(notice(-nth));
        }
        let left: Vec<_> = waiting.notices.iter().map(|notice| notice.about).collect();
        let answers: Vec<_> = left.iter().copied().filter(|&about| about > 0).collect();
        assert_eq!(answers, (1..=60).collect::<Vec<_>>());
        assert_eq!(left.len(), answers.len() + MAX_WAITING);
    }

    #[test]
    fn who_is_refused_is_notified_a_second_later() {
        let (mut waiting, start_ns) = (Waiting::new(), Uptime(7));
        waiting.stays = true;
        waiting.refuse(3, start_ns);
        let due_ns = start_ns.plus(REFUSED_AFTER_NS);
        waiting.refuse(4, due_ns.minus(1));
        let Next::Sleep(Some(until_ns)) = waiting.next(due_ns.minus(1)) else { panic!("not yet") };
        assert_eq!(until_ns, due_ns);
        let Next::Refuse(all) = waiting.next(due_ns) else { panic!("now") };
        assert_eq!(all, [3, 4]);
        assert!(matches!(waiting.next(due_ns), Next::Sleep(None)));
        // Who is refused when the recording ends need not wait.
        waiting.refuse(5, due_ns);
        waiting.stays = false;
        assert!(matches!(waiting.next(due_ns), Next::Refuse(_)));
        assert!(matches!(waiting.next(due_ns), Next::End));
    }
}
