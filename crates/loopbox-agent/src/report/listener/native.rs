//! Listeners of native code.

use crate::sys::mapped::{self, Origin};
use crate::sys::{clock, descriptors, log};
use loopbox_format::report;
use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, ptr};

/// Receives a report's path, why it was written, and its digest.
pub type Listener = extern "C" fn(*const c_char, *const c_char, *const c_char);

/// The kernel is asked at most `TRIES` times where a listener's code comes from, until it answers. `PAUSE` is
/// the time between two tries.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(100);

/// A listener of native code, if there is one.
pub(super) struct Slot {
    /// A [`Listener`] or null.
    listener: AtomicPtr<()>,
    /// The listener that was called last, and the file of its code.
    called: Mutex<Option<(Listener, Origin)>>,
}

/// The listener that is notified of complete reports.
pub(super) static LISTENER: Slot = Slot::new();
/// The listener that is notified when a report's first file is on disk, before the report is complete.
pub(super) static FIRST: Slot = Slot::new();

impl Slot {
    const fn new() -> Self {
        Self { listener: AtomicPtr::new(ptr::null_mut()), called: Mutex::new(None) }
    }

    pub(super) fn set(&self, listener: Option<Listener>) {
        let listener = listener.map_or(ptr::null_mut(), |listener| listener as *mut ());
        self.listener.store(listener, Ordering::Release);
    }

    pub(super) fn get(&self) -> Option<Listener> {
        let listener = self.listener.load(Ordering::Acquire);
        // SAFETY: not null, so `set` made it of a function of this type.
        (!listener.is_null()).then(|| unsafe { std::mem::transmute::<*mut (), Listener>(listener) })
    }

    /// The listener, if its code is still loaded, which `code_at` finds out. A library that was unloaded may
    /// not have removed its listener; such a listener is removed here. When `code_at` fails in all tries, the
    /// listener stays, and this report is not passed to it.
    fn get_loaded(&self, code_at: impl Fn(usize) -> io::Result<Option<Origin>>) -> Option<Listener> {
        for _ in 0..TRIES {
            let listener = self.get()?;
            match code_at(listener as usize) {
                Ok(found) => return self.keep_loaded(listener, found),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
        log::warn("a native report listener is left out: it is not known whether its library is loaded");
        None
    }

    /// Returns the listener if its code is loaded, from the same file as at the last call of this listener.
    /// Otherwise removes the listener. `found` is the file at the listener's address; `None` when no code is
    /// there.
    fn keep_loaded(&self, listener: Listener, found: Option<Origin>) -> Option<Listener> {
        let mut called = self.called.lock().unwrap_or_else(PoisonError::into_inner);
        let before = called.filter(|(before, _)| *before as usize == listener as usize);
        if let Some(origin) = found.filter(|found| before.is_none_or(|(_, before)| before == *found)) {
            *called = Some((listener, origin));
            return Some(listener);
        }
        log::warn("the native report listener is gone with its library");
        let gone = listener as *mut ();
        let _ = self.listener.compare_exchange(gone, ptr::null_mut(), Ordering::AcqRel, Ordering::Relaxed);
        None
    }
}

/// The thread that calls a listener now; 0 when none does.
static CALLING: AtomicU32 = AtomicU32::new(0);

/// Whether the calling thread is calling a listener now.
pub(crate) fn is_calling() -> bool {
    CALLING.load(Ordering::Relaxed) == clock::this_thread()
}

pub(super) fn notify(slot: &Slot, path: &Path, reason: &str) {
    let Some(listener) = slot.get_loaded(mapped::code_at) else { return };
    let file = descriptors::open(|| std::fs::read(path)).unwrap_or_default();
    let digest = report::digest(&file).unwrap_or_default();
    let texts = [path.as_os_str().as_bytes(), reason.as_bytes(), digest.as_bytes()];
    // Only an app's reason may have a zero byte: such a text is passed on up to there.
    let [path, reason, digest] = texts.map(|text| {
        let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
        CString::new(text).unwrap_or_default()
    });
    CALLING.store(clock::this_thread(), Ordering::Relaxed);
    listener(path.as_ptr(), reason.as_ptr(), digest.as_ptr());
    CALLING.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::Report;
    use std::ffi::CStr;
    use std::sync::Mutex;

    static CALLS: Mutex<Vec<[String; 3]>> = Mutex::new(Vec::new());

    extern "C" fn listener(path: *const c_char, reason: *const c_char, digest: *const c_char) {
        // SAFETY: C strings, by the contract of [`Listener`].
        let texts = [path, reason, digest].map(|text| unsafe { CStr::from_ptr(text) });
        CALLS.lock().unwrap().push(texts.map(|text| text.to_str().unwrap().to_owned()));
    }

    #[test]
    fn a_native_listener_is_called_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lbx");
        let report = Report { digest: "hang\nshop\n7\n0\nmain runs Cart".into(), ..Report::default() };
        std::fs::write(&path, report::encode(&report).unwrap()).unwrap();
        notify(&LISTENER, &path, "before there is a listener");
        LISTENER.set(Some(listener));
        notify(&FIRST, &path, "of a first file");
        notify(&LISTENER, &path, "hang");
        notify(&LISTENER, &folder.path().join("gone.lbx"), "cut\0here");
        LISTENER.set(None);
        notify(&LISTENER, &path, "after it was removed");
        let name = |file: &str| folder.path().join(file).to_str().unwrap().to_owned();
        let expected = [
            [name("a.lbx"), "hang".into(), "main runs Cart".into()],
            [name("gone.lbx"), "cut".into(), String::new()],
        ];
        assert_eq!(*CALLS.lock().unwrap(), expected);
    }

    #[test]
    fn a_native_listener_that_is_gone_with_its_library_is_forgotten() {
        let slot = Slot::new();
        let is_loaded = || slot.get_loaded(mapped::code_at).is_some();
        slot.set(Some(listener));
        assert!(is_loaded() && is_loaded());
        // As if its code had come from another file when it was called.
        if let Some((_, origin)) = slot.called.lock().unwrap().as_mut() {
            origin.inode += 1;
        }
        assert!(!is_loaded() && slot.get().is_none());

        const RIGHTS: i32 = libc::PROT_READ | libc::PROT_EXEC;
        const KIND: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a separate page, which is never called.
        let code = unsafe { libc::mmap(ptr::null_mut(), 4_096, RIGHTS, KIND, -1, 0) };
        assert_ne!(code, libc::MAP_FAILED);
        // SAFETY: not null, and never called.
        slot.set(Some(unsafe { std::mem::transmute::<*mut libc::c_void, Listener>(code) }));
        assert!(is_loaded());
        // SAFETY: mapped above.
        assert_eq!(unsafe { libc::munmap(code, 4_096) }, 0);
        assert!(!is_loaded() && slot.get().is_none());
    }

    #[test]
    fn a_native_listener_that_may_be_gone_is_left_out_and_stays() {
        let slot = Slot::new();
        slot.set(Some(listener));
        let tries = AtomicU32::new(0);
        let from_try = |first: u32| {
            tries.store(0, Ordering::Relaxed);
            slot.get_loaded(|address| {
                let is_read = tries.fetch_add(1, Ordering::Relaxed) >= first;
                if is_read {
                    mapped::code_at(address)
                } else {
                    Err(io::Error::from_raw_os_error(libc::ENOMEM))
                }
            })
        };
        assert!(from_try(TRIES).is_none() && slot.get().is_some());
        assert!(from_try(TRIES - 1).is_some(), "the kernel says it again");
        assert!(from_try(0).is_some());
    }
}
