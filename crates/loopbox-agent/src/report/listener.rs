//! The listeners of reports: Java's `Listener`, then one of native code, and who has asked for a report without waiting for
//! it. All are code of the app, which may take as long as it likes or wait for a lock that the main thread holds: they run
//! on a thread of their own, which ends when there is no report left, and no thread of the recorder waits for it.

use crate::jni::env::Env;
use crate::jni::raw::{self, Failure};
use crate::jni::{attach, call, class_cache};
use crate::sys::log;
use crate::sys::mapped::{self, Origin};
use jni::sys::jvalue;
use loopbox_format::report;
use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// Receives a report's path, why it was written, and its digest.
pub type Listener = extern "C" fn(*const c_char, *const c_char, *const c_char);

/// A listener of native code, if there is one.
struct Slot {
    /// A [`Listener`] or null.
    listener: AtomicPtr<()>,
    /// The one that was called last, and where its code came from.
    called: Mutex<Option<(Listener, Origin)>>,
}

/// Hears of complete reports.
static LISTENER: Slot = Slot::new();
/// Hears of first files.
static FIRST: Slot = Slot::new();

impl Slot {
    const fn new() -> Self {
        Self { listener: AtomicPtr::new(ptr::null_mut()), called: Mutex::new(None) }
    }

    fn set(&self, listener: Option<Listener>) {
        let listener = listener.map_or(ptr::null_mut(), |listener| listener as *mut ());
        self.listener.store(listener, Ordering::Release);
    }

    fn get(&self) -> Option<Listener> {
        let listener = self.listener.load(Ordering::Acquire);
        // SAFETY: not null, so `set` made it of a function of this type.
        (!listener.is_null()).then(|| unsafe { std::mem::transmute::<*mut (), Listener>(listener) })
    }

