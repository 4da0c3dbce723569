//! Native code of the app that wants to hear of reports, as Java's `Listener` does.

use loopbox_format::report;
use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Takes a report's path, why it was written, and its digest.
type Listener = extern "C" fn(*const c_char, *const c_char, *const c_char);

/// A [`Listener`], or null.
static LISTENER: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Has `listener` called for each report, after Java's: with the path of the file, why it was written, and its digest of
/// at most 900 bytes, all UTF-8 and ended by a zero byte, good until it returns. It is called on the recorder's worker
/// thread, which waits for it. Null takes the listener out; one call of it may be under way then.
///
/// May be called at any time, also before the recorder is installed, which is the way to hear of what earlier processes
/// left.
#[unsafe(no_mangle)]
#[expect(unreachable_pub, reason = "exported by its name, not by this crate")]
pub extern "C" fn loopbox_on_report(listener: Option<Listener>) {
    let listener = listener.map_or(ptr::null_mut(), |listener| listener as *mut ());
    LISTENER.store(listener, Ordering::Release);
}

/// Tells it of the report at `path`.
pub(crate) fn tell(path: &Path, reason: &str) {
    let listener = LISTENER.load(Ordering::Acquire);
    if listener.is_null() {
        return;
    }
    // SAFETY: not null, so `loopbox_on_report` made it of a function of this type.
    let listener = unsafe { std::mem::transmute::<*mut (), Listener>(listener) };
    let file = std::fs::read(path).unwrap_or_default();
    let digest = report::digest(&file).unwrap_or_default();
    let texts = [path.as_os_str().as_bytes(), reason.as_bytes(), digest.as_bytes()];
    // None of ours has a zero byte, but an app's reason may: such a text is passed on up to there.
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

    static HEARD: Mutex<Vec<[String; 3]>> = Mutex::new(Vec::new());

    extern "C" fn hear(path: *const c_char, reason: *const c_char, digest: *const c_char) {
        // SAFETY: C strings, by the contract of `loopbox_on_report`.
        let texts = [path, reason, digest].map(|text| unsafe { CStr::from_ptr(text) });
        HEARD.lock().unwrap().push(texts.map(|text| text.to_str().unwrap().to_owned()));
    }

    #[test]
    fn a_native_listener_hears_of_reports_until_it_is_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lbx");
        let report = Report { digest: "hang\nshop\n7\n0\nmain runs Cart".into(), ..Report::default() };
        std::fs::write(&path, report::encode(&report).unwrap()).unwrap();
        tell(&path, "nobody listens");
        loopbox_on_report(Some(hear));
        tell(&path, "hang");
        tell(&folder.path().join("gone.lbx"), "cut\0here");
        loopbox_on_report(None);
        tell(&path, "nobody listens any more");
        let name = |file: &str| folder.path().join(file).to_str().unwrap().to_owned();
        let expected = [
            [name("a.lbx"), "hang".into(), "main runs Cart".into()],
            [name("gone.lbx"), "cut".into(), String::new()],
        ];
        assert_eq!(*HEARD.lock().unwrap(), expected);
    }
}
