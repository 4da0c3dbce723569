//! Annotations of the app: a few short names and values, in each report and in the ring.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many names the app can give, besides the [`RESERVED`] ones.
const MAX_NAMES: usize = 16;
/// Names for which there is always room. The recorder itself sets some of them. The other ones are used to
/// group reports and figures, such as by user or by screen. Java's `Settings` has the same names, for
/// annotations that are set before there is a recording.
const RESERVED: [&str; 4] = ["scene", "foreground", "user", "system_start"];
/// At most `NAME_CHARS` characters of a name and `VALUE_CHARS` of a value are kept.
const NAME_CHARS: usize = 40;
const VALUE_CHARS: usize = 200;

/// Name and value, in the order in which the names were first set. Any thread may change them.
#[derive(Debug, Default)]
pub(crate) struct Annotations {
    list: Mutex<Vec<(String, String)>>,
    changes: AtomicU32,
    /// Whether the worker was woken for a change and has not read the annotations since. While this is true,
    /// another change does not wake the worker. Nothing is written to a log.
    is_logged: AtomicBool,
}

impl Annotations {
    /// Annotations with the first [`MAX_NAMES`] of the names given at install.
    pub(crate) fn new(given: &[(String, String)]) -> Self {
        let annotations = Self::default();
        for (name, value) in given {
            annotations.set(name, Some(value));
        }
        annotations
    }

    /// Sets an annotation or, without a value, removes it. False when there is no room for another name.
    pub(crate) fn set(&self, name: &str, value: Option<&str>) -> bool {
        let name = bounded(name, NAME_CHARS);
        let value = value.map(|value| bounded(value, VALUE_CHARS));
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let at = list.iter().position(|(known, _)| known == name);
        match (at.and_then(|at| list.get_mut(at)), value) {
            (Some((_, kept)), Some(value)) if kept == value => return true,
            (Some((_, kept)), Some(value)) => value.clone_into(kept),
            (None, Some(value)) => {
                let of_the_app = list.iter().filter(|(known, _)| !RESERVED.contains(&known.as_str())).count();
                if of_the_app >= MAX_NAMES && !RESERVED.contains(&name) {
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

    /// Whether to wake the worker for a change. Only for the first change since the worker has
    /// [seen](Self::seen) the annotations.
    pub(crate) fn wakes(&self) -> bool {
        !self.is_logged.swap(true, Ordering::SeqCst)
    }

    /// Notes that the worker is about to read the annotations.
    pub(crate) fn seen(&self) {
        self.is_logged.store(false, Ordering::SeqCst);
    }

    /// A number that differs after each change.
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
    fn a_new_value_keeps_the_place_of_its_name() {
        let annotations = Annotations::new(&[pair("user", "a"), pair("scene", "Start")]);
        let before = annotations.changes();
        assert!(
            annotations.set("user", Some("b"))
                && annotations.set("flag", Some("on"))
                && annotations.set("scene", None)
        );
        assert_eq!(annotations.list(), [pair("user", "b"), pair("flag", "on")]);
        assert_eq!(annotations.changes(), before + 3);
        assert!(annotations.set("user", Some("b")), "set before");
        assert_eq!(annotations.changes(), before + 3);
        assert!(annotations.set("never there", None));
    }

    #[test]
    fn sixteen_others_leave_room_for_the_names_that_the_recorder_knows() {
        let annotations = Annotations::default();
        for number in 0..17 {
            annotations.set(&format!("n{number}"), Some("v"));
        }
        for name in RESERVED {
            assert!(annotations.set(name, Some("v")), "{name}");
        }
        assert_eq!(annotations.list().len(), MAX_NAMES + RESERVED.len());
        let annotations = Annotations::new(&RESERVED.map(|name| pair(name, "v")));
        for number in 0..20 {
            assert_eq!(annotations.set(&format!("n{number}"), Some("v")), number < 16);
        }
    }

    #[test]
    fn there_is_room_for_sixteen_short_ones() {
        let annotations = Annotations::default();
        for number in 0..20 {
            assert_eq!(annotations.set(&format!("n{number}"), Some("v")), number < 16);
        }
        assert!(annotations.set("n3", Some(&"\u{fc}".repeat(300))), "a known one may always change");
        assert_eq!(annotations.list().len(), 16);
        assert_eq!(annotations.list()[3].1, "\u{fc}".repeat(200));
        annotations.set("n0", None);
        annotations.set(&"x".repeat(60), Some("v"));
        assert_eq!(annotations.list()[15].0, "x".repeat(40));
    }
}
