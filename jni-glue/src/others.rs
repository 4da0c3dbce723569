//! Who keeps the main thread waiting, and what everybody else does: asked for by the worker when a report needs it,
//! found out by the sampler, the only thread that stops others. Each thread is stopped by itself, for one walk.

use crate::sampler::{self, Job};
use crate::session::Session;
use crate::stacks::{Locator, Stack};
use crate::{clock, report};
use jni::{Env, sys};
use loopbox_art::{Art, Lock, RawStack, Suspended, ThreadId};
use loopbox_format::model::{
    DumpReason, LockChain, LockHolder, LockWait, MainState, OtherThread, OtherThreads, Report,
};
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Steps from the main thread to the one that all wait for.
const MAX_STEPS: usize = 8;
/// Threads that are told of, and those of them whose stacks are taken.
const MAX_THREADS: usize = 256;
const MAX_STACKS: usize = 96;
/// A stack of another thread is so many frames from the top at most.
const MAX_DEPTH: usize = 64;
/// How long the worker waits for all of it; what is there by then is in the report.
const BUDGET_NS: u64 = 2_000_000_000;
/// A message that has run this long is worth a look at all threads, whoever asks for the report.
const LONG_NS: u64 = 1_000_000_000;

/// What was found so far. Locations are numbers of the session's table, of this generation.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    generation: u32,
    locks: LockChain,
    threads: OtherThreads,
}

#[derive(Debug, Default)]
struct Look {
    /// Goes up with each question and each answer given up: results of another number come too late.
    number: u32,
    all_threads: bool,
    until_ns: u64,
    done: bool,
    seen: Seen,
}

/// Between the worker, who asks, and the sampler, who answers.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    look: Mutex<Look>,
}

impl Looks {
    fn lock(&self) -> MutexGuard<'_, Look> {
        self.look.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to the answer of question `number`. False when nobody waits for it any more.
    fn add(&self, number: u32, change: impl FnOnce(&mut Look)) -> bool {
        let mut look = self.lock();
        let wanted = look.number == number && clock::now_ns() < look.until_ns;
        if wanted {
            change(&mut look);
        }
        wanted
    }
}

/// Asks for what the report, which is on disk already, needs; false when that is nothing. The sampler wakes the worker
/// when it has answered. Worker only.
pub(crate) fn ask(session: &Session, report: &Report) -> bool {
    let (waits, all_threads) = wanted(report);
    if !(waits || all_threads) || !session.shared.answers() {
        return false;
    }
    let until_ns = clock::now_ns().saturating_add(BUDGET_NS);
    {
        let mut look = session.looks.lock();
        let number = look.number.wrapping_add(1);
        *look = Look { number, all_threads, until_ns, ..Look::default() };
    }
    session.shared.ask();
    true
}

/// How long an answer may still take; 0 when it is complete.
pub(crate) fn left_ns(session: &Session) -> u64 {
    let look = session.looks.lock();
    if look.done { 0 } else { look.until_ns.saturating_sub(clock::now_ns()) }
}

/// Puts what is known by now into the report. More is not waited for. Worker only, which
/// must not have renumbered the locations since it asked.
pub(crate) fn take(session: &Session, report: &mut Report, used: &mut report::Used) {
    let mut look = session.looks.lock();
    look.number = look.number.wrapping_add(1);
    let Seen { generation, mut locks, mut threads } = std::mem::take(&mut look.seen);
    drop(look);
    if generation != session.names.generation() {
        return;
    }
    if !matches!(report.main, MainState::Running(_)) {
        locks = LockChain::default();
    }
    let all = session.names.symbols();
    let holders =
        locks.waits.iter_mut().filter_map(|wait| wait.holder.as_mut()).map(|holder| &mut holder.stack);
    let others = threads.threads.iter_mut().filter_map(|thread| thread.stack.as_mut());
    for location in holders.chain(others).flatten() {
        *location = used.number(&all, *location);
    }
    report.symbols = used.symbols.clone();
    (report.locks, report.threads) = (locks, threads);
}

/// Whether the lock chain is wanted, and all threads.
fn wanted(report: &Report) -> (bool, bool) {
    let long = match &report.main {
        MainState::Running(running) => Some(running.age_ns() >= LONG_NS),
        _ => None,
    };
    let asked_by_app = matches!(report.meta.reason, DumpReason::Requested(_));
    (long.is_some(), !asked_by_app || long == Some(true))
}

