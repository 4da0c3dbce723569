//! The listeners of reports: Java's, those of native code, and callers that have asked for a report without
//! waiting for it. All of them are code of the app. A listener may take as long as it likes, or wait for a
//! lock that the main thread holds. So no thread of the recorder waits for a listener, and no listener waits
//! for another. Java has a thread for each listener (Listeners.java), and the recorder's thread only wakes
//! those threads. The listeners of native code share one thread.

mod native;
mod queue;

pub use native::Listener;
pub(crate) use native::is_calling;

use crate::jni::env::Env;
use crate::jni::raw::{self, Failure};
use crate::jni::{call, class_cache};
use crate::session::Session;
use crate::session::gate::Gate;
use crate::sys::{log, memory};
use jni::sys::jvalue;
use loopbox_format::model::AnrWarning;
use queue::Queue;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

/// What an app is notified of.
#[derive(Debug)]
struct Notice {
    /// What the notice is about. For a report it is the report's file, or `None` when there is no report. For
    /// a warning it is not a path but the warning's numbers. For a suspect it is only a file name.
    path: Option<PathBuf>,
    /// Why the report was written.
    reason: String,
    /// As in `Native.java`: [`COMPLETE`], [`FIRST_FILE`], [`PREVIOUS_RUNS_READ`], [`WARNED`], [`SUSPECT`], or
    /// the number of the request that it answers.
    about: i64,
    /// The gate of the recording that has made this notice. After the end of that recording, no listener is
    /// called with a report or a warning.
    gate: Arc<Gate>,
}

impl Notice {
    /// Whether somebody who has asked for a report waits for it.
    const fn is_answer(&self) -> bool {
        self.about > 0
    }
}

/// The report has everything that is known by now.
const COMPLETE: i64 = 0;
/// The report's first file is on disk. The report is not complete yet: more data will be added to it.
const FIRST_FILE: i64 = -1;
/// The recorder has read the data that earlier processes left. The notice has no report.
const PREVIOUS_RUNS_READ: i64 = -2;

/// The system warns of an ANR of the app, and this process's main thread is late. In place of a path there
/// are four numbers: the warning's id, its type, how many milliseconds of the time-out have passed, and the
/// whole time-out in milliseconds.
const WARNED: i64 = -3;

/// A message became a suspect. In place of a path: the name of the file that its report would have, without
/// its ending.
const SUSPECT: i64 = -4;

/// How long a notice waits until it is checked again whether there is memory to notify Java.
const MEMORY_PAUSE: Duration = Duration::from_millis(100);

static JAVA: Queue = Queue::new(c"loopbox-notices", notify_java_and_native, refuse_java);
static NATIVE: Queue = Queue::new(c"loopbox-listener", notify_native, |_, _| ());

/// Sets the native listener of complete reports; `None` removes it. See `loopbox_on_report` of the library.
pub fn set_listener(listener: Option<Listener>) {
    native::LISTENER.set(listener);
    have_native_thread();
}

/// Sets the native listener of first files; `None` removes it. See `loopbox_on_first_file` of the library.
pub fn set_first_listener(listener: Option<Listener>) {
    native::FIRST.set(listener);
    have_native_thread();
}

/// Starts the thread of native listeners, if there is a native listener and a recording runs. If that fails,
/// the next report tries again.
fn have_native_thread() {
    let wanted = native::LISTENER.get().is_some() || native::FIRST.get().is_some();
    if wanted
        && JAVA.stays()
        && let Err(error) = NATIVE.start()
    {
        log::failed("the native report listener has no thread", b"", &error);
    }
}

/// Starts the threads that notify the listeners, at the beginning of a recording. The thread for native
/// listeners is started only if there are any.
///
/// # Errors
/// When the system cannot create the thread that notifies Java.
pub(crate) fn start() -> std::io::Result<()> {
    JAVA.start()?;
    have_native_thread();
    Ok(())
}

/// Notes that the recording has ended. The threads handle the notices that still wait for them, and then end.
pub(crate) fn end() {
    JAVA.end();
    NATIVE.end();
}

/// Adds the report at `path` to what the listeners are notified of. Returns at once.
pub(crate) fn notify(session: &Session, path: &Path, reason: &str) {
    add(&session.gate, Some(path), reason, COMPLETE);
}

