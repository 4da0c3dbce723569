//! What makes two reports the same problem: equal signatures. The app computes the signature of each report
//! that it writes, and `loopbox cluster` groups reports by their signatures.
//!
//! A signature is computed from the stacks of the message that a report is about. It has the app's methods on
//! the hot path of these stacks: from the outermost one to the deepest one in which, callees included, at
//! least half of the sampled time was spent. It has no lines, no bytecode positions, nothing that a compiler
//! makes up (lambdas, anonymous and synthetic classes, accessors) and no frames of the platform. So a new
//! release of the app or of Android does not split a problem. It has neither the cause nor the message,
//! because the same hang can have several causes and occur in several messages. If the path has no method of
//! the app, the methods of libraries are used. If it has none of these either, the platform's method, the
//! message and the cause of a jank frame are the signature.
//!
//! A class name of two letters may be real (`DB`, `UI`). It counts as real under two conditions: it and all
//! other short class names of the path begin with a capital letter, and another class of the path under the
//! same first two packages kept its name.
//!
//! Obfuscated names differ from build to build. If the path also has a class of the app that kept its name
//! (activities, services and views do), each run of obfuscated frames counts as one frame, "some obfuscated
//! code". If only the message has such a class, the message is part of the signature. If neither has one, the
//! obfuscated names stay in the signature, and their app version is part of it.

mod hot_path;
mod names;
mod numbers;
mod of_report;
mod recursion;

pub use hot_path::{Hot, hot_path};
pub use of_report::{Subject, message_end, of_report, sample_times, subject, written_at};
pub use recursion::{Folded, Node, Place, fold};

use crate::code::{Owner, is_platform, seems_obfuscated};
use crate::looper::is_dispatch;
use crate::model::Message;
use names::{stable_class, stable_method};

/// The version of this module's rules. Only ids of the same version can be compared: under other rules, one
/// problem may have two ids, and two problems may have the same id.
pub const VERSION: u32 = 1;

/// How many frames of the app are kept, from the top of the stack.
const MAX_APP_FRAMES: usize = 8;
/// Only this many characters of a name are compared. A program that shows a name may cut it at 200 characters
/// or more, and the cut name must count as equal to the whole one.
const COMPARED_CHARS: usize = 150;
/// Stands for any run of obfuscated frames.
pub const OBFUSCATED: &str = "…";
/// Used in place of a message's name for what ran outside of messages.
pub const OUTSIDE: &str = "outside of messages";

/// A method of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method<'a> {
    /// Its class in Java notation; empty for a placeholder of left-out frames.
    pub class: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Whose code it is.
    pub owner: Owner,
}

impl Method<'_> {
    /// The class and package by which recursion is recognised; `None` for a method of the platform, or
    /// without a class.
    pub fn place(&self) -> Option<Place> {
        if self.owner == Owner::Platform || self.class.is_empty() {
            return None;
        }
        let outermost = self.class.split('$').next().unwrap_or_default();
        let package = match self.class.rsplit_once('.') {
            // A shrinker puts all of an app into one package.
            Some((package, _)) if !seems_obfuscated(self.class) => package,
            _ => outermost,
        };
        Some(Place { class: hash64(outermost), package: hash64(package) })
    }
}

/// The part of a message's name that does not change from build to build.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    /// The callback, or the Handler's class and `what`.
    pub text: String,
    /// Whether `text` has a class of the app whose name is not obfuscated.
    has_kept_name: bool,
}

impl Words {
    /// The part of this message's name that does not change from build to build.
    pub fn new(message: &Message) -> Self {
        let class = match (message.target.as_str(), message.callback.as_str()) {
            (target, "") => target,
            (_, callback) => callback,
        };
        let class = head(class);
        let obfuscated = seems_obfuscated(class);
        let mut text = if obfuscated { OBFUSCATED.to_owned() } else { stable_class(class) };
        if let Some(what) = message.what.filter(|_| message.callback.is_empty()) {
            text.push('/');
            text.push_str(&what.to_string());
        }
        Self { text, has_kept_name: !class.is_empty() && !is_platform(class) && !obfuscated }
    }

