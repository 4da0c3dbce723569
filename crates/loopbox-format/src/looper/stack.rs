//! What a stack of the main thread shows about its message, when no hook has named the message.

use super::component;
use crate::model::Component;
use crate::text;

/// What a stack of the main thread shows about the message that was running: its component and its `what`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackComponent {
    /// The component.
    pub component: Component,
    /// `Message.what`; `None` when several messages call the same method, or the message is a posted
    /// Runnable.
    pub what: Option<i32>,
}

/// How many frames may be between the dispatch and the framework's method that handles the message:
/// `handleCallback`, a lambda, `handleMessage` and an accessor. Frames further from the dispatch are the
/// app's. They do not count, even when an app's method has the name of a framework's method.
const REACH: u32 = 5;

/// Whether a method dispatches a message: `dispatchMessage` of a Handler or of an app's subclass, or
/// `dispatchMessageImpl`, which `dispatchMessage` calls since API 37.
pub fn is_dispatch(class: &str, method: &str) -> bool {
    method == "dispatchMessage" || class == "android.os.Handler" && method == "dispatchMessageImpl"
}

/// The component in a stack of the main thread, by the class and method names of its frames, outermost first.
/// Of nested Loopers the innermost counts. `None` for a message of the app, and for a main thread that waits.
///
/// Compilers put accessors between `ActivityThread$H.handleMessage` and a private method of `ActivityThread`:
/// `access$1300` (dx), `-wrap7` (Jack, API 24 to 27), `-$$Nest$mhandleReceiver` (D8 and R8, API 33 on).
pub fn component_of_stack<'s>(
    stack: impl IntoIterator<Item = (&'s str, &'s str)>,
    api_level: u32,
) -> Option<StackComponent> {
    let mut found: Option<StackComponent> = None;
    // Frames since the last dispatch; `None` outside of messages.
    let mut since_dispatch: Option<u32> = None;
    for (class, method) in stack {
        if is_dispatch(class, method) {
            (found, since_dispatch) = (None, Some(0));
            continue;
        }
        if class == "android.os.MessageQueue" && method.starts_with("next") {
            (found, since_dispatch) = (None, None);
            continue;
        }
        let Some(frames) = &mut since_dispatch else {
            if is_input(class, method) {
                found = Some(StackComponent { component: Component::Input, what: None });
            }
            continue;
        };
        *frames += 1;
        if *frames > REACH || found.is_some_and(|found| found.what.is_some()) {
            continue;
        }
        if let Some(what) = what_of(class, method, api_level) {
            found = Some(StackComponent { component: Component::ActivityThread, what: Some(what) });
        } else if found.is_none() {
            found = component(class, class).map(|component| StackComponent { component, what: None });
        }
    }
    found
}

/// Whether native code calls this method to pass an input event to a window, outside of messages (API 21 to
/// 36).
fn is_input(class: &str, method: &str) -> bool {
    class == "android.view.InputEventReceiver" && method == "dispatchInputEvent"
}

/// The `what` of the message of `ActivityThread$H` that this method handles. `None` when the method handles
/// several kinds of messages, or none.
fn what_of(class: &str, method: &str, api_level: u32) -> Option<i32> {
    let since_28 = api_level == 0 || api_level >= 28;
    match class {
        "android.app.servertransaction.TransactionExecutor" if method == "execute" => Some(159),
        "android.app.ActivityThread" => {
            let suffix = method.strip_prefix("handle")?;
            let what = |row: &'static str| row.strip_prefix(suffix)?.strip_prefix('=');
            let what = HANDLERS.split(' ').find_map(what)?;
            match what.strip_suffix('-') {
                Some(_) if since_28 => None,
                Some(what) => text::number(what),
                None => text::number(what),
            }
        }
        _ => None,
    }
}

