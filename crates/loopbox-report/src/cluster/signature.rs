//! What makes two reports the same problem.
//!
//! A signature is the cause that `diagnose` believes, the message it is about, and the way down the hot path of that
//! message's stacks: from the app's first method to its last one that has half of the time, and the platform call
//! that one is in. It has no lines, no bytecode positions, no numbers that a compiler gives (lambdas, anonymous and
//! synthetic classes) and no frames of the platform's own insides, so that a release of the app or of Android does
//! not split a problem.
//!
//! Names that R8 made up differ from build to build. They count as "some obfuscated code", and runs of them as one,
//! if the signature has a class of the app that kept its name (activities, services, views do) to tell the problem
//! by; if not, the made-up names stay and count for their own app version only. A mapping does better.

use crate::diagnose::Verdict;
use crate::{Analysis, Frame, FrameKind, Merged, MergedNode, names};

/// App frames that are kept, nearest to the top.
const FRAMES: usize = 8;
/// Stands for any run of obfuscated frames.
const SOME: &str = "…";
/// The cause when no rule is sure.
const UNCLEAR: &str = "unclear";

/// What makes two reports the same problem.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The rule whose cause is believed, or `unclear`.
    pub cause: String,
    /// The message: callback or Handler class and `what`; empty when it has no name.
    pub message: String,
    /// From the app's entry to where the time goes.
    pub frames: Vec<String>,
    /// The app version that made-up names belong to; empty when the signature has none.
    pub version: String,
    /// The message that the frames are of; not part of what is compared.
    pub(super) token: Option<u64>,
}

impl Signature {
    /// The signature of a judged report.
    pub fn new(a: &Analysis, verdict: &Verdict) -> Self {
        let cause = verdict.causes.first().filter(|_| verdict.confidence.is_some());
        let token = cause.and_then(|c| c.token).or_else(|| a.running().map(|running| running.token));
        let message = token.and_then(|token| message(a, token)).unwrap_or_default();
        let path = token.and_then(|token| a.tree(token)).map(|tree| hot_frames(a, tree)).unwrap_or_default();
        let known =
            |class: &str| !class.is_empty() && !names::is_platform(class) && !names::looks_obfuscated(class);
        let made_up = path.iter().any(|f| names::looks_obfuscated(&f.class));
        let told_by = path.iter().any(|f| known(&f.class)) || message.split([' ', '/']).any(known);
        let (frames, version) = if made_up && !told_by {
            (path.iter().map(|f| f.qualified()).collect(), a.meta.process.app_version.clone())
        } else {
            (joined(&path), String::new())
        };
        Self { cause: cause.map_or(UNCLEAR, |c| c.rule).to_string(), message, frames, version, token }
    }

    /// [`Self::key`] in short, as it is shown.
    pub fn id(&self) -> String {
        format!("{:08x}", self.key() >> 32)
    }

    /// A number for what is compared; the same in every run, so that groups of two weeks can be compared.
    pub fn key(&self) -> u64 {
        let parts = [self.cause.as_str(), &self.message, &self.version].into_iter();
        let parts: Vec<&str> = parts.chain(self.frames.iter().map(String::as_str)).collect();
        super::sketch::mix(&parts.join("\n"))
    }
}

fn message(a: &Analysis, token: u64) -> Option<String> {
    let running = a.running().filter(|running| running.token == token).and_then(|r| r.message.as_ref());
    let message = running.or_else(|| {
        let mut details = a.history.iter().flat_map(|record| &record.details);
        details.find(|detail| detail.token == token)?.message.as_ref()
    })?;
    let class =
        |name: &str| if names::looks_obfuscated(name) { SOME.to_string() } else { stable_class(name) };
    Some(match (message.target.as_str(), message.callback.as_str()) {
        (target, "") => format!("{}/{}", class(target), message.what),
        (_, callback) => class(callback),
    })
}

/// The app's part of the hot path and the platform call below it; the top of the stack when no app code is there.
fn hot_frames<'a>(a: &'a Analysis, tree: &crate::Tree) -> Vec<&'a Frame> {
    let merged = Merged::new([tree], &a.frames);
    let whole = tree.total_ns();
    let path: Vec<&MergedNode> =
        merged.hot_path().into_iter().take_while(|node| node.total_ns >= whole / 2).collect();
    let frame = |node: &&MergedNode| &a.frames[node.frame as usize];
    // What is below the message's dispatch is the same for all messages: the loop and what started it.
    let dispatch = path.iter().rposition(|node| frame(node).is("android.os.Handler", "dispatchMessage"));
    let path = &path[dispatch.map_or(0, |at| at + 1)..];
    let in_app =
        |f: &Frame| f.kind != FrameKind::Unknown && !f.class.is_empty() && !names::is_platform(&f.class);
    let first = path.iter().position(|node| in_app(frame(node)));
    let last = path.iter().rposition(|node| in_app(frame(node)));
    let (Some(first), Some(last)) = (first, last) else {
        return path.iter().rev().map(frame).find(|f| !f.class.is_empty()).into_iter().collect();
    };
    let mut frames: Vec<&Frame> = path[first..=last].iter().map(frame).filter(|f| in_app(f)).collect();
    frames.drain(..frames.len().saturating_sub(FRAMES));
    frames.extend(path.get(last + 1).map(frame).filter(|f| says_something(f)));
    frames
}

/// Whether a platform call tells what its caller waits for or does, rather than how it is written: a query, a lock,
/// a sleep, but not a loop over a list.
fn says_something(frame: &Frame) -> bool {
    const PLAIN: [&str; 4] = ["java.util.", "java.lang.", "java.math.", "java.text."];
    const WAITS: [&str; 4] =
        ["java.util.concurrent.", "java.lang.Object", "java.lang.Thread", "java.lang.Process"];
    let starts = |list: &[&str]| list.iter().any(|start| frame.class.starts_with(start));
    starts(&WAITS) || !starts(&PLAIN)
}

/// Frames as comparable text: runs of made-up names are one, and so are recursion and what calls itself by another
/// overload.
fn joined(path: &[&Frame]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for frame in path {
        let text = if names::looks_obfuscated(&frame.class) {
            SOME.to_string()
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

/// A method name without them: `lambda$onCreate$3`, `access$000`, `load-0d7_KjU` (Kotlin's inline classes).
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
    fn numbers_of_compilers_do_not_count() {
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
