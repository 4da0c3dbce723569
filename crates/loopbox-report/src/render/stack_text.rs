//! The stack of the main thread at the dump as lines of text, with recursion folded: hundreds of equal lines
//! add no information.

use crate::derive::{last_stack, tombstone_line};
use crate::model::Analysis;

/// The longest cycle of methods that call each other.
const MAX_CYCLE: usize = 8;
/// How many rounds of a cycle are written.
const SHOWN: usize = 2;

/// The stack of the main thread at the dump, the innermost frame first: its native frames, then those of
/// Java. Empty when the report has neither.
pub(crate) fn stack_text(a: &Analysis) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(native) = a.main_thread.as_ref().and_then(|main| main.native.as_ref()) {
        let frames = native.frames.iter().enumerate();
        lines.extend(frames.map(|(number, frame)| tombstone_line(native, number, frame)));
    }
    if let Some(stack) = last_stack(a) {
        let frames: Vec<String> = stack.frames.iter().map(|frame| format!("at {frame}")).collect();
        lines.extend(folded(&frames));
    }
    lines
}

/// The lines, with a note in place of repeated ones.
pub(crate) fn folded(lines: &[String]) -> Vec<String> {
    let mut folded = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if let Some((len, rounds)) = cycle(&lines[at..]) {
            folded.extend_from_slice(&lines[at..at + SHOWN * len]);
            let what = if len == 1 { "the line above".into() } else { format!("the {len} lines above") };
            folded.push(format!("… {what} {} more times", rounds - SHOWN));
            at += rounds * len;
        } else {
            folded.push(lines[at].clone());
            at += 1;
        }
    }
    folded
}

/// The shortest cycle at the start of the lines that repeats often enough to be folded, and how often it
/// repeats.
fn cycle(lines: &[String]) -> Option<(usize, usize)> {
    (1..=MAX_CYCLE.min(lines.len())).find_map(|len| {
        let rounds = lines.chunks_exact(len).take_while(|round| *round == &lines[..len]).count();
        (rounds > SHOWN + 1).then_some((len, rounds))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(lines: &str) -> String {
        folded(&lines.split(' ').map(str::to_owned).collect::<Vec<_>>()).join(" ")
    }

    #[test]
    fn cycles_of_any_length_are_folded_and_what_is_short_stays() {
        assert_eq!(fold("a b b b c"), "a b b b c");
        assert_eq!(fold("a b b b b c"), "a b b … the line above 2 more times c");
        assert_eq!(fold("x a b a b a b a b a y"), "x a b a b … the 2 lines above 2 more times a y");
        assert_eq!(folded(&[]), Vec::<String>::new());
    }
}
