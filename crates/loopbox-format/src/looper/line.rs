//! One `Message.toString(now)`, as `Looper.dump` prints it.

use super::dispatch::identifier;
use super::duration::duration_ms;
use crate::text;
use std::borrow::Cow;

/// The character that stands where an app has cut a line that was too long.
const GAP: char = '…';

const OBJECT: &str = " obj=";
const TARGET: &str = " target=";

/// The fields of one message, unconverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Fields<'a> {
    /// `when - now`.
    pub(super) relative_ms: i64,
    pub(super) what: Option<i32>,
    pub(super) callback: Option<&'a str>,
    pub(super) barrier: Option<i32>,
    pub(super) arg1: i32,
    pub(super) arg2: i32,
    pub(super) object: Option<&'a str>,
    pub(super) target: Option<&'a str>,
    pub(super) asynchronous: Option<bool>,
    pub(super) heap_index: Option<i32>,
}

/// Reads `{ when=… … }` of API 21 to 36 and the later form with `async=` and `heapIndex=`; fields that a
/// later version adds at the end are skipped. Of a line that was cut, the remaining fields are read.
pub(super) fn fields(text: &str) -> Option<Fields<'_>> {
    let text = text.trim_ascii().strip_prefix("{ when=")?;
    let text = text.strip_suffix('}').unwrap_or(text).trim_ascii_end();
    let (when, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut read = Fields { relative_ms: duration_ms(when)?, ..Fields::default() };
    // `obj` prints itself: whatever stands between its name and the last target is its own.
    let rest = match find_field(rest, OBJECT.trim_ascii_start()) {
        Some(object) => {
            let (before, object) = rest.split_at_checked(object)?;
            let object = object.strip_prefix(OBJECT.trim_ascii_start())?;
            each_field(before, &mut read);
            let end = text::rfind(object, TARGET).unwrap_or(object.len());
            let (object, rest) = object.split_at_checked(end)?;
            read.object = Some(object);
            rest
        }
        None => rest,
    };
    each_field(rest, &mut read);
    Some(read)
}

/// Where a field of this name (`obj=`) begins: at the start or after a space.
fn find_field(text: &str, name: &str) -> Option<usize> {
    if text.starts_with(name) {
        return Some(0);
    }
    let is_field = |bytes: &[u8]| bytes.split_first() == Some((&b' ', name.as_bytes()));
    text.as_bytes().windows(name.len() + 1).position(is_field).map(|at| at + 1)
}

fn each_field<'a>(text: &'a str, read: &mut Fields<'a>) {
    for (name, value) in text.split_ascii_whitespace().filter_map(|field| field.split_once('=')) {
        match name {
            "what" => read.what = text::signed(value),
            "callback" => read.callback = Some(value),
            "barrier" => read.barrier = text::signed(value),
            "arg1" => read.arg1 = text::signed(value).unwrap_or(0),
            "arg2" => read.arg2 = text::signed(value).unwrap_or(0),
            "target" => read.target = Some(value),
            "async" => read.asynchronous = value.parse().ok(),
            "heapIndex" => read.heap_index = text::signed(value),
            _ => {}
        }
    }
}

/// The line without the text of a message's `obj`, which is the app's and may hold a user's data.
///
/// For the platform's own objects two names stay: that of the object, and the class name of its component
/// (`obj=CreateServiceData{className=com.example.Sync}`). So the line shows which service is being created.
pub fn without_object(line: &str) -> Cow<'_, str> {
    let Some(begin) = text::find(line, OBJECT) else { return Cow::Borrowed(line) };
    let (head, object) = line.split_at(begin);
    let object = object.get(OBJECT.len()..).unwrap_or_default();
    let (object, tail) = match text::rfind(object, TARGET) {
        // After a cut through the object, what seems to be the target may be a part of the object.
        Some(end) => object.split_at_checked(end).filter(|(_, tail)| is_tail(tail)).unwrap_or((object, "")),
        None => (object, ""),
    };
    Cow::Owned(format!("{head}{OBJECT}{}{tail}", kept_of(object)))
}

/// Whether the text has ` target=CLASS` and further fields that are known, and ends with the closing brace.
fn is_tail(tail: &str) -> bool {
    let Some(fields) = tail.trim_ascii_end().strip_suffix('}') else { return false };
    fields.split_ascii_whitespace().all(|field| {
        field.split_once('=').is_some_and(|(name, value)| {
            matches!(name, "target" | "async" | "heapIndex")
                && !value.is_empty()
                && identifier(value) == value
        })
    })
}

