//! Which messages are the framework's own component messages.

use crate::model::Component;

/// The component that a message belongs to, from the class names of its target Handler and of its callback
/// (empty when it has none).
///
/// Class names of AOSP, API 21 to 36: `ActivityThread.java`, `LoadedApk.java`, `JobServiceEngine.java`,
/// `Choreographer.java`. Cheap enough for the main thread.
pub fn component(target: &str, callback: &str) -> Option<Component> {
    // Until API 27 the receiver's Args object is the Runnable itself; from 28 on it is a lambda of that
    // class.
    const RECEIVER: &str = "android.app.LoadedApk$ReceiverDispatcher$Args";
    const RECEIVER_LAMBDA: &str = "android.app.-$$Lambda$LoadedApk$ReceiverDispatcher$Args$";
    const CONNECTION: &str = "android.app.LoadedApk$ServiceDispatcher$RunConnection";
    const FRAME: &str = "android.view.Choreographer$FrameDisplayEventReceiver";
    if callback.starts_with(RECEIVER) || callback.starts_with(RECEIVER_LAMBDA) {
        return Some(Component::Receiver);
    }
    if callback == CONNECTION {
        return Some(Component::ServiceConnection);
    }
    if callback == FRAME {
        return Some(Component::Frame);
    }
    match target {
        "android.app.ActivityThread$H" => Some(Component::ActivityThread),
        "android.view.Choreographer$FrameHandler" => Some(Component::Frame),
        "android.app.job.JobServiceEngine$JobHandler" | "android.app.job.JobService$JobHandler" => {
            Some(Component::Job)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_messages_of_all_levels_are_recognised() {
        let cases = [
            ("android.app.ActivityThread$H", "", Some(Component::ActivityThread)),
            (
                "android.app.ActivityThread$H",
                "android.app.LoadedApk$ReceiverDispatcher$Args",
                Some(Component::Receiver),
            ),
            (
                "android.app.ActivityThread$H",
                "android.app.-$$Lambda$LoadedApk$ReceiverDispatcher$Args$_BumDX2UKsnxLVrE6UJsJZkotuA",
                Some(Component::Receiver),
            ),
            (
                "android.os.Handler",
                "android.app.LoadedApk$ReceiverDispatcher$Args$$ExternalSyntheticLambda0",
                Some(Component::Receiver),
            ),
            (
                "android.app.ActivityThread$H",
                "android.app.LoadedApk$ServiceDispatcher$RunConnection",
                Some(Component::ServiceConnection),
            ),
            (
                "android.view.Choreographer$FrameHandler",
                "android.view.Choreographer$FrameDisplayEventReceiver",
                Some(Component::Frame),
            ),
            ("android.view.Choreographer$FrameHandler", "", Some(Component::Frame)),
            ("android.app.job.JobServiceEngine$JobHandler", "", Some(Component::Job)),
            ("android.app.job.JobService$JobHandler", "", Some(Component::Job)),
            ("android.view.ViewRootImpl$ViewRootHandler", "", None),
            ("com.example.ActivityThread$H", "", None),
        ];
        for (target, callback, expected) in cases {
            assert_eq!(component(target, callback), expected, "{target} {callback}");
        }
    }
}