    /// The same, while its code is there. A library that is unloaded may leave its listener: that one is forgotten.
    fn get_loaded(&self) -> Option<Listener> {
        let listener = self.get()?;
        let found = mapped::code_at(listener as usize);
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

/// Sets the native listener of complete reports; `None` removes it. See `loopbox_on_report` of the library.
pub fn set_listener(listener: Option<Listener>) {
    LISTENER.set(listener);
}

/// Sets the native listener of first files; `None` removes it. See `loopbox_on_first_file` of the library.
pub fn set_first_listener(listener: Option<Listener>) {
    FIRST.set(listener);
}

/// Reports that a listener which does not return has not been notified of: as many as a directory keeps.
const MAX_WAITING: usize = 16;

/// What an app hears of a report.
#[derive(Debug)]
struct Notice {
    /// `None`: there is no report.
    path: Option<PathBuf>,
    /// Why it was written.
    reason: String,
    /// As in `Native.java`: [`COMPLETE`], [`FIRST_FILE`], [`LOOKED_BACK`], or the number by which Java knows who asked for it.
    about: i64,
}

/// Has as much in it as there is by now.
const COMPLETE: i64 = 0;
/// There is a file, and more to come.
const FIRST_FILE: i64 = -1;
/// Without a report: what earlier processes left has been looked at.
const LOOKED_BACK: i64 = -2;

/// What the listeners have not been notified of yet.
struct Waiting {
    notices: Vec<Notice>,
    /// There is a thread that takes them.
    has_thread: bool,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { notices: Vec::new(), has_thread: false });

fn waiting<T>(body: impl FnOnce(&mut Waiting) -> T) -> T {
    body(&mut WAITING.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Waiting {
    /// Returns whether a thread has to be started.
    fn add(&mut self, notice: Notice) -> bool {
        if self.notices.len() == MAX_WAITING {
            self.notices.remove(0);
        }
        self.notices.push(notice);
        !std::mem::replace(&mut self.has_thread, true)
    }

    /// The next one; without one the thread ends.
    fn take(&mut self) -> Option<Notice> {
        self.has_thread = !self.notices.is_empty();
        self.has_thread.then(|| self.notices.remove(0))
    }
}

/// Has Java's listener notified of the report at `path`, then the native one. Returns at once.
pub(crate) fn notify(path: &Path, reason: &str) {
    add(Notice { path: Some(path.to_owned()), reason: reason.to_owned(), about: COMPLETE });
}

/// The same of a report that is not complete. Of Java's listeners only some hear of it.
pub(crate) fn notify_first(java_hears: bool, path: &Path, reason: &str) {
    if java_hears || FIRST.get().is_some() {
        add(Notice { path: Some(path.to_owned()), reason: reason.to_owned(), about: FIRST_FILE });
    }
}

/// Has Java hear that what earlier processes left has been looked at.
pub(crate) fn looked_back() {
    answer(LOOKED_BACK, None);
}

/// Has Java call who asked for a report and did not wait: with its path, or with nothing when there is none.
pub(crate) fn answer(asked: i64, path: Option<&Path>) {
    add(Notice { path: path.map(Path::to_owned), reason: String::new(), about: asked });
}

fn add(notice: Notice) {
    if !waiting(|waiting| waiting.add(notice)) {
        return;
    }
    let Some(classes) = class_cache::get() else { return };
    let started = attach::spawn(&classes.vm, "loopbox-listener", |env| {
        while let Some(Notice { path, reason, about }) = waiting(Waiting::take) {
            notify_java(env, path.as_deref(), about);
            let slot = match about {
                COMPLETE => &LISTENER,
                FIRST_FILE => &FIRST,
                _ => continue,
            };
            if let Some(path) = path {
                notify_native(slot, &path, &reason);
            }
        }
    });
    if let Err(error) = started {
        // The next report tries again.
        waiting(|waiting| waiting.has_thread = false);
        log::warn(&format!("the report listener has no thread: {error}"));
    }
}

fn notify_java(env: &mut Env<'_>, path: Option<&Path>, about: i64) {
    let Some(classes) = class_cache::get() else { return };
    let notified = call::with_frame(env, |env| {
        let path = path.map(|path| raw::new_string(env, &path.to_string_lossy())).transpose()?;
        let arguments =
            [jvalue { l: path.map_or(ptr::null_mut(), |path| path.as_raw()) }, jvalue { j: about }];
        // SAFETY: looked up in this class with this signature: a String or null, a long, no result.
        unsafe { call::void(env, (&classes.calls, classes.calls_on_report), &arguments) }
    });
    if let Err(Failure(why)) = notified {
        log::warn(&["the report listener could not be called: ", &why].concat());
    }
}

fn notify_native(slot: &Slot, path: &Path, reason: &str) {
    let Some(listener) = slot.get_loaded() else { return };
    let file = std::fs::read(path).unwrap_or_default();
    let digest = report::digest(&file).unwrap_or_default();
    let texts = [path.as_os_str().as_bytes(), reason.as_bytes(), digest.as_bytes()];
    // Only an app's reason may have a zero byte: such a text is passed on up to there.
    let [path, reason, digest] = texts.map(|text| {
        let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
        CString::new(text).unwrap_or_default()
    });
    listener(path.as_ptr(), reason.as_ptr(), digest.as_ptr());
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
    fn a_listener_that_does_not_return_keeps_a_bounded_number_waiting() {
        let mut waiting = Waiting { notices: Vec::new(), has_thread: false };
        let notice = |about| Notice { path: None, reason: String::new(), about };
        assert!(waiting.add(notice(0)), "the first one starts the thread");
        for nth in 1..40 {
            assert!(!waiting.add(notice(nth)));
        }
        let left: Vec<_> = std::iter::from_fn(|| waiting.take()).map(|notice| notice.about).collect();
        let newest: Vec<_> = (24..40).collect();
        assert_eq!(left, newest);
        assert!(waiting.add(notice(40)), "the thread has ended");
    }

    #[test]
    fn a_native_listener_is_called_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lbx");
        let report = Report { digest: "hang\nshop\n7\n0\nmain runs Cart".into(), ..Report::default() };
        std::fs::write(&path, report::encode(&report).unwrap()).unwrap();
        notify_native(&LISTENER, &path, "before there is a listener");
        set_listener(Some(listener));
        notify_native(&FIRST, &path, "of a first file");
        notify_native(&LISTENER, &path, "hang");
        notify_native(&LISTENER, &folder.path().join("gone.lbx"), "cut\0here");
        set_listener(None);
        notify_native(&LISTENER, &path, "after it was removed");
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
        slot.set(Some(listener));
        assert!(slot.get_loaded().is_some() && slot.get_loaded().is_some());
        // As if its code had come from another file when it was called.
        if let Some((_, origin)) = slot.called.lock().unwrap().as_mut() {
            origin.inode += 1;
        }
        assert!(slot.get_loaded().is_none() && slot.get().is_none());

        const RIGHTS: i32 = libc::PROT_READ | libc::PROT_EXEC;
        const KIND: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a page of its own, which is never called.
        let code = unsafe { libc::mmap(ptr::null_mut(), 4_096, RIGHTS, KIND, -1, 0) };
        assert_ne!(code, libc::MAP_FAILED);
        // SAFETY: not null, and never called.
        slot.set(Some(unsafe { std::mem::transmute::<*mut libc::c_void, Listener>(code) }));
        assert!(slot.get_loaded().is_some());
        // SAFETY: mapped above.
        assert_eq!(unsafe { libc::munmap(code, 4_096) }, 0);
        assert!(slot.get_loaded().is_none() && slot.get().is_none());
    }
}
