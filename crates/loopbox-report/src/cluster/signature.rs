//! What makes two reports the same problem.
//!
//! A signature is the app's part of the hot path of the message that the diagnosis is about: from the app's first method to
//! its last one that has half of the time. It has no lines, no bytecode positions, nothing that a compiler makes up (lambdas,
//! anonymous and synthetic classes, accessors) and no frames of the platform, so that a new release of the app or of Android
//! does not split a problem; and neither the cause nor the message, which the same hang has more than one of: they are
//! counted within a group. Only where no method of the app is known, the cause, the message and the platform's method are
//! the signature.
//!
//! Obfuscated names differ from build to build. If the path also has a class of the app that kept its name (activities,
//! services and views do), each run of obfuscated frames counts as one "some obfuscated code"; if only the message has
//! one, the message is part of the signature. If neither has one, the obfuscated names stay, and the signature is of their
//! app version only. With a mapping none of it is needed.

use super::cardinality::hash64;
use crate::diagnose::Diagnosis;
use crate::model::framework::Role;
use crate::model::{Analysis, Frame, MergedNode, MergedTree, SampledTree};
use crate::smoothness::{message_token, tree_token};
use loopbox_format::code::{is_accessor, is_platform, looks_obfuscated, synthetic_part};
use loopbox_format::model::{JankFrame, Message, Named as _, Token};

/// How many frames of the app are kept, from the top of the stack.
const MAX_APP_FRAMES: usize = 8;
/// Stands for any run of obfuscated frames.
pub(super) const OBFUSCATED: &str = "…";
/// The message of what ran in none.
const OUTSIDE: &str = "outside of messages";
/// The cause of an unclear diagnosis.
const UNCLEAR: &str = "unclear";

/// What makes two reports the same problem.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The frames from the app's first method to where the time goes; the platform's method when there is none of the
    /// app.
    pub frames: Vec<String>,
    /// What else identifies the problem where the app's methods do not: its cause and message; else empty.
    pub context: String,
    /// The app version of obfuscated names; empty when the signature has none.
    pub version: String,
}

/// A report's place among the problems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What makes it the same as others.
    pub signature: Signature,
    /// The rule of the primary cause, or `unclear`.
    pub cause: String,
    /// The message: the callback, or the Handler class and `what`; the place of what ran in none; empty when it is not
    /// known.
    pub message: String,
    /// The message that the frames are of.
    pub(super) token: Option<Token>,
}

impl Problem {
    /// The problem of a report with its diagnosis.
    pub fn new(a: &Analysis, diagnosis: &Diagnosis) -> Self {
        let cause = diagnosis.primary_cause();
        let token = cause.and_then(|c| c.token).or_else(|| a.current_token());
        Self::of(a, cause.map_or(UNCLEAR, |c| c.rule), token)
    }

    /// The problem of a jank frame: of the stacks of what held it up, or else of that message by its name.
    pub(super) fn of_jank(a: &Analysis, jank: &JankFrame) -> Self {
        let cause = jank.place.map_or(UNCLEAR, |place| place.name());
        Self::of(a, cause, tree_token(a, jank).or_else(|| message_token(jank)))
    }

    fn of(a: &Analysis, cause: &str, token: Option<Token>) -> Self {
        let message = token.and_then(|token| Named::of(a, token)).unwrap_or_default();
        let cause = cause.to_string();
        let path = token.and_then(|token| a.tree(token)).map(|tree| hot_frames(a, tree)).unwrap_or_default();
        let signature = Signature::new(&path, &cause, &message, &a.meta.process.app_version);
        Self { signature, cause, message: message.text, token }
    }
}

impl Signature {
    fn new(path: &[&Frame], cause: &str, message: &Named, version: &str) -> Self {
        let frames = comparable(path);
        let of_app = path.iter().any(|frame| frame.is_shipped());
        let obfuscated = path.iter().any(|frame| looks_obfuscated(&frame.class));
        let has_kept_name = frames.iter().any(|frame| frame != OBFUSCATED);
        match (of_app, obfuscated && !has_kept_name) {
            (false, _) => {
                Self { frames, context: format!("{cause}\n{}", message.text), version: String::new() }
            }
            (true, false) => Self { frames, context: String::new(), version: String::new() },
            (true, true) if message.has_kept_name => {
                Self { frames, context: message.text.clone(), version: String::new() }
            }
            (true, true) => Self {
                frames: path.iter().map(|frame| frame.qualified()).collect(),
                context: String::new(),
                version: version.to_owned(),
            },
        }
    }

