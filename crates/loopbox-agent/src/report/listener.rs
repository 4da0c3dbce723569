//! The listeners of reports: Java's `Listener`, then one of native code, and who has asked for a report without waiting for
//! it. All are code of the app, which may take as long as it likes or wait for a lock that the main thread holds: they run
//! on a thread of their own, and no thread of the recorder waits for it. It is started at the installation,
//! because a thread costs memory, which a report may come to lack, and sleeps until there is a report.

use crate::jni::env::Env;
use crate::jni::raw::{self, Failure};
use crate::jni::{attach, call, class_cache};
use crate::session::Session;
use crate::session::gate::Gate;
use crate::sys::mapped::{self, Origin};
use crate::sys::wake::{ANYONE, futex_wait, futex_wake};
use crate::sys::{clock, descriptors, log, memory};
use jni::sys::jvalue;
use loopbox_format::model::Uptime;
use loopbox_format::report;
use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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
    /// Of the recording that it comes from: whose end it must not come after.
    gate: Arc<Gate>,
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
    /// It stays when there are none.
    stays: bool,
    /// Who has asked for a report and was refused, and when they hear of that.
    refused: Vec<i64>,
    refused_at_ns: Uptime,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting::new());
/// Changes when the thread has something to do.
static NEWS: AtomicU32 = AtomicU32::new(0);

