//! A question of the worker to the sampler: which thread holds the lock that the main thread waits for, and
//! what do all threads do? The sampler adds to the answer; the worker may take the present part at any time.

use crate::sys::clock;
use loopbox_format::model::{LockChain, OtherThreads, Token, Uptime};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was found so far. Locations are numbers of the session's symbol table in this `generation`.
#[derive(Debug, Default)]
pub(crate) struct ThreadAnswer {
    pub(crate) generation: u32,
    pub(crate) locks: LockChain,
    /// The token of the main thread while its locks were followed. [`Token::NONE`] when the token changed
    /// meanwhile.
    pub(crate) locks_of: Token,
    pub(crate) threads: OtherThreads,
}

#[derive(Debug, Default)]
struct Query {
    /// Incremented by each question and by each answer that is taken: an answer with another number is too
    /// late.
    number: u32,
    all_threads: bool,
    deadline_ns: Uptime,
    complete: bool,
    answer: ThreadAnswer,
}

/// The question that is open, if any, and its answer.
#[derive(Debug, Default)]
pub(crate) struct ThreadQueries {
    query: Mutex<Query>,
}

impl ThreadQueries {
    fn lock(&self) -> MutexGuard<'_, Query> {
        self.query.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the last question by a new one. Worker only.
    pub(crate) fn start(&self, all_threads: bool, deadline_ns: Uptime) {
        let mut query = self.lock();
        let number = query.number.wrapping_add(1);
        *query = Query { number, all_threads, deadline_ns, ..Query::default() };
    }

    /// The number of the question, whether it is about all threads, and until when it may be answered.
    /// Sampler only.
    pub(crate) fn current(&self) -> (u32, bool, Uptime) {
        let query = self.lock();
        (query.number, query.all_threads, query.deadline_ns)
    }

    /// Adds to the answer of question `number`; false when it is too late for that. Sampler only.
    pub(crate) fn add(&self, number: u32, change: impl FnOnce(&mut ThreadAnswer)) -> bool {
        self.change(number, |query| change(&mut query.answer))
    }

    /// Marks the answer of question `number` as complete; false when it is too late for that. Sampler only.
    pub(crate) fn complete(&self, number: u32) -> bool {
        self.change(number, |query| query.complete = true)
    }

    fn change(&self, number: u32, change: impl FnOnce(&mut Query)) -> bool {
        let mut query = self.lock();
        let in_time = query.number == number && clock::now_ns() < query.deadline_ns;
        if in_time {
            change(&mut query);
        }
        in_time
    }

    /// Whether the answer is complete. Worker only.
    pub(crate) fn is_complete(&self) -> bool {
        self.lock().complete
    }

    /// Takes what is known by now and ends the question. Worker only.
    pub(crate) fn take(&self) -> ThreadAnswer {
        let mut query = self.lock();
        query.number = query.number.wrapping_add(1);
        std::mem::take(&mut query.answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_comes_too_late_is_dropped() {
        let queries = ThreadQueries::default();
        let later = clock::now_ns() + 60_000_000_000;
        queries.start(true, later);
        let (first, all_threads, _) = queries.current();
        assert!(all_threads && !queries.is_complete());
        assert!(queries.add(first, |answer| answer.generation = 7));
        assert_eq!(queries.take().generation, 7);
        assert!(!queries.add(first, |answer| answer.generation = 8), "taken");
        queries.start(false, later);
        let (second, all_threads, _) = queries.current();
        assert!(second != first && !all_threads && !queries.complete(first));
        assert!(queries.complete(second) && queries.is_complete());
        queries.start(false, Uptime(1));
        assert!(!queries.complete(queries.current().0), "the deadline has passed");
    }
}
