//! Which other threads main may wait for.
//!
//! The holder of a lock is known: ART knows the holder of a `synchronized`, and Java knows that of a
//! `ReentrantLock`. For a latch or a future no report names the thread that will let main continue. But the
//! waiting code and the code that ends the wait belong together. So a thread in code of the class that main
//! waits in, or else of its package, may matter. That is a hint and not a cause.

use super::wait_kind::{WaitKind, WaitSite, kind_of_stack};
use crate::model::{Analysis, Frame, FrameId, OtherThread};

/// How many threads are named.
const MAX_SUSPECTS: usize = 3;

/// A thread that main may wait for.
pub(super) struct Suspect<'a> {
    pub(super) thread: &'a OtherThread,
    /// The top of the thread's stack, without any frames of Loopbox.
    pub(super) top: FrameId,
    /// The thread's first frame in the code that main waits in.
    pub(super) common: FrameId,
    /// Whether the thread is in a call of Loopbox because it requested the report.
    pub(super) asks: bool,
    /// Whether the thread also waits for another thread.
    pub(super) waits: bool,
    /// Whether main's stack has the code in which this thread waits. Then main may hold what the thread waits
    /// for, while the thread holds what main waits for.
    pub(super) crosswise: bool,
}

/// The threads that are in code of the class that main waits in. If there are none, the threads that are in
/// code of that class's package.
///
/// A thread may be in a call of a method of Loopbox, for example to request a report. Then neither Loopbox's
/// frames nor the method that made the call count. Only the callers of that method can make the thread a
/// suspect.
pub(super) fn suspects<'a>(a: &'a Analysis, main: &[FrameId], site: WaitSite) -> Vec<Suspect<'a>> {
    let Some(own) = site.app.map(|app| &a.frames[app]) else { return Vec::new() };
    let by = |part: fn(&str) -> &str| {
        let wanted = part(&own.class);
        let of_it = |frame: &Frame| frame.is_shipped() && !wanted.is_empty() && part(&frame.class) == wanted;
        let found = a.threads.threads.iter().filter_map(|thread| suspect(a, main, thread, &of_it));
        found.take(MAX_SUSPECTS).collect::<Vec<_>>()
    };
    let of_class = by(outermost);
    if of_class.is_empty() { by(package) } else { of_class }
}

fn suspect<'a>(
    a: &'a Analysis,
    main: &[FrameId],
    thread: &'a OtherThread,
    of_it: &dyn Fn(&Frame) -> bool,
) -> Option<Suspect<'a>> {
    let whole = thread.stack.as_ref()?;
    if a.frames.is_thread_of_loopbox(&thread.name, whole) {
        return None;
    }
    let stack = a.frames.below_loopbox(whole);
    let asks = stack.len() < whole.len();
    let common =
        stack.iter().rev().skip(usize::from(asks)).copied().find(|&frame| of_it(&a.frames[frame]))?;
    let waits = kind_of_stack(stack, &a.frames) == Some(WaitKind::Lock);
    // The class that it waits in itself.
    let waits_in = a.frames.first_own(stack.iter().rev(), |id| *id).map(|&id| outermost(&a.frames[id].class));
    let below_wait = &main[..main.len().saturating_sub(1)];
    let crosswise = waits
        && waits_in.is_some_and(|class| {
            let is_there =
                |&&id: &&FrameId| a.frames[id].is_shipped() && outermost(&a.frames[id].class) == class;
            below_wait.iter().any(|id| is_there(&id))
        });
    Some(Suspect { thread, top: *stack.last()?, common, asks, waits, crosswise })
}

/// The outermost class: `com.shop.Store` of `com.shop.Store$1`.
fn outermost(class: &str) -> &str {
    class.split('$').next().unwrap_or(class)
}

fn package(class: &str) -> &str {
    class.rsplit_once('.').map_or("", |(package, _)| package)
}
