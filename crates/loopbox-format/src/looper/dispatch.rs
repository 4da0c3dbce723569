//! The line that Looper prints when a dispatch begins.

use crate::text;

/// Replaces a target or callback whose `toString` is overridden.
///
/// Such texts are the app's and may contain anything, a user's name too; they are not kept.
pub const CUSTOM: &str = "(custom)";

/// The parts of the line of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dispatch<'a> {
    /// Class name of the target Handler, or [`CUSTOM`].
    pub target: &'a str,
    /// Class name of the callback, or [`CUSTOM`]; empty when there is none.
    pub callback: &'a str,
    /// `Message.what`; `None` when it cannot be read.
    pub what: Option<i32>,
}

/// Reads `>>>>> Dispatching to TARGET CALLBACK: WHAT` (`Looper.java`, the same on API 21 to 36).
///
/// A Handler prints as `Handler (CLASS) {HASH}`, any other object as `CLASS@HASH`. A message without a
/// callback prints `null`. Does not allocate.
pub fn dispatch(line: &str) -> Dispatch<'_> {
    let line = line.strip_prefix(">>>>> Dispatching to ").unwrap_or(line);
    let (who, what) = text::rsplit_once(line, ": ")
        .and_then(|(who, what)| Some((who, Some(text::signed(what.trim_ascii())?))))
        .unwrap_or((line, None));
    let handler = who.strip_prefix("Handler (").and_then(|rest| {
        let (class, rest) = text::split_once(rest, ") {")?;
        let (hash, callback) = text::split_once(rest, "} ")?;
        (is_hash(hash) && identifier(class) == class).then_some((class, callback))
    });
    let object = || {
        let (target, callback) = who.split_once(' ')?;
        let (class, hash) = target.rsplit_once('@')?;
        (is_hash(hash) && identifier(class) == class).then_some((class, callback))
    };
    match handler.or_else(object) {
        Some((target, "null")) => Dispatch { target, callback: "", what },
        Some((target, callback)) => Dispatch { target, callback: class_name(callback), what },
        None => Dispatch { target: CUSTOM, callback: CUSTOM, what },
    }
}

/// The class that an object's text names, or [`CUSTOM`].
///
/// Three forms are recognised. The default text `com.foo.Bar$1@1a2b`, also with a state in brackets after it
/// (`FutureTask`). A class name with its fields in brackets, as data classes and records print themselves
/// (`Bar(x=1)`). A coroutine's dispatched continuation, where the continued class comes after `Continuation
/// at `.
pub fn class_name(text: &str) -> &str {
    if let Some((_, resumed)) = text::split_once(text, "Continuation at ") {
        let class = identifier(resumed);
        return if class.is_empty() { CUSTOM } else { class };
    }
    let class = identifier(text);
    let rest = text.get(class.len()..).unwrap_or_default();
    let is_class = match rest.strip_prefix('@') {
        Some(hash) => is_hash(hash.split('[').next().unwrap_or_default()),
        None => has_fields(class, rest),
    };
    if is_class && !class.is_empty() { class } else { CUSTOM }
}

/// Whether `state` is what follows a class name in `Order(id=1)`, `Order{id=1}` and `Order[id=1]`: a field
/// name and `=` after an opening bracket. A word in brackets without `=` does not count. It could be user
/// data, such as `jane.doe` or an account's number.
fn has_fields(class: &str, state: &str) -> bool {
    let is_type = class
        .rsplit(['.', '$'])
        .next()
        .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
    let field = state.strip_prefix(['(', '{', '[']).map(identifier).unwrap_or_default();
    is_type && !field.is_empty() && state.get(1 + field.len()..).is_some_and(|rest| rest.starts_with('='))
}