    /// A short form of [`Self::key`] for display.
    pub fn id(&self) -> String {
        format!("{:08x}", self.key() >> 32)
    }

    /// A hash of everything that is compared. It is the same in every run, so that groups of two weeks can be compared.
    pub fn key(&self) -> u64 {
        let parts = [self.context.as_str(), &self.version].into_iter();
        let parts: Vec<&str> = parts.chain(self.frames.iter().map(String::as_str)).collect();
        hash64(&parts.join("\n"))
    }
}

/// A message by what does not change from build to build.
#[derive(Debug, Default)]
struct Named {
    text: String,
    /// Whether a class of the app kept its name in it.
    has_kept_name: bool,
}

impl Named {
    fn of(a: &Analysis, token: Token) -> Option<Self> {
        if token.is_outside() {
            let place = a.outside_words(token);
            let text = place.map_or_else(|| OUTSIDE.into(), |words| format!("{OUTSIDE}, {words}"));
            return Some(Self { text, has_kept_name: false });
        }
        let running = a.running().filter(|running| running.token == token).and_then(|r| r.message.as_ref());
        Some(Self::message(running.or_else(|| a.recorded_message(token))?))
    }

    fn message(message: &Message) -> Self {
        let class = match (message.target.as_str(), message.callback.as_str()) {
            (target, "") => target,
            (_, callback) => callback,
        };
        let name = if looks_obfuscated(class) { OBFUSCATED.to_string() } else { stable_class(class) };
        let what = message.what.filter(|_| message.callback.is_empty());
        Self {
            text: what.map_or_else(|| name.clone(), |what| format!("{name}/{what}")),
            has_kept_name: !class.is_empty() && !is_platform(class) && !looks_obfuscated(class),
        }
    }
}

/// The app's part of the hot path; the top of the stack when no app code is there.
fn hot_frames<'a>(a: &'a Analysis, tree: &SampledTree) -> Vec<&'a Frame> {
    let merged = MergedTree::folded([tree], &a.frames);
    let whole = tree.total_ns();
    let path: Vec<&MergedNode> =
        merged.hot_path().into_iter().take_while(|node| node.total_ns >= whole / 2).collect();
    let frame = |node: &&MergedNode| &a.frames[node.frame];
    // The frames that call the dispatch of the message are the same for all messages.
    let dispatch = path.iter().rposition(|node| frame(node).role() == Some(Role::Dispatch));
    let path: Vec<&Frame> = path[dispatch.map_or(0, |at| at + 1)..].iter().map(frame).collect();
    let only = |is: fn(&Frame) -> bool| path.iter().copied().filter(|f| is(f)).collect::<Vec<_>>();
    let mut frames = only(Frame::is_of_app);
    if frames.is_empty() {
        frames = only(Frame::is_shipped);
    }
    if frames.is_empty() {
        return path.into_iter().rev().find(|f| !f.class.is_empty()).into_iter().collect();
    }
    frames.drain(..frames.len().saturating_sub(MAX_APP_FRAMES));
    frames
}

/// Frames as comparable text. A run of obfuscated frames becomes one, and so does a recursion, also one through
/// overloads.
fn comparable(path: &[&Frame]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for frame in path {
        let text = if looks_obfuscated(&frame.class) {
            OBFUSCATED.to_string()
        } else {
            let Some(method) = stable_method(&frame.method) else { continue };
            format!("{}.{method}", stable_class(&frame.class))
        };
        if out.last() != Some(&text) {
            out.push(text);
        }
    }
    out
}

