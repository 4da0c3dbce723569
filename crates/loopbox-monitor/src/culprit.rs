//! The name of a stack in a list: the app's own method nearest to the top, and the method at the top, in
//! which the app's method was waiting.

use crate::line::Stack;
use loopbox_report::{AppPackages, CodeOwner};

/// The methods of the Looper, which are at the bottom of every stack.
const DISPATCH: [&str; 3] = [
    "android.os.Handler.handleCallback",
    "android.os.Handler.dispatchMessage",
    // Since API 37.
    "android.os.Handler.dispatchMessageImpl",
];

/// The key of a stack: stacks with equal keys are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Culprit {
    /// The app's method nearest to the top, or else a library's, or else the top frame's; with its class.
    pub(crate) method: String,
    /// The top frame, if it is another method.
    pub(crate) waits_in: Option<String>,
}

impl Culprit {
    /// The key of a stack, given top first; `None` when it has no frame above the Looper.
    pub(crate) fn of(stack: &Stack) -> Option<Self> {
        let methods = stack.frames.iter().map(|frame| method(frame));
        let above: Vec<&str> = methods.take_while(|method| !DISPATCH.contains(method)).collect();
        let top = above.first()?;
        let packages = AppPackages::default();
        let of = |owner| above.iter().find(|method| packages.owner(method) == owner);
        let found = of(CodeOwner::App).or_else(|| of(CodeOwner::Library)).unwrap_or(top);
        let waits_in = (found != top).then(|| (*top).to_owned());
        Some(Self { method: (*found).to_owned(), waits_in })
    }
}

/// A frame without file and line.
fn method(frame: &str) -> &str {
    frame.split_once('(').map_or(frame, |(method, _)| method)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn culprit(frames: &[&str]) -> Option<(String, Option<String>)> {
        let frames = frames.iter().map(|&frame| frame.to_owned()).collect();
        Culprit::of(&Stack { frames, ..Stack::default() }).map(|found| (found.method, found.waits_in))
    }

    #[test]
    fn a_stack_is_named_by_the_apps_method_nearest_to_the_top() {
        let article = [
            "java.lang.Thread.sleep(Native Method)",
            "java.lang.Thread.sleep(Thread.java:443)",
            "com.example.myproxyplugin.MainActivity$1.run(MainActivity.java:22)",
            "android.os.Handler.handleCallback(Handler.java:900)",
            "android.os.Looper.loop(Looper.java:219)",
            "com.example.Main.main(Main.java:1)",
        ];
        let expected = ("com.example.myproxyplugin.MainActivity$1.run", Some("java.lang.Thread.sleep"));
        assert_eq!(culprit(&article), Some((expected.0.to_owned(), expected.1.map(str::to_owned))));
        let own = [
            "a.B.parse(B.java:1)",
            "a.B.run(B.java:2)",
            "android.os.Handler.dispatchMessage(Handler.java:1)",
        ];
        assert_eq!(culprit(&own), Some(("a.B.parse".to_owned(), None)));
        // What lies below the Looper started the app; it is not what took the time.
        assert_eq!(culprit(&article[3..]), None);
        assert_eq!(
            culprit(&["android.view.View.draw(View.java:1)"]),
            Some(("android.view.View.draw".to_owned(), None))
        );
        assert_eq!(culprit(&[]), None);
    }
}
