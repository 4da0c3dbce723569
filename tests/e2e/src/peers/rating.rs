//! What a report is worth to its reader. Reports are rated by the words that they contain.

use std::fmt;

/// What a careful reader learns from a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// The cause is named.
    Right,
    /// The report names the cause, but names another cause first.
    Later,
    /// The report shows where main is, and not the cause.
    Stack,
    /// The report names the message that hangs, and has no stack.
    Name,
    /// The report names neither the cause nor the place where main is. It may show a wrong place.
    Wrong,
}

/// The rating of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rated {
    pub(super) worth: Worth,
    /// Whether the report came after the hang was over.
    pub(super) is_late: bool,
}

/// Alternatives, each a list of words. A report matches if it has all words of at least one alternative.
pub type Words = &'static [&'static [&'static str]];

/// Rates one report of a hang. `message` is the class of the message that hangs.
pub(super) fn rate(text: &str, cause: Words, place: Words, message: &str) -> Worth {
    let has = |words: Words| words.iter().any(|all| all.iter().all(|word| text.contains(word)));
    if has(cause) {
        Worth::Right
    } else if has(place) {
        Worth::Stack
    } else if names(text, message) && !has_stack(text) {
        Worth::Name
    } else {
        Worth::Wrong
    }
}

/// Whether a text has the name of this class. A longer name that begins with it does not count, for example
/// that of a nested class.
fn names(text: &str, class: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '$');
    text.match_indices(class).any(|(at, _)| ends(&text[at + class.len()..]))
}

/// Whether a report has frames: those of a peer, or of a digest.
fn has_stack(text: &str) -> bool {
    ["; ", " < "].iter().any(|between| text.contains(between))
}

/// The result of all reports of one hang by one peer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The peer could not be installed; the text says why.
    Refused(String),
    /// The peer made no report.
    Silent,
    /// The ratings of the peer's reports, each rating once and the best first. The flag is true if every
    /// report came after the hang was over.
    Reports(Vec<Worth>, bool),
}

impl Outcome {
    pub(super) fn of(reports: &[Rated]) -> Self {
        if reports.is_empty() {
            return Self::Silent;
        }
        let mut worths: Vec<Worth> = reports.iter().map(|rated| rated.worth).collect();
        worths.sort();
        worths.dedup();
        Self::Reports(worths, reports.iter().all(|rated| rated.is_late))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "not run: {why}"),
            Self::Silent => f.write_str("-"),
            Self::Reports(worths, is_late) => {
                let letters = worths.iter().map(|worth| match worth {
                    Worth::Right => "R",
                    Worth::Later => "r",
                    Worth::Stack => "S",
                    Worth::Name => "N",
                    Worth::Wrong => "W",
                });
                let late = is_late.then_some("L");
                f.write_str(&letters.chain(late).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAUSE: Words = &[&["Writer", "held"], &["writer's"]];
    const PLACE: Words = &[&["Reader.read"]];

    #[test]
    fn a_report_is_worth_what_its_words_say() {
        let of = |text| rate(text, CAUSE, PLACE, "Reader");
        assert_eq!(of("held by Writer"), Worth::Right);
        assert_eq!(of("the writer's"), Worth::Right);
        assert_eq!(of("at Reader.read, Writer"), Worth::Stack);
        assert_eq!(of("long task of Reader@1234"), Worth::Name);
        assert_eq!(of("ANR; Innocent.work(A.java:1); Reader.run(A.java:2)"), Worth::Wrong);
        assert_eq!(of("long task of Reader$0@1234"), Worth::Wrong);
        assert_eq!(rate("anything", &[], &[], "none"), Worth::Wrong);
    }

    #[test]
    fn an_outcome_has_each_worth_once_and_says_when_all_were_late() {
        let of = |worth, is_late| Rated { worth, is_late };
        let say = |reports: &[Rated]| Outcome::of(reports).to_string();
        assert_eq!(say(&[]), "-");
        assert_eq!(say(&[of(Worth::Wrong, true), of(Worth::Right, true), of(Worth::Wrong, true)]), "R W L");
        assert_eq!(say(&[of(Worth::Stack, true), of(Worth::Stack, false)]), "S");
        assert_eq!(Outcome::Refused("java.lang.Error".into()).to_string(), "not run: java.lang.Error");
    }
}
