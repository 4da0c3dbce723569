//! The kinds of things that main waits for until another thread acts: a lock, a latch, a future. The method
//! in which main waits shows the kind, if it is a known method of Java or of a well-known library.

use super::pattern::matches;

/// Something in another thread that main waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum LockKind {
    Latch,
    Future,
    FullQueue,
    EmptyQueue,
    PoolEnd,
    Semaphore,
    ReadLock,
    WriteLock,
    Lock,
    Condition,
    Notify,
    ThreadEnd,
    Coroutine,
    ChildProcess,
    Finalizers,
    /// Something unknown: main is parked, and no method shows for what.
    Park,
}

use LockKind::{
    ChildProcess, Condition, Coroutine, EmptyQueue, Finalizers, FullQueue, Future, Latch, Lock, Notify, Park,
    PoolEnd, ReadLock, Semaphore, ThreadEnd, WriteLock,
};

/// Class, method, and what a thread waits for there, with the patterns of `framework.rs`.
const METHODS: &[(&str, &str, LockKind)] = &[
    ("java.util.concurrent.CountDownLatch", "await", Latch),
    ("java.util.concurrent.CyclicBarrier", "await", Latch),
    ("java.util.concurrent.Phaser", "await*", Latch),
    ("java.util.concurrent.FutureTask", "get", Future),
    ("java.util.concurrent.CompletableFuture", "get", Future),
    ("java.util.concurrent.CompletableFuture", "join", Future),
    ("java.util.concurrent.ForkJoinTask", "get", Future),
    ("java.util.concurrent.ForkJoinTask", "join", Future),
    ("com.google.common.util.concurrent.AbstractFuture*", "get*", Future),
    ("com.google.android.gms.tasks.Tasks", "await", Future),
    ("java.util.concurrent.*Queue", "put", FullQueue),
    ("java.util.concurrent.*Deque", "put*", FullQueue),
    ("java.util.concurrent.*Queue", "offer", FullQueue),
    ("java.util.concurrent.*Queue", "take", EmptyQueue),
    ("java.util.concurrent.*Queue", "poll", EmptyQueue),
    ("java.util.concurrent.*Deque", "take*", EmptyQueue),
    ("java.util.concurrent.ThreadPoolExecutor", "awaitTermination", PoolEnd),
    ("java.util.concurrent.ForkJoinPool", "await*", PoolEnd),
    ("java.util.concurrent.Semaphore", "acquire*", Semaphore),
    ("java.util.concurrent.Semaphore", "tryAcquire", Semaphore),
    ("java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock", "", ReadLock),
    ("java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock", "", WriteLock),
    ("java.util.concurrent.locks.StampedLock", "readLock*", ReadLock),
    ("java.util.concurrent.locks.StampedLock", "writeLock*", WriteLock),
    ("java.util.concurrent.locks.ReentrantLock", "", Lock),
    ("java.util.concurrent.locks.*ConditionObject", "await*", Condition),
    ("kotlinx.coroutines.BuildersKt*", "runBlocking*", Coroutine),
    ("kotlinx.coroutines.BlockingCoroutine", "joinBlocking", Coroutine),
    ("io.reactivex.*", "blocking*", Future),
    ("rx.observables.BlockingObservable", "", Future),
    ("java.lang.UNIXProcess", "waitFor", ChildProcess),
    ("java.lang.Process*", "waitFor", ChildProcess),
    ("java.lang.System", "runFinalization", Finalizers),
    ("java.lang.Runtime", "runFinalization", Finalizers),
    ("dalvik.system.VMRuntime", "runFinalization*", Finalizers),
    ("java.lang.Thread", "join", ThreadEnd),
    ("java.lang.Object", "wait", Notify),
];

impl LockKind {
    /// What main waits for in this method; `None` for most methods. This searches the whole table, so a frame
    /// stores the result.
    pub(crate) fn of_method(class: &str, method: &str) -> Option<Self> {
        let known = METHODS.iter().find(|(of, name, _)| matches(of, class) && matches(name, method));
        known.map(|(.., kind)| *kind)
    }