fn waiting<T>(body: impl FnOnce(&mut Waiting) -> T) -> T {
    body(&mut WAITING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Who is refused a report hears of that this much later: who asks again then does so once a second.
const REFUSED_AFTER_NS: u64 = 1_000_000_000;
/// How long a notice waits until it is looked again whether there is memory to call the listener with.
const MEMORY_PAUSE: Duration = Duration::from_millis(100);
/// The thread that calls listeners, while it does; 0 else.
static CALLING: AtomicU32 = AtomicU32::new(0);

/// Whether this is a listener's call.
pub(crate) fn is_calling() -> bool {
    CALLING.load(Ordering::Relaxed) == clock::this_thread()
}

/// What the thread does next.
#[derive(Debug)]
enum Next {
    Tell(Notice),
    /// They are refused.
    Refuse(Vec<i64>),
    /// Until then, or until there is something.
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

    /// Returns whether a thread has to be started.
    fn add(&mut self, notice: Notice) -> bool {
        if self.notices.len() == MAX_WAITING {
            self.notices.remove(0);
        }
        self.notices.push(notice);
        !std::mem::replace(&mut self.has_thread, true)
    }

    fn next(&mut self, now_ns: Uptime) -> Next {
        if !self.notices.is_empty() {
            return Next::Tell(self.notices.remove(0));
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

/// A recording begins: has the thread ready, asleep.
///
/// # Errors
/// When the system cannot create a thread.
pub(crate) fn start() -> std::io::Result<()> {
    let missing = waiting(|waiting| {
        waiting.notices.reserve(MAX_WAITING);
        waiting.stays = true;
        !std::mem::replace(&mut waiting.has_thread, true)
    });
    if missing { start_thread() } else { Ok(()) }
}

/// The recording has ended: the thread does as soon as it is through.
pub(crate) fn end() {
    waiting(|waiting| waiting.stays = false);
    futex_wake(&NEWS, ANYONE);
}

/// Has Java's listener notified of the report at `path`, then the native one. Returns at once.
pub(crate) fn notify(session: &Session, path: &Path, reason: &str) {
    add(&session.gate, Some(path), reason, COMPLETE);
}

/// The same of a report that is not complete. Of Java's listeners only some hear of it.
pub(crate) fn notify_first(session: &Session, path: &Path, reason: &str) {
    if session.settings.first_file || FIRST.get().is_some() {
        add(&session.gate, Some(path), reason, FIRST_FILE);
    }
}

/// Has Java hear that what earlier processes left has been looked at.
pub(crate) fn looked_back(session: &Session) {
    add(&session.gate, None, "", LOOKED_BACK);
}

/// Has Java call who asked for a report and did not wait: with its path, or with nothing when there is none.
pub(crate) fn answer(gate: &Arc<Gate>, asked: i64, path: Option<&Path>) {
    add(gate, path, "", asked);
}

/// Has Java call who has asked and gets no report because there are too many, not at once.
pub(crate) fn refuse(asked: i64) {
    waiting(|waiting| waiting.refuse(asked, clock::now_ns()));
    futex_wake(&NEWS, ANYONE);
}

fn add(gate: &Arc<Gate>, path: Option<&Path>, reason: &str, about: i64) {
    let (path, reason) = (path.map(Path::to_owned), reason.to_owned());
    let notice = Notice { path, reason, about, gate: Arc::clone(gate) };
    if !waiting(|waiting| waiting.add(notice)) {
        futex_wake(&NEWS, ANYONE);
    } else if let Err(error) = start_thread() {
        log::warn(&format!("the report listener has no thread: {error}"));
    }
}

fn start_thread() -> std::io::Result<()> {
    let Some(classes) = class_cache::get() else { return Ok(()) };
    // Where it fails the next report tries again.
    attach::spawn(&classes.vm, "loopbox-listener", run)
        .inspect_err(|_| waiting(|waiting| waiting.has_thread = false))
}

fn run(env: &mut Env<'_>) {
    loop {
        let news = NEWS.load(Ordering::SeqCst);
        match waiting(|waiting| waiting.next(clock::now_ns())) {
            Next::Tell(notice) => tell(env, notice),
            Next::Refuse(all) => all.into_iter().for_each(|asked| {
                while !notify_java(env, None, asked) {
                    std::thread::sleep(MEMORY_PAUSE);
                }
            }),
            Next::Sleep(until_ns) => futex_wait(&NEWS, news, ANYONE, until_ns),
            Next::End => return,
        }
    }
}

/// After the end of the recording nobody hears of a report; but who has asked for one hears that there is
/// none.
fn tell(env: &mut Env<'_>, Notice { path, reason, about, gate }: Notice) {
    loop {
        let ended = gate.is_closed();
        if ended && about <= 0 {
            return;
        }
        let path = path.as_deref().filter(|_| !ended);
        // Code of the app, which would fail, and of the VM, which would end the process.
        if !memory::is_short() && notify_java(env, path, about) {
            break;
        }
        std::thread::sleep(MEMORY_PAUSE);
    }
    let slot = match about {
        COMPLETE => &LISTENER,
        FIRST_FILE => &FIRST,
        _ => return,
    };
    if let Some(path) = path.filter(|_| !gate.is_closed()) {
        notify_native(slot, &path, &reason);
    }
}

/// False when it was not called, because memory is short.
fn notify_java(env: &mut Env<'_>, path: Option<&Path>, about: i64) -> bool {
    let Some(classes) = class_cache::get() else { return true };
    CALLING.store(clock::this_thread(), Ordering::Relaxed);
    let notified = call::with_frame(env, |env| {
        let path = path.map(|path| raw::new_string(env, &path.to_string_lossy())).transpose()?;
        let arguments =
            [jvalue { l: path.map_or(ptr::null_mut(), |path| path.as_raw()) }, jvalue { j: about }];
        // SAFETY: looked up in this class with this signature: a String or null, a long, no result.
        unsafe { call::void(env, (&classes.calls, classes.calls_on_report), &arguments) }
    });
    CALLING.store(0, Ordering::Relaxed);
    match notified {
        Err(Failure(why)) if why == call::NO_MEMORY => false,
        Err(Failure(why)) => {
            log::warn(&["the report listener could not be called: ", &why].concat());
            true
        }
        Ok(()) => true,
    }
}

fn notify_native(slot: &Slot, path: &Path, reason: &str) {
    let Some(listener) = slot.get_loaded() else { return };
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
    fn a_listener_that_does_not_return_keeps_a_bounded_number_waiting() {
        let mut waiting = Waiting::new();
        let now_ns = Uptime(7);
        let notice = |about| Notice { path: None, reason: String::new(), about, gate: Arc::default() };
        assert!(waiting.add(notice(0)), "the first one starts the thread");
        for nth in 1..40 {
            assert!(!waiting.add(notice(nth)));
        }
        let left: Vec<_> = std::iter::from_fn(|| match waiting.next(now_ns) {
            Next::Tell(notice) => Some(notice.about),
            _ => None,
        })
        .collect();
        let newest: Vec<_> = (24..40).collect();
        assert_eq!(left, newest);
        assert!(waiting.add(notice(40)), "the thread has ended");
        waiting.stays = true;
        assert!(matches!((waiting.next(now_ns), waiting.next(now_ns)), (Next::Tell(_), Next::Sleep(None))));
        assert!(!waiting.add(notice(41)), "the thread is asleep");
    }

    #[test]
    fn who_is_refused_hears_of_it_a_second_later() {
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
