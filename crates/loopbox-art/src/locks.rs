//! Who holds the lock that a thread waits for.
//!
//! Uses two functions of ART, `Monitor::GetContendedMonitor(Thread*)` and
//! `Monitor::GetLockOwnerThreadId(Object*)`, which every version from 8.0 to 16 exports. Only a runnable
//! thread reads objects, so that no collection can move or free one meanwhile. The remaining risks, and what
//! excludes each, are in `docs/sampler.md`, "Who holds the lock".

use std::marker::PhantomData;
use std::num::NonZeroUsize;

use crate::art::{Art, Suspended, ThreadId};
use crate::fuse::Phase;
use crate::jni::JniEnv;
use crate::symbols::Opaque;
use crate::sys::mem;

/// An object on the Java heap. Invalid after the fast native method in which it was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectRef {
    address: NonZeroUsize,
    not_send: PhantomData<*mut ()>,
}

impl ObjectRef {
    pub(crate) fn address(self) -> usize {
        self.address.get()
    }
}

/// A lock that a thread waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// Class of the object; `None` for an array or when it could not be read.
    pub class: Option<String>,
    /// For a class object, which a `synchronized static` method locks: the class that it stands for.
    pub of_class: Option<String>,
    /// The thread that holds it; `None` when no thread does (a thread in `Object.wait` has released the
    /// lock).
    pub owner: Option<ThreadId>,
}

impl Art {
    /// Whether this ART knows who holds a lock.
    pub fn knows_lock_owners(&self) -> bool {
        self.locks().is_some()
    }

    /// ART's number of the main thread. A chain of holders that leads back to it is a deadlock.
    pub fn main_thread_id(&self) -> ThreadId {
        ThreadId(self.main_id())
    }

    /// The object whose monitor the main thread is entering or waiting on. Only in a fast native method
    /// (`None` elsewhere), and only while the main thread is not suspended.
    pub fn contended_by_main(&self, env: JniEnv) -> Option<ObjectRef> {
        self.is_runnable(env).then_some(())?;
        // SAFETY: the main thread's Thread lives as long as the process; this thread is runnable.
        unsafe { self.contended_by_thread(self.main_thread()) }
    }

    /// The object whose monitor a suspended thread is entering or waiting on. The thread must be resumed
    /// before [`describe_lock`](Self::describe_lock) is called for the object.
    pub fn contended_by(&self, env: JniEnv, suspended: &Suspended<'_>) -> Option<ObjectRef> {
        (self.is_runnable(env) && self.window().begin_read()).then_some(())?;
        // SAFETY: a suspended thread cannot end, and while it is read no guard lets it go; this thread is
        // runnable.
        let object = unsafe { self.contended_by_thread(suspended.thread()) };
        self.window().end_read();
        object
    }

    /// # Safety
    /// `thread` is an `art::Thread*` that lives during the call; the calling thread is runnable.
    unsafe fn contended_by_thread(&self, thread: usize) -> Option<ObjectRef> {
        let (contended, _) = self.locks()?;
        // SAFETY: the caller's promise. The function locks the thread's wait mutex, which no thread holds at
        // a safepoint.
        let object = unsafe { contended.call(thread as Opaque) };
        let object = current_copy(NonZeroUsize::new(object)?)?;
        Some(ObjectRef { address: object, not_send: PhantomData })
    }

    /// The class of a contended object, and the thread that holds its lock. Call it in the fast native method
    /// that obtained the object, and with no thread suspended, because ART takes locks for the answer.
    pub fn describe_lock(&self, object: ObjectRef) -> Lock {
        let address = object.address.get();
        let class = self.namer().class_of(address);
        let of_class =
            if class.as_deref() == Some("java.lang.Class") { self.namer().class_name(address) } else { None };
        let owner = self.locks().and_then(|(_, owner)| {
            self.mark(Phase::LockOwner);
            // SAFETY: the object was got in this runnable stretch (ObjectRef), so it is neither freed nor
            // moved.
            let id = unsafe { owner(address) };
            self.mark(Phase::Idle);
            (id != 0).then_some(ThreadId(id))
        });
        Lock { class, of_class, owner }
    }
}

/// The present address of an object, which the collector may just have moved. `None` when it cannot be read.
///
/// A collection updates the references of a waiting thread a moment after those of other threads. Until then
/// such a reference leads to the old copy of a moved object. The lock word of the old copy has the new
/// address, which ART's own functions do not expect there.
pub(crate) fn current_copy(object: NonZeroUsize) -> Option<NonZeroUsize> {
    const STATE_SHIFT: u32 = 30;
    const FORWARDED: u32 = 3;
    const ADDRESS_SHIFT: u32 = 3;
    let lock_word = mem::read::<u32>(object.get().checked_add(4)?)?;
    if lock_word >> STATE_SHIFT == FORWARDED {
        return NonZeroUsize::new((lock_word << ADDRESS_SHIFT) as usize);
    }
    Some(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_object_is_found_where_it_is_now() {
        let at = |object: &[u32; 2]| NonZeroUsize::new(object.as_ptr() as usize).unwrap();
        let thin = [0x1234, 0x0001_0007];
        assert_eq!(current_copy(at(&thin)), Some(at(&thin)));
        let moved = [0x1234, (0x1300_0008 >> 3) | 3 << 30];
        assert_eq!(current_copy(at(&moved)).map(NonZeroUsize::get), Some(0x1300_0008));
        assert_eq!(current_copy(NonZeroUsize::new(16).unwrap()), None, "not readable");
    }
}
