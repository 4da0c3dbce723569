//! Text with names of a stack trace in it: logs, pastes, ART's traces.

use super::error::MappingMismatch;
use super::line::{Several, push_line};
use super::members::Members;
use super::names::Names;
use super::stack_frames::{Above, Retracer};
use super::{Mapping, same_build};
use crate::load::identity::MAP_ID_FILE;
use loopbox_format::code::is_platform;
use std::collections::BTreeSet;

/// When classes were not found, an error names this many of them at most.
const MAX_NAMED: usize = 5;

/// A text with the names of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetracedText {
    /// The text.
    pub text: String,
    /// How many lines of the text were renamed.
    pub renamed: usize,
    /// Why nothing was renamed, as a part of a sentence: the mapping does not have the classes of the text,
    /// or the text has no frame, lock or exception of the app. Only of use when `renamed` is 0.
    pub missing: String,
}

impl Mapping {
    /// Deobfuscates a text: the frames, locks and exceptions in it. All else stays as it is.
    ///
    /// # Errors
    /// When the text names a build, and the mapping is of another one.
    pub fn retrace_text(&self, text: &str) -> Result<RetracedText, MappingMismatch> {
        self.check_ids(text)?;
        let mut names = Names::default();
        names.text(text);
        let about = self.text.about(&names)?;
        let members = Members::read(&about);
        let retracer = Retracer::new(&members, &self.positions);
        let (mut out, mut renamed) = (String::with_capacity(text.len() + text.len() / 4), 0);
        let mut above = Above::default();
        for line in text.split_inclusive('\n') {
            renamed += usize::from(push_line(&mut out, line, &retracer, Several::Lines, &mut above));
        }
        Ok(RetracedText { text: out, renamed, missing: missing(&names) })
    }

    /// Compares the ids of mappings in the text with those of this mapping. R8 can write such an id as the
    /// source file of each class.
    fn check_ids(&self, text: &str) -> Result<(), MappingMismatch> {
        let ids = text.split(MAP_ID_FILE).skip(1);
        let ids: BTreeSet<&str> =
            ids.filter_map(|id| id.split(|c: char| !c.is_ascii_hexdigit()).next()).collect();
        let Some(first) = ids.first().filter(|_| !self.ids.is_empty()) else { return Ok(()) };
        if ids.iter().any(|id| self.ids.iter().any(|ours| same_build(ours, id))) {
            return Ok(());
        }
        let mapping = self.ids.first().cloned().unwrap_or_default();
        Err(MappingMismatch::OtherBuild { mapping, report: (*first).to_owned() })
    }
}

