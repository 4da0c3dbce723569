//! The thread dump and the chain of locks that the main thread waits for. The worker wants them for a report;
//! the sampler makes them, because it is the only thread that suspends others. Each thread is suspended
//! alone, for one walk.

use super::suspended_call::{InspectJob, Job, Walker, call};
use super::symbolizer::Symbolizer;
use crate::anr::signal_catcher;
use crate::jni::env::Env;
use crate::session::Session;
use crate::session::symbols::Stack;
use crate::sys::{clock, memory, proc};
use loopbox_art::{Art, Lock, RawStack, ThreadId, Unstoppable};
use loopbox_format::model::{LocationId, LockChain, LockHolder, LockWait, OtherThread, Token, Uptime};
use loopbox_format::text;
use std::io;

/// The maximum number of steps from the main thread to the thread that all others wait for.
const MAX_STEPS: usize = 8;
/// The dump has at most `MAX_THREADS` threads, and the stacks of at most `MAX_STACKS` of them.
const MAX_THREADS: usize = 256;
const MAX_STACKS: usize = 96;
/// While ART writes its own trace, the dump stops no thread but waits. It waits until this much of the dump's
/// time limit is left. In that rest it reads only what needs no stopped thread.
const WITHOUT_STACKS_NS: u64 = 500_000_000;
/// How many frames of another thread's stack are kept, from the top.
const MAX_DEPTH: usize = 64;

/// Answers the worker's question. On the sampler thread, in native state.
pub(super) struct ThreadDumper<'a> {
    pub(super) art: &'a Art,
    pub(super) session: &'a Session,
    pub(super) symbolizer: &'a mut Symbolizer,
    pub(super) raw: &'a mut RawStack,
    /// The uptime until which to wait for the end of ART's own trace.
    stacks_deadline_ns: Uptime,
}

impl<'a> ThreadDumper<'a> {
    pub(super) fn new(
        art: &'a Art,
        session: &'a Session,
        symbolizer: &'a mut Symbolizer,
        raw: &'a mut RawStack,
    ) -> Self {
        Self { art, session, symbolizer, raw, stacks_deadline_ns: Uptime::ZERO }
    }

    pub(super) fn answer(&mut self, env: &mut Env<'_>) {
        let queries = &self.session.thread_queries;
        let (number, all_threads, deadline_ns) = queries.current();
        self.stacks_deadline_ns = deadline_ns.minus(WITHOUT_STACKS_NS);
        let known = self.art.threads();
        let main = &self.session.shared.main;
        let before = main.token();
        let locks = self.chain(env, &known);
        let locks_of = if main.token() == before { before } else { Token::NONE };
        let generation = self.session.symbols.generation();
        let wanted = queries.add(number, |answer| {
            answer.generation = generation;
            answer.locks = locks;
            answer.locks_of = locks_of;
        });
        if wanted && all_threads {
            self.threads(env, number, &known);
        }
        if queries.complete(number) {
            self.session.wake_worker();
        }
    }

    /// Suspends a thread (given with its ids) for its stack and, when wanted, for the lock that it waits for.
    /// Without a thread nothing is suspended, and only the main thread's lock is read.
    fn inspect(&mut self, env: &mut Env<'_>, thread: Option<(ThreadId, u32)>, wants_lock: bool) -> Inspected {
        let mut suspended = None;
        if memory::is_short() || thread.is_some_and(|thread| self.is_unstoppable(thread)) {
            return Inspected::default();
        }
        if thread.is_some() && !signal_catcher::wait_until_idle(self.stacks_deadline_ns) {
            self.art.left_out(Unstoppable::Trace);
            return Inspected::default();
        }
        // Before a thread is stopped: it takes a lock and may free memory.
        self.symbolizer.prepare(&self.session.symbols);
        let armed = self.art.armed();
        let _stop = thread.map(|_| self.session.shared.stops.begin());
        if let Some((id, tid)) = thread {
            // Once more, within the stop: a signal that is forwarded from now on waits for its end.
            if signal_catcher::is_tracing() {
                self.art.left_out(Unstoppable::Trace);
                return Inspected::default();
            }
            let Ok(thread) = self.art.suspend_thread(env.of_art(), id) else {
                return Inspected::default();
            };
            // ART reuses its ids, and this one may be another thread's by now.
            if thread.tid() != Some(tid) {
                return Inspected::default();
            }
            suspended = Some((thread, tid));
        }
        let walker =
            Walker { art: self.art, session: self.session, symbolizer: self.symbolizer, raw: self.raw };
        let mut job =
            Job::Inspect(InspectJob { walker, suspended, wants_lock, has_stack: false, lock: None });
        // A call that did not reach the native method leaves the thread suspended: dropping the job resumes
        // it.
        let _ = call(env, &mut job, |classes| classes.native_walk);
        let Job::Inspect(InspectJob { walker, suspended, has_stack, lock, .. }) = job else {
            return Inspected::default();
        };
        drop(suspended);
        drop(armed);
        let stack = if has_stack { walker.number(env) } else { None };
        Inspected { stack, lock }
    }