    /// The kind, as a noun.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Latch => "a latch",
            Future => "a future's result",
            FullQueue => "room in a full queue",
            EmptyQueue => "an item of a queue",
            PoolEnd => "a pool to end",
            Semaphore => "a permit of a semaphore",
            ReadLock => "a read lock",
            WriteLock => "a write lock",
            Lock => "a lock",
            Condition => "a condition",
            Notify => "a notification",
            ThreadEnd => "a thread's end",
            Coroutine => "a coroutine's end",
            ChildProcess => "a child process to end",
            Finalizers => "the finalizers",
            Park => "another thread",
        }
    }

    /// What to do next.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Latch => {
                "Find who is to count the latch down (the other threads' stacks), and have it post to the main thread \
                 instead."
            }
            Future => {
                "Take the result in a callback instead of get(). See in the other threads whether the task runs at all: its \
                 pool may be full, or it may wait for main."
            }
            FullQueue => {
                "See who takes from the queue, and what it does instead (the other threads' stacks). The main thread \
                 should drop or refuse what does not fit: offer() without a time-out."
            }
            EmptyQueue => {
                "See who is to fill the queue. The main thread takes only what is there: poll() without a time-out."
            }
            PoolEnd => {
                "Shut the pool down without waiting for it on the main thread, and see which of its tasks still runs."
            }
            Semaphore => {
                "See who holds the permits (the other threads' stacks). The main thread uses tryAcquire()."
            }
            ReadLock => {
                "A reader waits as soon as a writer is queued. Find the reader that holds the lock, for which both wait, and \
                 shorten what it does under it."
            }
            WriteLock => {
                "A writer waits for all readers. Find those that hold the lock, and do not write on the main thread."
            }
            Lock => {
                "Find the thread that holds the lock (the other threads' stacks, the system's ANR trace), and what it does \
                 while holding it."
            }
            Condition | Notify => {
                "Find the thread that is to signal and what it does instead (the other threads' stacks), and do not wait for \
                 it on the main thread."
            }
            ThreadEnd => {
                "Do not join a thread on the main thread: let it post its result there when it is done, or have it end \
                 without being waited for."
            }
            Coroutine => {
                "Do not use runBlocking on the main thread. A coroutine that it starts on Dispatchers.Main can never run \
                 meanwhile."
            }
            ChildProcess => {
                "Wait for the process on another thread, and read its output there: a full pipe stops it."
            }
            Finalizers => {
                "Do not wait for finalizers. See what FinalizerDaemon does (the other threads' stacks): one finalizer that \
                 blocks stops all."
            }
            Park => {
                "Find the thread that is to let main go (the other threads' stacks, the system's ANR trace), and what it does."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::test_support::ReportBuilder;

    fn kind(stack: &str) -> LockKind {
        let a = Analysis::new(&ReportBuilder::new().running(1, 1_000).tree(1, &[(stack, 50)]).build());
        let stack = a.trees[0].stack(a.trees[0].stack_runs()[0].top);
        stack.iter().find_map(|&id| a.frames[id].lock_kind).unwrap_or(Park)
    }

    #[test]
    fn the_method_that_was_called_says_what_is_waited_for() {
        const PARK: &str = "java.util.concurrent.locks.LockSupport.park sun.misc.Unsafe.park!";
        for (stack, expected) in [
            ("java.util.concurrent.CountDownLatch.await PARK", Latch),
            ("java.util.concurrent.FutureTask.get java.util.concurrent.FutureTask.awaitDone PARK", Future),
            (
                "com.google.android.gms.tasks.Tasks.await java.util.concurrent.CountDownLatch.await PARK",
                Future,
            ),
            ("java.util.concurrent.LinkedBlockingQueue.put PARK", FullQueue),
            ("java.util.concurrent.ArrayBlockingQueue.take PARK", EmptyQueue),
            (
                "java.util.concurrent.ThreadPoolExecutor.awaitTermination \
                 java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.awaitNanos PARK",
                PoolEnd,
            ),
            ("java.util.concurrent.Semaphore.acquire PARK", Semaphore),
            ("java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock PARK", ReadLock),
            ("java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock.lock PARK", WriteLock),
            ("java.util.concurrent.locks.ReentrantLock.lock PARK", Lock),
            ("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await PARK", Condition),
            ("kotlinx.coroutines.BuildersKt__BuildersKt.runBlocking$default PARK", Coroutine),
            ("java.lang.UNIXProcess.waitFor java.lang.Object.wait!", ChildProcess),
            ("java.lang.Thread.join java.lang.Object.wait!", ThreadEnd),
            ("java.lang.Object.wait!", Notify),
            ("java.lang.System.runFinalization java.lang.Object.wait!", Finalizers),
            ("PARK", Park),
            ("com.shop.Latch.await PARK", Park),
        ] {
            assert_eq!(kind(&stack.replace("PARK", PARK)), expected, "{stack}");
        }
    }
}
