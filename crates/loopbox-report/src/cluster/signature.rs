//! What makes two reports the same problem.
//!
//! A signature is the primary cause of the diagnosis, the message that it is about, and the hot path of that
//! message's stacks: from the app's first method to its last one that has half of the time, and the platform call that
//! the last one makes. It has no lines, no bytecode positions, no numbers that a compiler gives (lambdas, anonymous and
//! synthetic classes) and no internal frames of the platform, so that a new release of the app or of Android does not
//! split a problem.
//!
//! Obfuscated names differ from build to build. If the signature also has a class of the app that kept its name
//! (activities, services and views do), each run of obfuscated frames counts as one "some obfuscated code". If it has
//! none, the obfuscated names stay, and the signature is of their app version only. With a mapping neither is needed.

use super::cardinality::hash64;
use crate::diagnose::Diagnosis;
use crate::model::class_names::{is_platform, looks_obfuscated};
use crate::model::{Analysis, Frame, FrameKind, MergedNode, MergedTree, SampledTree};
use loopbox_format::model::Outside;

/// How many frames of the app are kept, from the top of the stack.
const MAX_APP_FRAMES: usize = 8;
/// Stands for any run of obfuscated frames.
const OBFUSCATED: &str = "…";
/// The message of what ran in none.
const OUTSIDE: &str = "outside of messages";
/// The cause of an unclear diagnosis.
const UNCLEAR: &str = "unclear";

/// What makes two reports the same problem.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The rule of the primary cause, or `unclear`.
    pub cause: String,
    /// The message: the callback, or the Handler class and `what`; the place of what ran in none; empty when it is not
    /// known.
    pub message: String,
    /// The frames from the app's first method to where the time goes.
    pub frames: Vec<String>,
    /// The app version of obfuscated names; empty when the signature has none.
    pub version: String,
    /// The message that the frames are of. It is not compared.
    pub(super) token: Option<u64>,
}

impl Signature {
    /// The signature of a report with its diagnosis.
    pub fn new(a: &Analysis, diagnosis: &Diagnosis) -> Self {
        let cause = diagnosis.primary_cause();
        let token = cause.and_then(|c| c.token).or_else(|| a.current_token());
        let message = token.and_then(|token| message(a, token)).unwrap_or_default();
        let path = token.and_then(|token| a.tree(token)).map(|tree| hot_frames(a, tree)).unwrap_or_default();
        let known = |class: &str| !class.is_empty() && !is_platform(class) && !looks_obfuscated(class);
        let obfuscated = path.iter().any(|f| looks_obfuscated(&f.class));
        let in_message = token.is_none_or(|token| !Outside::is_outside(token));
        let has_kept_name =
            path.iter().any(|f| known(&f.class)) || in_message && message.split([' ', '/']).any(known);
        let (frames, version) = if obfuscated && !has_kept_name {
            (path.iter().map(|f| f.qualified()).collect(), a.meta.process.app_version.clone())
        } else {
            (comparable(&path), String::new())
        };
        Self { cause: cause.map_or(UNCLEAR, |c| c.rule).to_string(), message, frames, version, token }
    }

    /// A short form of [`Self::key`] for display.
    pub fn id(&self) -> String {
        format!("{:08x}", self.key() >> 32)
    }

    /// A hash of everything that is compared. It is the same in every run, so that groups of two weeks can be compared.
    pub fn key(&self) -> u64 {
        let parts = [self.cause.as_str(), &self.message, &self.version].into_iter();
        let parts: Vec<&str> = parts.chain(self.frames.iter().map(String::as_str)).collect();
        hash64(&parts.join("\n"))
    }
}

fn message(a: &Analysis, token: u64) -> Option<String> {
    if Outside::is_outside(token) {
        let place = a.outside_words(token);
        return Some(place.map_or_else(|| OUTSIDE.into(), |words| format!("{OUTSIDE}, {words}")));
    }
    let running = a.running().filter(|running| running.token == token).and_then(|r| r.message.as_ref());
    let message = running.or_else(|| a.recorded_message(token))?;
    let class = |name: &str| if looks_obfuscated(name) { OBFUSCATED.to_string() } else { stable_class(name) };
    Some(match (message.target.as_str(), message.callback.as_str()) {
        (target, "") => {
            let target = class(target);
            message.what.map_or_else(|| target.clone(), |what| format!("{target}/{what}"))
        }
        (_, callback) => class(callback),
    })
}