    /// The words for work outside of messages.
    pub fn outside() -> Self {
        Self { text: OUTSIDE.to_owned(), has_kept_name: false }
    }
}

/// What two reports of the same problem have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The frames from the app's first method to the one in which the time is spent; the platform's method
    /// when no method is the app's.
    pub frames: Vec<String>,
    /// What else identifies the problem when the app's methods do not; otherwise empty.
    pub context: String,
    /// The app version of obfuscated names; empty when the signature has none.
    pub version: String,
}

impl Signature {
    /// The signature for the methods of [`path`]. `cause` says why a jank frame was late; it is empty for a
    /// report.
    pub fn new(path: &[Method<'_>], cause: &str, message: &Words, version: &str) -> Self {
        let is_made_up = |class: &str| seems_obfuscated(class) && !is_real(class, path);
        let mut frames = comparable(path, is_made_up);
        // What R8 has named counts as one frame, however deep it is.
        frames.drain(..frames.len().saturating_sub(MAX_APP_FRAMES));
        let of_app = path.iter().any(|method| method.owner != Owner::Platform);
        let obfuscated = path.iter().any(|method| is_made_up(head(method.class)));
        let has_kept_name = frames.iter().any(|frame| frame != OBFUSCATED);
        let none = String::new;
        match (of_app, obfuscated && !has_kept_name) {
            (false, _) => Self { frames, context: [cause, "\n", &message.text].concat(), version: none() },
            (true, false) => Self { frames, context: none(), version: none() },
            (true, true) if message.has_kept_name => {
                Self { frames, context: message.text.clone(), version: none() }
            }
            (true, true) => Self {
                frames: path
                    .iter()
                    .skip(path.len().saturating_sub(MAX_APP_FRAMES))
                    .map(|method| [method.class, ".", method.name].concat())
                    .collect(),
                context: none(),
                version: version.to_owned(),
            },
        }
    }

    /// The method in which the time is spent, or the message when no method has a meaningful name; empty when
    /// neither is known.
    pub fn title(&self) -> &str {
        let frame = self.frames.iter().rev().find(|frame| *frame != OBFUSCATED);
        frame.map_or_else(|| self.context.trim_ascii_start(), String::as_str)
    }

    /// A short form of [`Self::key`]: eight digits of hex.
    pub fn id(&self) -> String {
        let digit = |nth: u32| char::from_digit((self.key() >> (60 - 4 * nth)) as u32 & 15, 16);
        (0..8).filter_map(digit).collect()
    }

    /// A hash of everything that is compared. It is the same in every run, so that groups of different weeks
    /// can be compared.
    pub fn key(&self) -> u64 {
        let parts = [self.context.as_str(), &self.version].into_iter();
        let parts: Vec<&str> = parts.chain(self.frames.iter().map(String::as_str)).collect();
        hash64(&parts.join("\n"))
    }
}

/// FNV-1a with its bits mixed.
pub fn hash64(value: &str) -> u64 {
    let fnv = value
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    let h = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 31)
}

/// The app's part of the hot path of a message's stacks; the top of the stack when there is no app code.
/// `whole_ns` is the time that all samples cover, and `method` returns the method of a node.
pub fn path<'a>(nodes: &[Node], whole_ns: u64, method: impl Fn(u32) -> Method<'a>) -> Vec<Method<'a>> {
    let hot = hot_path(nodes, |node| method(node).place())
        .into_iter()
        .take_while(|hot| hot.total_ns >= whole_ns / 2);
    let mut path: Vec<Method<'a>> = hot.map(|hot| method(hot.node)).collect();
    // The frames that call the dispatch of the message are the same for all messages.
    let is_handler = |m: &Method<'_>| m.class == "android.os.Handler" && is_dispatch(m.class, m.name);
    let dispatch = path.iter().rposition(is_handler);
    path.drain(..dispatch.map_or(0, |at| at + 1));
    let only = |is: fn(Owner) -> bool| path.iter().copied().filter(|m| is(m.owner)).collect::<Vec<_>>();
    let mut frames = only(|owner| owner == Owner::App);
    if frames.is_empty() {
        frames = only(|owner| owner != Owner::Platform);
    }
    if frames.is_empty() {
        return path.into_iter().rev().find(|m| !m.class.is_empty()).into_iter().collect();
    }
    frames
}