/// The part of an `obj` that may be kept.
fn kept_of(object: &str) -> String {
    /// Platform classes with their own `toString`, in `ActivityThread.java` and
    /// `ClientTransaction.java`.
    const PLATFORM: &str =
        "AppBindData BindServiceData ClientTransaction CreateServiceData ReceiverData ServiceArgsData";
    let Some((name, state)) =
        object.split_once('{').filter(|(name, _)| PLATFORM.split(' ').any(|known| known == *name))
    else {
        return GAP.into();
    };
    for (field, text) in [("className=", "className="), ("cmp=", "component=")] {
        if let Some(at) = find_field(state, field) {
            let class = identifier(state.get(at + field.len()..).unwrap_or_default());
            if !class.is_empty() {
                return format!("{name}{{{text}{class}}}");
            }
        }
    }
    format!("{name}{{{GAP}}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_each_form_of_a_message() {
        let posted = fields("{ when=-5s21ms callback=com.foo.Bar$1 target=android.os.Handler }").unwrap();
        let expected = Fields {
            relative_ms: -5_021,
            callback: Some("com.foo.Bar$1"),
            target: Some("android.os.Handler"),
            ..Fields::default()
        };
        assert_eq!(posted, expected);
        let full = fields("{ when=+120ms what=7 arg1=-1 arg2=2 obj=a target=b c target=com.foo.H }").unwrap();
        let expected = Fields {
            relative_ms: 120,
            what: Some(7),
            arg1: -1,
            arg2: 2,
            object: Some("a target=b c"),
            target: Some("com.foo.H"),
            ..Fields::default()
        };
        assert_eq!(full, expected);
        let barrier = fields("{ when=0 barrier=3 async=false heapIndex=-1 }").unwrap();
        let expected =
            Fields { barrier: Some(3), asynchronous: Some(false), heap_index: Some(-1), ..Fields::default() };
        assert_eq!(barrier, expected);
        let later = fields("{ when=0 what=1 target=H async=true heapIndex=4 origin=x }").unwrap();
        assert_eq!((later.target, later.asynchronous, later.heap_index), (Some("H"), Some(true), Some(4)));
    }

    #[test]
    fn an_object_may_print_anything() {
        let lines = "{ when=-1ms what=159 obj=ClientTransaction{\n  transactionItems=[\n    x what=3 }\n  ]\n} target=\
                     android.app.ActivityThread$H }";
        let read = fields(lines).unwrap();
        assert_eq!((read.what, read.target), (Some(159), Some("android.app.ActivityThread$H")));
        assert!(read.object.unwrap().ends_with("]\n}"));
        let lies = fields("{ when=-1ms what=4 obj= barrier=9 callback=Evil obj=2 target=H }").unwrap();
        assert_eq!((lies.what, lies.barrier, lies.callback), (Some(4), None, None));
        let cut = fields("{ when=-1ms what=4 obj=a very long scenario…").unwrap();
        assert_eq!((cut.what, cut.target, cut.object), (Some(4), None, Some("a very long scenario…")));
        assert_eq!(fields("{ when=soon what=4 target=H }"), None);
        assert_eq!(fields("when=0"), None);
    }

    #[test]
    fn user_data_is_taken_out() {
        let cases = [
            ("  Message 0: { when=0 what=1 target=H }", "  Message 0: { when=0 what=1 target=H }"),
            ("Message 0: { when=0 what=1 obj=Bob target=H }", "Message 0: { when=0 what=1 obj=… target=H }"),
            (
                "Message 0: { when=0 what=1 obj=x target=y z target=H async=true heapIndex=1 }",
                "Message 0: { when=0 what=1 obj=… target=H async=true heapIndex=1 }",
            ),
            (
                "M: { when=0 what=114 obj=CreateServiceData{token=T className=com.foo.Sync packageName=p intent=null} target=H }",
                "M: { when=0 what=114 obj=CreateServiceData{className=com.foo.Sync} target=H }",
            ),
            (
                "M: { when=0 what=113 obj=ReceiverData{intent=Intent { act=X cmp=com.foo/.Rec (has extras) } packageName=p} target=H }",
                "M: { when=0 what=113 obj=ReceiverData{component=com.foo/.Rec} target=H }",
            ),
            (
                "M: { when=0 what=159 obj=ClientTransaction{\n url=http://x\n} target=H }",
                "M: { when=0 what=159 obj=ClientTransaction{…} target=H }",
            ),
            // Cut through the object: what is left is still the object's.
            ("M: { when=0 what=1 obj=a…b target=Bob lives here", "M: { when=0 what=1 obj=…"),
            ("M: { when=0 what=1 obj=a…b target=Bob! }", "M: { when=0 what=1 obj=…"),
        ];
        for (line, kept) in cases {
            assert_eq!(without_object(line), kept);
        }
    }

    proptest! {
        #[test]
        fn no_object_survives(object in "(\\PC|\n){0,30}SECRET(\\PC|\n){0,30}", cut in any::<bool>()) {
            let whole = format!("  Message 3: {{ when=-7ms what=5 arg1=1 obj={object} target=com.foo.H }}");
            let line = if cut { whole.split_at(whole.find("SECRET").unwrap() + 6).0 } else { whole.as_str() };
            let kept = without_object(line);
            prop_assert!(!kept.contains("SECRET"), "{}", kept);
            let read = fields(kept.split_once(": ").unwrap().1).unwrap();
            prop_assert_eq!((read.relative_ms, read.what, read.arg1), (-7, Some(5), 1));
            prop_assert_eq!(read.target, (!cut).then_some("com.foo.H"));
        }

        #[test]
        fn a_line_of_any_text_is_read(line in "(\\{ when=[-+]?[0-9]{0,3}(ms)? )?(\\PC|\n){0,60}") {
            let _ = fields(&line);
            let _ = without_object(&line);
        }
    }
}