    /// Whether a thread may wait for the disk in Java code. If it were asked to stop, the sampler would wait
    /// for as long as the disk, up to ART's limit, and the other threads would have no stacks. In native code
    /// a thread counts as stopped already, whatever it waits for.
    fn is_unstoppable(&self, thread: (ThreadId, u32)) -> bool {
        let (_, tid) = thread;
        let waits_for_none = stat(tid).is_ok_and(|stat| stat.is_some_and(|stat| stat.state != b'D'));
        !waits_for_none && self.art.thread_runs_java(thread) != Some(false)
    }

    /// Follows the locks from the main thread on.
    fn chain(&mut self, env: &mut Env<'_>, known: &[(ThreadId, u32)]) -> LockChain {
        let mut chain = LockChain::default();
        if !self.art.knows_lock_owners() {
            return chain;
        }
        chain.captured_ns = clock::now_ns();
        let main = self.art.main_thread_id();
        let mut first = self.inspect(env, None, true).lock;
        if first.as_ref().is_some_and(|lock| lock.owner.is_none()) {
            // Only its stack distinguishes a wait from a sleep.
            first = self.inspect(env, Some((main, std::process::id())), true).lock;
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
                    let inspected = self.inspect(env, Some((owner, tid)), true);
                    stack = inspected.bottom_first();
                    next = inspected.lock;
                }
                waiters.push(owner);
                let stat = self.stat(tid).ok().flatten();
                LockHolder { name: stat.map(|stat| stat.name).unwrap_or_default(), tid, stack }
            });
            chain.waits.push(LockWait {
                class: lock.class.unwrap_or_default(),
                of_class: lock.of_class.unwrap_or_default(),
                holder,
            });
        }
        // The steps were examined one after the other. In a real cycle the main thread still waits for the
        // same lock.
        chain.deadlock = chain.deadlock && self.inspect(env, None, true).lock == first;
        if chain.waits.is_empty() { LockChain::default() } else { chain }
    }

    /// The kernel's statistics of a thread, with as much of its name as the app allows; `None` for a thread
    /// that has ended.
    fn stat(&self, tid: u32) -> io::Result<Option<OtherThread>> {
        let redacts = self.session.settings.redact_threads && tid != std::process::id();
        let thread = stat(tid)?;
        Ok(if redacts { thread.map(redact) } else { thread })
    }

    /// Adds all threads but the main one and this one to the answer. Threads that are attached to the VM have
    /// a stack; those that sleep come first, because one that runs may take long to stop.
    fn threads(&mut self, env: &mut Env<'_>, number: u32, known: &[(ThreadId, u32)]) {
        let queries = &self.session.thread_queries;
        // Without the list it is not known which threads there are: the report has no dump then.
        let Ok(ids) = proc::threads() else { return };
        let others = ids.into_iter().filter(|&tid| tid != std::process::id() && tid != clock::this_thread());
        let (all, left_out) = listed(others, |tid| self.stat(tid));
        let captured_ns = clock::now_ns();
        let (sleeping, running): (Vec<_>, Vec<_>) = all.into_iter().partition(|thread| thread.state != b'R');
        let mut stacks = 0;
        let mut without = Vec::new();
        for mut thread in sleeping.into_iter().chain(running) {
            let id = known.iter().find(|(_, tid)| *tid == thread.tid).filter(|_| stacks < MAX_STACKS);
            let Some(&known) = id else {
                without.push(thread);
                continue;
            };
            stacks += 1;
            let inspected = self.inspect(env, Some(known), false);
            thread.stack = inspected.stack.is_some().then(|| inspected.bottom_first());
            let wanted = queries.add(number, |answer| {
                answer.threads.captured_ns = captured_ns;
                answer.threads.threads.push(thread);
            });
            if !wanted {
                return;
            }
        }
        queries.add(number, |answer| {
            let threads = &mut answer.threads;
            threads.captured_ns = captured_ns;
            threads.threads.append(&mut without);
            threads.left_out = left_out;
        });
    }
}