/// Notifies the listeners of first files. The report is not complete.
pub(crate) fn notify_first(session: &Session, path: &Path, reason: &str) {
    add(&session.gate, Some(path), reason, FIRST_FILE);
}

/// Passes a warning of the system to the listeners that want warnings. Returns at once.
pub(crate) fn warn(session: &Session, warning: &AnrWarning) {
    let AnrWarning { id, kind, consumed_ms, timeout_ms, .. } = warning;
    let parts = [id.to_string(), kind.to_string(), consumed_ms.to_string(), timeout_ms.to_string()];
    add(&session.gate, Some(Path::new(&parts.join(" "))), "", WARNED);
}

/// Notifies Java of a suspect, by the name of the file that its report would have. Returns at once.
pub(crate) fn suspect(session: &Session, name: &str) {
    add(&session.gate, Some(Path::new(name)), "", SUSPECT);
}

/// Notifies Java that what earlier processes left has been read.
pub(crate) fn previous_runs_read(session: &Session) {
    add(&session.gate, None, "", PREVIOUS_RUNS_READ);
}

/// Has Java call back the caller who asked for a report and did not wait: with the report's path, or without
/// a path when there is no report.
pub(crate) fn answer(gate: &Arc<Gate>, asked: i64, path: Option<&Path>) {
    add(gate, path, "", asked);
}

/// Has Java notify the caller of the request `asked`, a moment later, that there is no report: the request
/// was refused.
pub(crate) fn refuse(asked: i64) {
    JAVA.refuse(asked);
}

fn add(gate: &Arc<Gate>, path: Option<&Path>, reason: &str, about: i64) {
    let (path, reason) = (path.map(Path::to_owned), reason.to_owned());
    if let Err(error) = JAVA.add(Notice { path, reason, about, gate: Arc::clone(gate) }) {
        log::failed("the report listener has no thread", b"", &error);
    }
}

/// Notifies the listeners. After the end of the recording no listener is notified of a report, and a caller
/// that has asked for one is notified that there is none.
fn notify_java_and_native(env: &mut Env<'_>, notice: Notice) {
    loop {
        let ended = notice.gate.is_closed();
        if ended && notice.about <= 0 {
            return;
        }
        let path = notice.path.as_deref().filter(|_| !ended);
        // Java would fail, and the VM would end the process.
        if !memory::is_short() && notify_java(env, path, notice.about) {
            break;
        }
        std::thread::sleep(MEMORY_PAUSE);
    }
    if slot(notice.about).is_some_and(|slot| slot.get().is_some())
        && let Err(error) = NATIVE.add(notice)
    {
        log::failed("the native report listener has no thread", b"", &error);
    }
}

fn refuse_java(env: &mut Env<'_>, asked: i64) {
    while !notify_java(env, None, asked) {
        std::thread::sleep(MEMORY_PAUSE);
    }
}

fn notify_native(_: &mut Env<'_>, notice: Notice) {
    let Notice { path: Some(path), reason, about, gate } = notice else { return };
    if let Some(slot) = slot(about).filter(|_| !gate.is_closed()) {
        native::notify(slot, &path, &reason);
    }
}

/// The listener of native code for this kind of notice.
fn slot(about: i64) -> Option<&'static native::Slot> {
    match about {
        COMPLETE => Some(&native::LISTENER),
        FIRST_FILE => Some(&native::FIRST),
        _ => None,
    }
}

/// Notifies Java. Returns false when Java was not called, because memory is short.
fn notify_java(env: &mut Env<'_>, path: Option<&Path>, about: i64) -> bool {
    let Some(classes) = class_cache::get() else { return true };
    let notified = call::with_frame(env, |env| {
        let path = path.map(|path| raw::new_string(env, &path.to_string_lossy())).transpose()?;
        let arguments =
            [jvalue { l: path.map_or(ptr::null_mut(), |path| path.as_raw()) }, jvalue { j: about }];
        // SAFETY: looked up in this class with this signature: a String or null, a long, no result.
        unsafe { call::void(env, (&classes.calls, classes.calls_on_report), &arguments) }
    });
    match notified {
        Err(Failure(why)) if why == call::NO_MEMORY => false,
        Err(Failure(why)) => {
            log::warn(&["Java was not notified of a report: ", &why].concat());
            true
        }
        Ok(()) => true,
    }
}