/// The part of a name that is compared.
fn head(name: &str) -> &str {
    name.char_indices().nth(COMPARED_CHARS).and_then(|(at, _)| name.get(..at)).unwrap_or(name)
}

/// Whether a short name was chosen by a developer and not by R8. R8's names begin with small letters, and R8
/// puts renamed classes into renamed packages.
fn is_real(class: &str, path: &[Method<'_>]) -> bool {
    let simple = class.rsplit('.').next().unwrap_or_default();
    let is_capital = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase());
    let outer = simple.split('$').next().unwrap_or_default();
    let Some(root) = root(class).filter(|_| outer.len() > 1 && is_capital(outer)) else { return false };
    let mut has_mate = false;
    for other in path.iter().map(|method| method.class).filter(|other| !other.is_empty()) {
        if !seems_obfuscated(head(other)) {
            has_mate |= other.starts_with(root);
        } else if !is_capital(other.rsplit('.').next().unwrap_or_default()) {
            return false;
        }
    }
    has_mate
}

/// The first two parts of a class's package, with the dot behind them.
fn root(class: &str) -> Option<&str> {
    class.match_indices('.').nth(1).and_then(|(at, _)| class.get(..=at))
}

/// Frames as comparable text. A run of obfuscated frames becomes one frame, and so does a recursion, even
/// through overloads.
fn comparable(path: &[Method<'_>], is_made_up: impl Fn(&str) -> bool) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for method in path {
        let class = head(method.class);
        let text = if is_made_up(class) {
            OBFUSCATED.to_owned()
        } else {
            let Some(name) = stable_method(head(method.name)) else { continue };
            [&stable_class(class), ".", &name].concat()
        };
        if out.last() != Some(&text) {
            out.push(text);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NamedBy;

    fn frames(classes: &[&str]) -> Vec<String> {
        let method = |class| Method { class, name: "run", owner: Owner::App };
        let path: Vec<Method<'_>> = classes.iter().copied().map(method).collect();
        Signature::new(&path, "", &Words::default(), "1.0").frames
    }

    #[test]
    fn short_names_between_names_that_were_kept_are_real() {
        for real in [["com.shop.app.Cart", "com.shop.app.DB"], ["com.shop.feed.Feed", "com.shop.ui.UI$1"]] {
            let [kept, short] = real.map(|class| class.replace("$1", "$#") + ".run");
            assert_eq!(frames(&real), [kept, short]);
        }
    }

    #[test]
    fn short_names_of_an_obfuscated_path_are_made_up() {
        for path in [
            // In a package that R8 has named.
            &["com.shop.app.Main", "a.b.AB"][..],
            // With a name that R8 begins with.
            &["com.shop.app.Main", "com.shop.app.DB", "com.shop.app.a"],
            &["com.shop.app.Main", "com.shop.app.A"],
        ] {
            assert_eq!(frames(path).last().map(String::as_str), Some(OBFUSCATED), "{path:?}");
        }
        assert_eq!(frames(&["com.shop.app.DB"]), ["com.shop.app.DB.run"], "of one version");
    }

    #[test]
    fn a_name_that_a_reader_has_cut_is_of_the_same_problem() {
        let long = ["com.example.shop.", &"Checkout".repeat(30)].concat();
        let cut: String = long.chars().take(199).chain(['…']).collect();
        let id = |class: &str| {
            let method = Method { class, name: "onPay", owner: Owner::App };
            Signature::new(&[method], "", &Words::default(), "1.0").id()
        };
        assert_eq!(id(&long), id(&cut));
        assert_ne!(id(&long), id("com.example.shop.Checkout"));
        let message = |class: &str| Message {
            target: class.to_owned(),
            callback: String::new(),
            what: None,
            component: None,
            named_by: NamedBy::Printer,
        };
        assert_eq!(Words::new(&message(&long)), Words::new(&message(&cut)));
    }
}