/// One hop into the fast native method.
pub(crate) struct Hop<'a> {
    art: &'a Art,
    session: &'a Session,
    locator: &'a mut Locator,
    raw: &'a mut RawStack,
    /// The thread that is looked at, stopped; `None` for the main thread, whose lock alone is asked for.
    suspended: Option<Suspended<'a>>,
    /// Different for each thread.
    mark: u64,
    wants_lock: bool,
    stack: Option<(Stack, u32)>,
    lock: Option<Lock>,
}

/// In the fast native method. While the thread is stopped, nothing here allocates, locks, logs or panics.
pub(crate) fn hop(hop: &mut Hop<'_>, env: *mut sys::JNIEnv) {
    let object = match hop.suspended.take() {
        Some(suspended) => {
            hop.art.walk(&suspended, hop.raw);
            let object = if hop.wants_lock { hop.art.contended_by(env.cast(), &suspended) } else { None };
            suspended.resume();
            hop.stack = Some(hop.locator.locate(hop.art, &hop.session.names, hop.mark, hop.raw));
            object.filter(|_| !sleeps(hop.art, hop.raw))
        }
        None => hop.art.contended_by_main(env.cast()),
    };
    hop.lock = object.map(|object| hop.art.describe_lock(object));
}

/// `Thread.sleep` waits on a monitor of its own, which is nobody's business.
fn sleeps(art: &Art, stack: &RawStack) -> bool {
    let top = stack.frames().next().and_then(|frame| art.describe(frame.method));
    top.is_some_and(|top| top.method == "sleep" && top.class == "java.lang.Thread")
}

/// Answers the worker's question. On the sampler thread, in native state.
pub(crate) struct Looker<'a> {
    pub(crate) art: &'a Art,
    pub(crate) session: &'a Session,
    pub(crate) locator: &'a mut Locator,
    pub(crate) raw: &'a mut RawStack,
}

impl Looker<'_> {
    pub(crate) fn look(&mut self, env: &mut Env<'_>) {
        let looks = &self.session.looks;
        let (number, all_threads) = {
            let look = looks.lock();
            (look.number, look.all_threads)
        };
        let known = self.art.threads();
        let locks = self.chain(env, &known);
        let generation = self.session.names.generation();
        let wanted = looks.add(number, |look| {
            look.seen.generation = generation;
            look.seen.locks = locks;
        });
        if wanted && all_threads {
            self.threads(env, number, &known);
        }
        if looks.add(number, |look| look.done = true) {
            self.session.wake_worker();
        }
    }

    fn hop(&mut self, env: &mut Env<'_>, stopped: Option<(ThreadId, u32)>, wants_lock: bool) -> Seeing {
        let mut suspended = None;
        if let Some((id, tid)) = stopped {
            let Ok(thread) = self.art.suspend_thread(env.get_raw().cast(), id) else {
                return Seeing::default();
            };
            // ART's numbers are used again, and this one may be another thread's by now.
            if thread.tid() != Some(tid) {
                return Seeing::default();
            }
            suspended = Some(thread);
        }
        let mark = u64::MAX - stopped.map_or(0, |(_, tid)| u64::from(tid));
        let mut job = Job::Look(Hop {
            art: self.art,
            session: self.session,
            locator: self.locator,
            raw: self.raw,
            suspended,
            mark,
            wants_lock,
            stack: None,
            lock: None,
        });
        // A call that did not arrive leaves the thread stopped: it goes on when the job is dropped.
        let _ = sampler::call(env, &mut job, |java| java.native_walk);
        let Job::Look(Hop { stack, lock, .. }) = job else { return Seeing::default() };
        Seeing { stack, lock }
    }

    /// Follows the locks from the main thread on.
    fn chain(&mut self, env: &mut Env<'_>, known: &[(ThreadId, u32)]) -> LockChain {
        let mut chain = LockChain::default();
        if !self.art.can_tell_lock_owners() {
            return chain;
        }
        chain.captured_ns = clock::now_ns();
        let main = self.art.main_thread_id();
        let mut first = self.hop(env, None, true).lock;
        if first.as_ref().is_some_and(|lock| lock.owner.is_none()) {
            // Only its stack tells a wait from a sleep.
            first = self.hop(env, Some((main, std::process::id())), true).lock;
        }
        let mut waiters = vec![main];
        let mut next = first.clone();
        while let Some(lock) = next.take() {
            let holder = lock.owner.map(|owner| {
                let tid = known.iter().find(|(id, _)| *id == owner).map_or(0, |(_, tid)| *tid);
                let mut stack = Vec::new();
                if waiters.contains(&owner) {
                    chain.deadlock = true;
                } else if tid != 0 && waiters.len() <= MAX_STEPS {
                    let seen = self.hop(env, Some((owner, tid)), true);
                    stack = seen.bottom_first();
                    next = seen.lock;
                }
                waiters.push(owner);
                LockHolder { name: stat(tid).map(|stat| stat.name).unwrap_or_default(), tid, stack }
            });
            chain.waits.push(LockWait {
                class: lock.class.unwrap_or_default(),
                of_class: lock.of_class.unwrap_or_default(),
                holder,
            });
        }
        // The steps were seen one after the other. In a real circle main still waits as it did at first.
        chain.deadlock = chain.deadlock && self.hop(env, None, true).lock == first;
        if chain.waits.is_empty() { LockChain::default() } else { chain }
    }

    /// All threads but the main one and this one: a stack of each that Java knows, the sleeping ones first, because
    /// one that runs may take long to stop.
    fn threads(&mut self, env: &mut Env<'_>, number: u32, known: &[(ThreadId, u32)]) {
        let looks = &self.session.looks;
        let mut all: Vec<OtherThread> = Vec::new();
        let mut left_out = 0;
        for entry in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
            let Some(tid) = entry.file_name().to_str().and_then(|tid| tid.parse().ok()) else { continue };
            if tid == std::process::id() || tid == clock::this_thread() {
                continue;
            }
            match stat(tid) {
                Some(thread) if all.len() < MAX_THREADS => all.push(thread),
                Some(_) => left_out += 1,
                // It has ended.
                None => {}
            }
        }
        let captured_ns = clock::now_ns();
        all.sort_by_key(|thread| thread.state == b'R');
        let mut stacks = 0;
        let mut without = Vec::new();
        for mut thread in all {
            let id = known.iter().find(|(_, tid)| *tid == thread.tid).filter(|_| stacks < MAX_STACKS);
            let Some(&stopped) = id else {
                without.push(thread);
                continue;
            };
            stacks += 1;
            let seen = self.hop(env, Some(stopped), false);
            thread.stack = seen.stack.is_some().then(|| seen.bottom_first());
            let wanted = looks.add(number, |look| {
                look.seen.threads.captured_ns = captured_ns;
                look.seen.threads.threads.push(thread);
            });
            if !wanted {
                return;
            }
        }
        looks.add(number, |look| {
            let threads = &mut look.seen.threads;
            threads.captured_ns = captured_ns;
            threads.threads.append(&mut without);
            threads.left_out = left_out;
        });
    }
}