fn missing(names: &Names) -> String {
    let classes: Vec<&str> = names.classes().filter(|class| !is_platform(class)).collect();
    match classes.as_slice() {
        [] => "no frame, lock or exception of the app is in the text".into(),
        [one] => format!("its class {one} is not in the mapping under another name"),
        many => {
            let first = many.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
            format!("none of its {} classes ({first}, …) is in the mapping under another name", many.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule that removes inner frames applies when its condition names the exception in the line above the
    /// frame. Both have the obfuscated name of the exception, as in R8's own retrace (9.5.28).
    #[test]
    fn a_rule_for_a_thrown_class_takes_inner_frames_out_of_the_first_frame() {
        let rule = |conditions: &str, actions: &str| {
            format!(
                "some.Exception -> a.a:\nsome.Class -> b.b:\n    4:4:void other.Class.inlinee():23:23 -> a\n    \
                 4:4:void caller(other.Class):7:7 -> a\n    # {{\"id\":\"com.android.tools.r8.rewriteFrame\",\
                 \"conditions\":[{conditions}],\"actions\":[{actions}]}}\n"
            )
        };
        let retraced = |mapping: String, text: &str| -> String {
            let mapping = Mapping::parse(mapping.into_bytes()).unwrap();
            let out = mapping.retrace_text(text).unwrap().text;
            let method = |line: &str| {
                Some(line.split_once("at ")?.1.split_once('(')?.0.rsplit_once('.')?.1.to_owned())
            };
            out.lines().filter_map(method).collect::<Vec<_>>().join(" ")
        };
        let usual = || rule("\"throws(La/a;)\"", "\"removeInnerFrames(1)\"");
        let frame = "\tat b.b.a(SourceFile:4)\n";
        for (above, frames) in [
            ("a.a: words\n", "caller"),
            ("a.a: words\nmore of them\n", "caller"),
            ("E/x: Caused by: a.a\n", "caller"),
            ("a.a: words\n\n", "inlinee caller"),
            ("x.Y: words\n", "inlinee caller"),
            ("", "inlinee caller"),
        ] {
            assert_eq!(retraced(usual(), &format!("{above}{frame}")), frames, "{above}");
        }
        assert_eq!(retraced(usual(), &format!("a.a: words\n{frame}{frame}")), "caller inlinee caller");
        for (conditions, actions) in [
            ("\"throws(Lsome/Exception;)\"", "\"removeInnerFrames(1)\""),
            ("\"throws(La/a;)\"", "\"removeInnerFrames(2)\""),
            ("\"throws(La/a;)\"", "\"keepInnerFrames(1)\""),
            ("\"throws(La/a;)\",\"unknown(1)\"", "\"removeInnerFrames(1)\""),
        ] {
            let mapping = rule(conditions, actions);
            assert_eq!(
                retraced(mapping, &format!("a.a: words\n{frame}")),
                "inlinee caller",
                "{conditions} {actions}"
            );
        }
    }

    /// The lines have the form of R8's own retrace (9.5.28), which sorts the methods by name.
    #[test]
    fn a_frame_of_one_of_several_methods_is_a_line_for_each() {
        let mapping = "own.List2 -> x:\n    java.util.List sorted(java.util.List) -> y\n    void drop(int) -> y\n    \
                       void own.Other.cut(int) -> y\n    void one() -> z\n";
        let mapping = Mapping::parse(mapping.as_bytes().to_vec()).unwrap();
        let out =
            mapping.retrace_text("own.E: no\n\tat x.y(SourceFile) ~[na]\r\n\tat x.z(SourceFile)\n").unwrap();
        assert_eq!(
            out.text,
            "own.E: no\n\tat own.List2.sorted(List2.java) ~[na]\r\n\t<OR> at own.List2.drop(List2.java) ~[na]\r\n\
             \t<OR> at own.Other.cut(Other.java) ~[na]\r\n\tat own.List2.one(List2.java)\n"
        );
        assert_eq!(out.renamed, 2);
        // A text that was retraced has nothing left.
        assert_eq!(mapping.retrace_text(&out.text).unwrap().renamed, 0);
    }

    #[test]
    fn a_text_keeps_all_but_the_names() {
        let mapping = "# compiler: R8\n# pg_map_id: 0123abc\nown.Store -> a.c:\n# {\"id\":\"sourceFile\",\"fileName\":\"Store.kt\"}\n    \
                       1:4:int own.Db.read():17:20 -> x\n    1:4:void load():9:9 -> x\n";
        let mapping = Mapping::parse(mapping.as_bytes().to_vec()).unwrap();
        let text = "11-26 I art: at a.c.x(SourceFile:2)\r\nCaused by: a.c: no\r\n  - locked <0x1> (a a.c[])\r\nall else  \n";
        let out = mapping.retrace_text(text).unwrap();
        assert_eq!(
            out.text,
            "11-26 I art: at own.Db.read(Db.kt:18)\r\n11-26 I art: at own.Store.load(Store.kt:9)\r\nCaused by: own.Store: no\r\n  - locked \
             <0x1> (a own.Store[])\r\nall else  \n"
        );
        assert_eq!(out.renamed, 3);
        let none = mapping.retrace_text("  at own.Store.load(Store.kt:9)\n").unwrap();
        assert_eq!(none.renamed, 0);
        assert_eq!(none.missing, "its class own.Store is not in the mapping under another name");
        let other = mapping.retrace_text("  at a.c.x(r8-map-id-77777777:2)\n").unwrap_err();
        assert!(other.to_string().contains("of another build"), "{other}");
    }
}
