//! The name of a frame whose method is not known exactly, because R8's mapping allows several methods:
//! `org.app.Src.one or org.app.Other.two or three or 2 more`. A method without a class is in the class of the
//! first method.
//!
//! Such a name is written into ART's trace and read from there. This module has the code for both.

use super::Frame;
use loopbox_format::text::CUT_MARK;

/// The text between two methods.
const OR: &str = " or ";
/// The end of the text for methods that are not named.
const MORE: &str = " more";

/// The names of the methods that a frame may be of, without the class `class` in front of the first one.
/// `named` has the class and the name of each method. A method of another class gets that class in front.
/// `more` is the number of methods that are not named.
pub(crate) fn join<'n>(class: &str, named: impl Iterator<Item = (&'n str, &'n str)>, more: usize) -> String {
    let mut names: Vec<String> = Vec::new();
    for (of, method) in named {
        names.push(if of == class { method.to_owned() } else { [of, ".", method].concat() });
    }
    if more > 0 {
        names.push(format!("{more}{MORE}"));
    }
    names.join(OR)
}

/// Splits the name of a frame into the class and the rest. `None` for a name without a class.
pub(crate) fn class_and_method(name: &str) -> Option<(&str, &str)> {
    let first = name.split(OR).next()?;
    let dot = first.rfind('.')?;
    Some((name.get(..dot)?, name.get(dot + 1..)?))
}

/// Whether two frames may be of the same method. If all their methods are named, they must have a class and a
/// method in common. If a method of one frame is not named, a common class is enough.
pub(crate) fn may_be_same(a: &Frame, b: &Frame) -> bool {
    let open = methods(a).chain(methods(b)).any(|(_, method)| is_rest(method));
    let is_same = |(class, method): (&str, &str), (other_class, other): (&str, &str)| {
        class == other_class && (open || method == other)
    };
    methods(a).any(|ours| methods(b).any(|theirs| is_same(ours, theirs)))
}

/// The methods that a frame may be of, each with its class.
fn methods(frame: &Frame) -> impl Iterator<Item = (&str, &str)> {
    frame.method.split(OR).map(|method| method.rsplit_once('.').unwrap_or((&frame.class, method)))
}

/// Whether a part of a name stands for methods that are not named, or was cut.
fn is_rest(method: &str) -> bool {
    method.ends_with(CUT_MARK) || method.strip_suffix(MORE).is_some_and(|more| more.parse::<usize>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_several_methods_is_split_in_front_of_the_first_method() {
        for (name, class, method) in [
            ("org.app.Src.one", "org.app.Src", "one"),
            (
                "org.app.Src.one or org.app.Other.two or three",
                "org.app.Src",
                "one or org.app.Other.two or three",
            ),
            ("org.app.Src.read or skip or 2 more", "org.app.Src", "read or skip or 2 more"),
            ("org.app.Cart.$or.<init>", "org.app.Cart.$or", "<init>"),
        ] {
            assert_eq!(class_and_method(name), Some((class, method)));
        }
        assert_eq!(class_and_method("one or org.app.Other.two"), None);
        let named = [("org.app.Src", "one"), ("org.app.Other", "two"), ("org.app.Src", "three")];
        let joined = join("org.app.Src", named.into_iter(), 2);
        assert_eq!(joined, "one or org.app.Other.two or three or 2 more");
        assert_eq!(join("org.app.Src", [("org.app.Src", "one")].into_iter(), 0), "one");
    }
}