/// The app's part of the hot path and the platform call below it; the top of the stack when no app code is there.
fn hot_frames<'a>(a: &'a Analysis, tree: &SampledTree) -> Vec<&'a Frame> {
    let merged = MergedTree::folded([tree], &a.frames);
    let whole = tree.total_ns();
    let path: Vec<&MergedNode> =
        merged.hot_path().into_iter().take_while(|node| node.total_ns >= whole / 2).collect();
    let frame = |node: &&MergedNode| &a.frames[node.frame];
    // The frames that call the dispatch of the message are the same for all messages.
    let dispatch =
        path.iter().rposition(|node| frame(node).is_method("android.os.Handler", "dispatchMessage"));
    let path = &path[dispatch.map_or(0, |at| at + 1)..];
    let in_app = |f: &Frame| f.kind != FrameKind::Unknown && !f.class.is_empty() && !is_platform(&f.class);
    let first = path.iter().position(|node| in_app(frame(node)));
    let last = path.iter().rposition(|node| in_app(frame(node)));
    let (Some(first), Some(last)) = (first, last) else {
        return path.iter().rev().map(frame).find(|f| !f.class.is_empty()).into_iter().collect();
    };
    let mut frames: Vec<&Frame> = path[first..=last].iter().map(frame).filter(|f| in_app(f)).collect();
    frames.drain(..frames.len().saturating_sub(MAX_APP_FRAMES));
    frames.extend(path.get(last + 1).map(frame).filter(|f| is_specific(f)));
    frames
}

/// Whether a platform call shows what its caller waits for or does (a query, a lock, a sleep), and not only how it is
/// written (an iteration over a list).
fn is_specific(frame: &Frame) -> bool {
    const PLAIN: [&str; 4] = ["java.util.", "java.lang.", "java.math.", "java.text."];
    const WAITS: [&str; 4] =
        ["java.util.concurrent.", "java.lang.Object", "java.lang.Thread", "java.lang.Process"];
    let starts = |list: &[&str]| list.iter().any(|start| frame.class.starts_with(start));
    starts(&WAITS) || !starts(&PLAIN)
}

/// Frames as comparable text. A run of obfuscated frames becomes one, and so does a recursion, also one through
/// overloads.
fn comparable(path: &[&Frame]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for frame in path {
        let text = if looks_obfuscated(&frame.class) {
            OBFUSCATED.to_string()
        } else {
            format!("{}.{}", stable_class(&frame.class), stable_method(&frame.method))
        };
        if out.last() != Some(&text) {
            out.push(text);
        }
    }
    out
}

/// A class name without the numbers that compilers give: `Main$1` and `Main$2` swap with any edit above them.
///
/// * `Main$$ExternalSyntheticLambda3` (R8), `-$$Lambda$Main$h4sh` (D8 until 2021), `Main$$Lambda$14` (javac): `Main$λ`.
/// * `Main$1`, `Main$load$2$1` (Kotlin): numbers become `#`.
fn stable_class(class: &str) -> String {
    let (package, simple) = class.rsplit_once('.').map_or(("", class), |(package, simple)| (package, simple));
    let simple = if let Some(rest) = simple.strip_prefix("-$$Lambda$") {
        format!("{}$λ", rest.split('$').next().unwrap_or_default())
    } else if let Some(at) =
        ["$$ExternalSynthetic", "$$Lambda", "$$InternalSynthetic"].iter().find_map(|m| simple.find(m))
    {
        format!("{}$λ", &simple[..at])
    } else {
        let part = |part: &str| {
            let number = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            if number { "#".to_string() } else { part.to_string() }
        };
        simple.split('$').map(part).collect::<Vec<_>>().join("$")
    };
    if package.is_empty() { simple } else { format!("{package}.{simple}") }
}

/// A method name without such numbers: `lambda$onCreate$3`, `access$000`, `load-0d7_KjU` (Kotlin's inline classes).
fn stable_method(method: &str) -> String {
    if let Some(rest) = method.strip_prefix("lambda$") {
        return format!(
            "lambda${}",
            rest.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('$')
        );
    }
    if method.starts_with("access$") {
        return "access$".into();
    }
    match method.split_once('-') {
        Some((name, hash)) if hash.len() == 7 && !name.is_empty() => name.to_string(),
        _ => method.to_string(),
    }
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
        ] {
            assert_eq!(stable_class(class), stable);
        }
        for (method, stable) in [
            ("lambda$onCreate$3", "lambda$onCreate"),
            ("access$000", "access$"),
            ("load-0d7_KjU", "load"),
            ("sha256", "sha256"),
        ] {
            assert_eq!(stable_method(method), stable);
        }
    }
}