/// Methods of `ActivityThread` that handle messages, without the prefix `handle`, each with the `what` of its
/// message. A `-` after the number means that the message exists only until API 27. From API 28 on,
/// EXECUTE_TRANSACTION handles the activity's life cycle, and calls the same methods.
///
/// `ActivityThread.H.handleMessage` of AOSP's `core/java/android/app/ActivityThread.java`, android-5.0.0_r1
/// to android-16.0.0_r1. `handlePauseActivity`, `handleStopActivity` and `handleWindowVisibility` are left
/// out: each handles two messages.
const HANDLERS: &str = "\
    LaunchActivity=100- ResumeActivity=107- SendResult=108- DestroyActivity=109- \
    BindApplication=110 NewIntent=112- Receiver=113 CreateService=114 ServiceArgs=115 \
    StopService=116 ConfigurationChanged=118 BindService=121 UnbindService=122 LowMemory=124 \
    RelaunchActivity=126- CreateBackupAgent=128 TrimMemory=140- InstallProvider=145 \
    RelaunchActivityLocally=160";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::looper::activity_thread;

    const H: &str = "android.os.Handler.dispatchMessage android.app.ActivityThread$H.handleMessage";
    const T: &str = "android.app.ActivityThread";

    /// Component and `what` of a stack, its frames separated by spaces.
    fn found(stack: &str, api_level: u32) -> Option<(Component, Option<i32>)> {
        let frames = stack.split(' ').map(|frame| frame.rsplit_once('.').unwrap());
        component_of_stack(frames, api_level).map(|found| (found.component, found.what))
    }

    #[test]
    fn the_framework_s_handlers_name_their_message_on_each_level() {
        use Component::{ActivityThread, Frame, Input, Job, Receiver, ServiceConnection};
        let loops = "android.os.Looper.loop android.os.Handler.dispatchMessage";
        let next =
            "android.os.Looper.loop android.os.MessageQueue.next android.os.MessageQueue.nativePollOnce";
        let lambda = "android.app.-$$Lambda$LoadedApk$ReceiverDispatcher$Args$_BumDX2UKsnxLVrE6UJsJZkotuA";
        let of = |method: &str| format!("{H} {T}.{method} com.shop.App.work");
        let args = "android.app.LoadedApk$ReceiverDispatcher$Args";
        let cases = [
            ("application", of("handleBindApplication"), 21, Some((ActivityThread, Some(110)))),
            ("receiver", of("handleReceiver"), 24, Some((ActivityThread, Some(113)))),
            ("service", of("handleCreateService"), 29, Some((ActivityThread, Some(114)))),
            ("service start", of("handleServiceArgs"), 36, Some((ActivityThread, Some(115)))),
            ("provider", of("handleInstallProvider"), 30, Some((ActivityThread, Some(145)))),
            (
                "dx",
                format!("{H} {T}.access$1500 {T}.handleStopService"),
                23,
                Some((ActivityThread, Some(116))),
            ),
            ("Jack", format!("{H} {T}.-wrap7 {T}.handleBindService"), 26, Some((ActivityThread, Some(121)))),
            (
                "nest mates",
                format!("{H} {T}.-$$Nest$mhandleUnbindService {T}.handleUnbindService"),
                34,
                Some((ActivityThread, Some(122))),
            ),
            ("life cycle, old", of("handleResumeActivity"), 27, Some((ActivityThread, Some(107)))),
            ("two messages, one method", of("handlePauseActivity"), 27, Some((ActivityThread, None))),
            (
                "life cycle, new",
                format!(
                    "{H} android.app.servertransaction.TransactionExecutor.execute {T}.handleResumeActivity"
                ),
                33,
                Some((ActivityThread, Some(159))),
            ),
            ("relaunch", of("handleRelaunchActivityLocally"), 29, Some((ActivityThread, Some(160)))),
            ("of no name here", of("handleDumpService"), 29, Some((ActivityThread, None))),
            (
                "providers are installed",
                format!(
                    "{H} {T}.handleBindApplication {T}.installContentProviders com.shop.Provider.onCreate"
                ),
                31,
                Some((ActivityThread, Some(110))),
            ),
            (
                "registered receiver, old",
                format!("{loops} android.os.Handler.handleCallback {args}.run"),
                27,
                Some((Receiver, None)),
            ),
            (
                "registered receiver, new",
                format!("{loops} android.os.Handler.handleCallback {lambda}.run {args}.lambda$getRunnable$0"),
                29,
                Some((Receiver, None)),
            ),
            (
                "connection",
                format!(
                    "{loops} android.os.Handler.handleCallback android.app.LoadedApk$ServiceDispatcher$RunConnection.run"
                ),
                29,
                Some((ServiceConnection, None)),
            ),
            (
                "job",
                format!("{loops} android.app.job.JobServiceEngine$JobHandler.handleMessage"),
                34,
                Some((Job, None)),
            ),
            (
                "frame",
                format!(
                    "{loops} android.os.Handler.handleCallback \
                     android.view.Choreographer$FrameDisplayEventReceiver.run android.view.Choreographer.doFrame"
                ),
                29,
                Some((Frame, None)),
            ),
            (
                "input",
                format!(
                    "{next} android.view.InputEventReceiver.dispatchInputEvent com.shop.Main.dispatchTouchEvent"
                ),
                29,
                Some((Input, None)),
            ),
            (
                "API 37, whose nest mates stand above the dispatch",
                format!(
                    "{loops} android.os.Handler.dispatchMessageImpl android.app.ActivityThread$H.handleMessage \
                     {T}.-$$Nest$mhandleCreateService {T}.handleCreateService"
                ),
                37,
                Some((ActivityThread, Some(114))),
            ),
            ("waits", next.to_owned(), 29, None),
            (
                "the app's message, whatever it calls",
                format!("{loops} com.shop.H.handleMessage a.A.a a.A.b a.A.c a.A.d {T}.handleReceiver"),
                29,
                None,
            ),
            ("not the framework's", format!("{loops} com.shop.ActivityThread.handleReceiver"), 29, None),
            (
                "a nested loop in a service",
                format!("{} {loops} com.shop.H.handleMessage", of("handleCreateService")),
                29,
                None,
            ),
            ("a nested loop that waits", format!("{} {next}", of("handleCreateService")), 29, None),
        ];
        for (name, stack, level, expected) in cases {
            assert_eq!(found(&stack, level), expected, "{name}");
        }
    }

    /// The list of handlers and the table of names agree on every level where the method exists.
    #[test]
    fn each_handler_is_of_a_message_that_its_levels_have() {
        for (suffix, what) in HANDLERS.split(' ').map(|row| row.split_once('=').unwrap()) {
            let (old, what) = (what.ends_with('-'), what.trim_end_matches('-').parse().unwrap());
            for level in 21..=36 {
                let what_found = found(&format!("{H} {T}.handle{suffix}"), level).and_then(|(_, what)| what);
                let expected = (!old || level < 28).then_some(what);
                assert_eq!(what_found, expected, "{suffix} on {level}");
                if (what != 160 || level >= 28) && what_found.is_some() {
                    assert!(activity_thread(what, level).is_some(), "{what} on {level}");
                }
            }
        }
    }
}
