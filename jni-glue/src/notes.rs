//! What the app says about itself: a few short names and values, in each report and in the ring.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many names the app can give.
const MOST: usize = 16;
/// Names that there is always room for: the recorder itself gives them.
const OURS: [&str; 2] = ["scene", "foreground"];
/// Characters of a name and of a value that are kept.
const NAME_CHARS: usize = 40;
const VALUE_CHARS: usize = 200;

/// Name and value, in the order of their first mention. Any thread may change them.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    list: Mutex<Vec<(String, String)>>,
    changes: AtomicU32,
}

impl Notes {
    /// The first `MOST` of those given at install.
    pub(crate) fn new(given: &[(String, String)]) -> Self {
        let notes = Self::default();
        for (name, value) in given {
            notes.set(name, Some(value));
        }
        notes
    }

    /// Sets or, without a value, removes one; false when there is no room for another name.
    pub(crate) fn set(&self, name: &str, value: Option<&str>) -> bool {
        let name = bounded(name, NAME_CHARS);
        let value = value.map(|value| bounded(value, VALUE_CHARS));
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let at = list.iter().position(|(known, _)| known == name);
        match (at.and_then(|at| list.get_mut(at)), value) {
            (Some((_, kept)), Some(value)) if kept == value => return true,
            (Some((_, kept)), Some(value)) => value.clone_into(kept),
            (None, Some(value)) => {
                let theirs = list.iter().filter(|(known, _)| !OURS.contains(&known.as_str())).count();
                if theirs >= MOST && !OURS.contains(&name) {
                    return false;
                }
                list.push((name.to_owned(), value.to_owned()));
            }
            (_, None) => list.retain(|(known, _)| known != name),
        }
        self.changes.fetch_add(1, Ordering::Relaxed);
        true
    }

    pub(crate) fn list(&self) -> Vec<(String, String)> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A number that is another one after each change.
    pub(crate) fn changes(&self) -> u32 {
        self.changes.load(Ordering::Relaxed)
    }
}

/// The first characters of a text.
fn bounded(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn the_last_word_on_a_name_stays_in_its_place() {
        let notes = Notes::new(&[pair("user", "a"), pair("scene", "Start")]);
        let before = notes.changes();
        assert!(notes.set("user", Some("b")) && notes.set("flag", Some("on")) && notes.set("scene", None));
        assert_eq!(notes.list(), [pair("user", "b"), pair("flag", "on")]);
        assert_eq!(notes.changes(), before + 3);
        assert!(notes.set("user", Some("b")), "said before");
        assert_eq!(notes.changes(), before + 3);
        assert!(notes.set("never there", None));
    }

    #[test]
    fn there_is_room_for_sixteen_short_ones() {
        let notes = Notes::default();
        for number in 0..20 {
            assert_eq!(notes.set(&format!("n{number}"), Some("v")), number < 16);
        }
        assert!(notes.set("foreground", Some("yes")), "room of its own");
        assert!(notes.set("n3", Some(&"\u{fc}".repeat(300))), "a known one may always change");
        assert_eq!(notes.list().len(), 17);
        assert_eq!(notes.list()[3].1, "\u{fc}".repeat(200));
        notes.set("n0", None);
        notes.set(&"x".repeat(60), Some("v"));
        assert_eq!(notes.list()[16].0, "x".repeat(40));
    }
}