#[derive(Default)]
struct Seeing {
    stack: Option<(Stack, u32)>,
    lock: Option<Lock>,
}

impl Seeing {
    fn bottom_first(&self) -> Vec<u32> {
        let top_first = self.stack.as_ref().map_or(&[][..], |(stack, _)| stack.locations());
        top_first.iter().take(MAX_DEPTH).rev().copied().collect()
    }
}

/// What the kernel says of a thread of this process.
fn stat(tid: u32) -> Option<OtherThread> {
    let mut path = String::from("/proc/self/task/");
    path.push_str(&tid.to_string());
    path.push_str("/stat");
    parse_stat(tid, &String::from_utf8_lossy(&fs::read(path).ok()?), clock::ticks_per_second())
}

fn parse_stat(tid: u32, stat: &str, ticks_per_second: u64) -> Option<OtherThread> {
    // The name stands in parentheses and may hold spaces and parentheses itself.
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut fields = after.split_ascii_whitespace();
    let state = fields.next()?.bytes().next()?;
    // What follows the state begins with field 4; utime and stime are 14 and 15.
    let mut times = fields.skip(14 - 4).filter_map(|ticks| ticks.parse::<u64>().ok());
    let cpu_ns = times.next().zip(times.next()).map(|(user, system)| {
        user.saturating_add(system).saturating_mul(1_000_000_000 / ticks_per_second.max(1))
    });
    Some(OtherThread { name: name.to_owned(), tid, state, cpu_ns, stack: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat_is_read() {
        let stat = "77 (a) (b c) S 1 77 77 0 -1 4194304 10 0 0 0 250 50 0 0 20 0 9 0 1234 0 0";
        let thread = parse_stat(77, stat, 100).unwrap();
        assert_eq!(
            (thread.name.as_str(), thread.state, thread.cpu_ns),
            ("a) (b c", b'S', Some(3_000_000_000))
        );
        assert_eq!(parse_stat(1, "", 100), None);
        assert_eq!(parse_stat(1, "1 (x) ", 100), None);
        assert_eq!(parse_stat(1, "1 (x) Z", 100).unwrap().cpu_ns, None);
    }

    #[test]
    fn this_thread_is_found() {
        let thread = stat(clock::this_thread()).unwrap();
        assert_eq!(thread.state, b'R');
        assert!(thread.cpu_ns.is_some());
    }
}