/// The threads with these ids, as `stat` reads them, and how many more there are: those above the limit, and
/// those that could not be read.
fn listed(
    ids: impl Iterator<Item = u32>,
    stat: impl Fn(u32) -> io::Result<Option<OtherThread>>,
) -> (Vec<OtherThread>, u32) {
    let (mut all, mut left_out) = (Vec::new(), 0);
    for tid in ids {
        match stat(tid) {
            Ok(Some(thread)) if all.len() < MAX_THREADS => all.push(thread),
            Ok(None) => {}
            Ok(Some(_)) | Err(_) => left_out += 1,
        }
    }
    (all, left_out)
}

/// The beginnings of the names of threads that ART and the framework start in an app. They are one text,
/// because an array of texts would need a relocation for each.
const PLATFORM_THREADS: &str = "ADB-JDWP|Binder:|FinalizerDaemon|FinalizerWatchd|GPU completion|HeapTaskDaemon|Jit thread pool|\
    Profile Saver|ReferenceQueueD|RenderThread|Runtime worker|Signal Catcher|binder:|hwuiTask|\
    loopbox-|mali-|perfetto_hprof|queued-work-loo";

/// Replaces the name of each thread that the platform has not started, if the app wants that.
const REDACTED: &str = "redacted";

fn redact(thread: OtherThread) -> OtherThread {
    if PLATFORM_THREADS.split('|').any(|known| thread.name.starts_with(known)) {
        return thread;
    }
    OtherThread { name: REDACTED.to_owned(), ..thread }
}

#[derive(Default)]
struct Inspected {
    stack: Option<Stack>,
    lock: Option<Lock>,
}

impl Inspected {
    fn bottom_first(&self) -> Vec<LocationId> {
        let top_first = self.stack.as_ref().map_or(&[][..], Stack::locations);
        top_first.iter().take(MAX_DEPTH).rev().copied().collect()
    }
}

/// What the kernel reports about a thread of this process; `None` for a thread that has ended.
fn stat(tid: u32) -> io::Result<Option<OtherThread>> {
    match proc::read(&proc::of_thread(tid, "stat")) {
        Ok(stat) => Ok(parse_stat(tid, &stat, clock::ticks_per_second())),
        Err(error) if proc::is_of_gone_thread(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse_stat(tid: u32, stat: &str, ticks_per_second: u64) -> Option<OtherThread> {
    // The name is in parentheses and may contain spaces and parentheses itself.
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut fields = after.split_ascii_whitespace();
    let state = fields.next()?.bytes().next()?;
    // The fields after the state start with field 4; utime and stime are 14 and 15.
    let mut times = fields.skip(14 - 4).filter_map(text::number::<u64>);
    let cpu_ns = times.next().zip(times.next()).map(|(user, system)| {
        user.saturating_add(system).saturating_mul(1_000_000_000 / ticks_per_second.max(1))
    });
    Some(OtherThread { name: name.to_owned(), tid, state, cpu_ns, stack: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn this_thread() -> OtherThread {
        stat(clock::this_thread()).unwrap().unwrap()
    }

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
    fn only_the_platforms_own_names_stay_when_names_are_redacted() {
        let named = |name: &str| OtherThread { name: name.into(), ..this_thread() };
        for (name, kept) in
            [("Binder:77_1", "Binder:77_1"), ("RenderThread", "RenderThread"), ("sync joe@ex.org", REDACTED)]
        {
            assert_eq!(redact(named(name)).name, kept);
        }
    }

    #[test]
    fn this_thread_is_found() {
        let thread = this_thread();
        assert_eq!(thread.state, b'R');
        assert!(thread.cpu_ns.is_some());
        // No thread has this id.
        assert_eq!(stat(u32::MAX).unwrap(), None);
    }

    #[test]
    fn a_thread_that_cannot_be_read_counts_as_one_that_is_left_out() {
        let read = |tid| match tid {
            1 => Err(io::Error::from_raw_os_error(libc::EMFILE)),
            2 => Ok(None),
            _ => Ok(Some(OtherThread { tid, ..this_thread() })),
        };
        let (all, left_out) = listed(1..=4, read);
        assert_eq!((all.iter().map(|thread| thread.tid).collect::<Vec<_>>(), left_out), (vec![3, 4], 1));
        let (all, left_out) = listed(1..=MAX_THREADS as u32 + 3, read);
        assert_eq!((all.len(), left_out), (MAX_THREADS, 2), "and those above the limit");
    }
}