/// A class name without what compilers make up: `Main$1` and `Main$2` swap with any edit above them.
///
/// * `Main$$ExternalSyntheticLambda3` (R8), `-$$Lambda$Main$h4sh` (D8 until 2021), `Main$$Lambda$14` (javac): `Main$λ`.
/// * `ComposableSingletons$MainKt$lambda-1$1` (Compose): `ComposableSingletons$MainKt$λ$#`.
/// * `Main$1`, `Main$load$2$1` (Kotlin), `$Proxy12`: numbers become `#`.
fn stable_class(class: &str) -> String {
    let (package, simple) = class.rsplit_once('.').map_or(("", class), |(package, simple)| (package, simple));
    let simple = if let Some(rest) = simple.strip_prefix("-$$Lambda$") {
        format!("{}$λ", rest.split('$').next().unwrap_or_default())
    } else if let Some(at) = synthetic_part(simple) {
        format!("{}$λ", &simple[..at])
    } else {
        simple.split('$').map(stable_part).collect::<Vec<_>>().join("$")
    };
    if package.is_empty() { simple } else { format!("{package}.{simple}") }
}

fn stable_part(part: &str) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number_after = |start| part.strip_prefix(start).is_some_and(is_number);
    if is_number(part) || number_after("-") {
        "#".into()
    } else if number_after("lambda-") {
        "λ".into()
    } else if number_after("Proxy") {
        "Proxy#".into()
    } else {
        part.into()
    }
}

/// A method name without what compilers make up: `lambda$onCreate$3`, `onCreate$lambda$3`, `load$default`,
/// `load$suspendImpl`, `load-0d7_KjU` (Kotlin's inline classes). `None` for an accessor.
fn stable_method(method: &str) -> Option<String> {
    if is_accessor(method) {
        return None;
    }
    let without_number = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    if method.starts_with("lambda$") {
        return Some(without_number(method).trim_end_matches('$').to_owned());
    }
    if let Some((name, rest)) = method.rsplit_once("$lambda")
        && without_number(rest).trim_end_matches(['$', '-']).is_empty()
    {
        return Some(format!("{name}$lambda"));
    }
    let method = ["$default", "$suspendImpl"].iter().fold(method, |name, end| name.trim_end_matches(end));
    Some(match method.split_once('-') {
        Some((name, hash)) if hash.len() == 7 && !name.is_empty() => name.to_owned(),
        _ => method.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_names_have_no_compiler_generated_numbers() {
        for (class, stable) in [
            ("com.a.Main$1", "com.a.Main$#"),
            ("com.a.Main$load$2$1", "com.a.Main$load$#$#"),
            ("com.a.Main$$ExternalSyntheticLambda14", "com.a.Main$λ"),
            ("com.a.-$$Lambda$Main$Zm3x_h4sh", "com.a.Main$λ"),
            ("com.a.Main$$Lambda$14/0x0000", "com.a.Main$λ"),
            ("com.a.Utf8$Inner", "com.a.Utf8$Inner"),
            ("com.a.ComposableSingletons$MainKt$lambda-1$1", "com.a.ComposableSingletons$MainKt$λ$#"),
            (
                "com.a.ComposableSingletons$MainKt$lambda$-1204$1",
                "com.a.ComposableSingletons$MainKt$lambda$#$#",
            ),
            ("$Proxy12", "$Proxy#"),
            ("com.a.Proxy", "com.a.Proxy"),
        ] {
            assert_eq!(stable_class(class), stable);
        }
        for (method, stable) in [
            ("lambda$onCreate$3", Some("lambda$onCreate")),
            ("onCreate$lambda$3", Some("onCreate$lambda")),
            ("onCreate$lambda-0", Some("onCreate$lambda")),
            ("access$000", None),
            ("access$load", None),
            ("$r8$lambda$Zm3xh4sh", None),
            ("-$$Nest$mload", None),
            ("load$default", Some("load")),
            ("load-0d7_KjU$default", Some("load")),
            ("load$suspendImpl", Some("load")),
            ("load-0d7_KjU", Some("load")),
            ("sha256", Some("sha256")),
        ] {
            assert_eq!(stable_method(method).as_deref(), stable, "{method}");
        }
    }
}