/// The class name at the start of `text`; names of the runtime's lambdas contain `/` and `-`. Every character
/// that is not ASCII counts as a letter. The framework never puts such a character between names, and a table
/// of all letters would take 2 KB.
pub(super) fn identifier(text: &str) -> &str {
    let is_part =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-' | '/' | '\u{80}'..);
    let end = text.find(|c: char| !is_part(c));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

fn is_hash(text: &str) -> bool {
    (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(rest: &str) -> (String, String, i32) {
        let line = format!(">>>>> Dispatching to {rest}");
        let Dispatch { target, callback, what } = dispatch(&line);
        (target.into(), callback.into(), what.unwrap())
    }

    fn named(target: &str, callback: &str, what: i32) -> (String, String, i32) {
        (target.into(), callback.into(), what)
    }

    #[test]
    fn reads_what_the_framework_prints() {
        assert_eq!(
            read("Handler (android.app.ActivityThread$H) {6a3d1f2} null: 159"),
            named("android.app.ActivityThread$H", "", 159)
        );
        assert_eq!(
            read(
                "Handler (android.view.Choreographer$FrameHandler) {b1c2} \
                 android.view.Choreographer$FrameDisplayEventReceiver@9f3: 0"
            ),
            named(
                "android.view.Choreographer$FrameHandler",
                "android.view.Choreographer$FrameDisplayEventReceiver",
                0
            )
        );
        for lambda in [
            "com.foo.Bar$$ExternalSyntheticLambda0",
            "-$$Lambda$Foo$hash",
            "android.app.-$$Lambda$LoadedApk$ReceiverDispatcher$Args$_BumDX2UKsnxLVrE6UJsJZkotuA",
            "com.foo.Bar$$Lambda$12/0x0000000800c03000",
        ] {
            let line = format!("Handler (android.os.Handler) {{c0ffee}} {lambda}@1f: -3");
            assert_eq!(read(&line), named("android.os.Handler", lambda, -3));
        }
    }

    #[test]
    fn a_coroutine_is_named_by_what_it_resumes() {
        let line = "Handler (android.os.Handler) {1} DispatchedContinuation[Dispatchers.Main, Continuation at \
                    com.shop.FeedModel$load$1.invokeSuspend(FeedModel.kt:20)]: 0";
        assert_eq!(read(line), named("android.os.Handler", "com.shop.FeedModel$load$1.invokeSuspend", 0));
        let line =
            "Handler (android.os.Handler) {1} DispatchedContinuation[Main, Continuation at c.D@1a2b]: 0";
        assert_eq!(read(line), named("android.os.Handler", "c.D", 0));
    }

    #[test]
    fn words_of_the_app_are_not_kept() {
        assert_eq!(read("Handler (a.B) {1f} order of Bob: 12 Main St: 7"), named("a.B", CUSTOM, 7));
        assert_eq!(read("Handler (a.B) {1f} bob@example.com: 7"), named("a.B", CUSTOM, 7));
        assert_eq!(read("Handler (a.B) {1f} Order(buyer=Bob): 7"), named("a.B", "Order", 7));
        assert_eq!(read("Bob's handler com.foo.Bar@2e: 4"), named(CUSTOM, CUSTOM, 4));
        assert_eq!(read("Handler (for Bob Smith) {1f} null: 4"), named(CUSTOM, CUSTOM, 4));
        assert_eq!(read("Handler (a.B) {for Bob} null: 4"), named(CUSTOM, CUSTOM, 4));
        assert_eq!(read("MyHandler@1f com.foo.Bar@2e: 4"), named("MyHandler", "com.foo.Bar", 4));
        assert_eq!(read("Handler (a.B) {1f} two\nlines: 1"), named("a.B", CUSTOM, 1));
        assert_eq!(read("Handler (a.B) {1f} : 1"), named("a.B", CUSTOM, 1));
        for word in [
            "jane.doe",
            "DE89370400440532013000",
            "Bob",
            "Jane[home]",
            "bob(age=7)",
            "Bob()",
            "a.B@Bob",
            "a.B@1f Bob",
        ] {
            assert_eq!(read(&format!("Handler (a.B) {{1f}} {word}: 1")), named("a.B", CUSTOM, 1), "{word}");
        }
        for text in ["a.B@1f[Not completed, task = Bob]", "a.B{id=1}", "a.B[id=1]"] {
            assert_eq!(read(&format!("Handler (a.C) {{1f}} {text}: 1")), named("a.C", "a.B", 1), "{text}");
        }
        assert_eq!(dispatch("words of a ROM"), Dispatch { target: CUSTOM, callback: CUSTOM, what: None });
        assert_eq!(dispatch(""), Dispatch { target: CUSTOM, callback: CUSTOM, what: None });
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in "(>>>>> Dispatching to )?(Handler \\()?\\PC{0,40}(\\) \\{1f\\} )?\\PC{0,40}") {
            let read = dispatch(&line);
            prop_assert!(read.callback.is_empty() || read.callback == CUSTOM || line.contains(read.callback));
        }
    }
}
