//! The threads of the process as ART knows them, read from their own memory. None of them is stopped for it.

use super::{Art, ThreadId};
use crate::discover;
use crate::sys::mem;
use crate::thread_state::{RUNNABLE, runs_java, state_of};

impl Art {
    /// The threads that ART knows, each with ART's number and the kernel's id. Empty when the list could not
    /// be read because threads kept coming and going.
    pub fn threads(&self) -> Vec<(ThreadId, u32)> {
        let at = self.main.thin_lock_id_at;
        discover::listed(self.thread_list, at)
            .into_iter()
            .filter_map(|thread| {
                let [id, tid] = mem::read::<[u32; 2]>(thread.wrapping_add(at))?;
                Some((ThreadId(id), tid))
            })
            .collect()
    }

    /// Whether ART counts the main thread as running Java code. If so, main must reach a safepoint before it
    /// is stopped. Otherwise a request stops it at once, whatever it waits for in the kernel.
    pub fn main_runs_java(&self) -> bool {
        runs_java(self.main.thread)
    }

    /// Whether ART counts the thread with these ids, ART's and the kernel's, as running Java code. `None`
    /// when no thread has both ids any more, or when its state cannot be read.
    pub fn thread_runs_java(&self, (id, tid): (ThreadId, u32)) -> Option<bool> {
        let at = self.main.thin_lock_id_at;
        let ids = |thread: &usize| mem::read::<[u32; 2]>(thread.wrapping_add(at));
        let known = discover::listed(self.thread_list, at);
        let thread = known.into_iter().find(|thread| ids(thread) == Some([id.0, tid]))?;
        state_of(thread).map(|state| RUNNABLE.contains(&state))
    }
}
