//! Reads the file lists out of AOSP's `Android.bp` build files.

use anyhow::{Context, Result, bail};

/// The `srcs` of the file group called `name`, without references to other groups (`:group`). Comments are
/// skipped, and with them files that are commented out.
pub(crate) fn file_group(blueprint: &str, name: &str) -> Result<Vec<String>> {
    let text = without_comments(blueprint);
    let wanted = format!("name: \"{name}\"");
    for group in text.split("filegroup {").skip(1) {
        let body = group.split("\n}").next().unwrap_or(group);
        if !body.contains(&wanted) {
            continue;
        }
        let (_, list) =
            body.split_once("srcs: [").with_context(|| format!("{name} has no list of sources"))?;
        let list = list.split(']').next().unwrap_or(list);
        let sources = list.split('"').skip(1).step_by(2);
        return Ok(sources.filter(|source| !source.starts_with(':')).map(str::to_owned).collect());
    }
    bail!("there is no file group {name:?}")
}

/// The sources of the `art_cc_defaults` called `name`: those for every architecture and those for the given
/// ones.
pub(crate) fn codegen_sources(blueprint: &str, name: &str, architectures: &[&str]) -> Result<Vec<String>> {
    let text = without_comments(blueprint);
    let wanted = format!("name: \"{name}\"");
    let body = text
        .split("\nart_cc_defaults {")
        .filter_map(|block| block.split("\n}").next())
        .find(|body| body.contains(&wanted))
        .with_context(|| format!("there is no art_cc_defaults {name:?}"))?;
    let (common, special) =
        body.split_once("codegen: {").with_context(|| format!("{name} has no codegen part"))?;
    let mut sources = listed(common).with_context(|| format!("{name} has no list of sources"))?;
    for architecture in architectures {
        let own = special
            .split_once(&format!(" {architecture}: {{"))
            .and_then(|(_, own)| listed(own))
            .with_context(|| format!("{name} has no sources for {architecture}"))?;
        sources.extend(own);
    }
    Ok(sources)
}

/// The texts of the first `srcs` list.
fn listed(text: &str) -> Option<Vec<String>> {
    let (_, list) = text.split_once("srcs: [")?;
    Some(list.split(']').next()?.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

fn without_comments(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// A comment\nfilegroup {\n    name: \"one\",\n    srcs: [\n        \"a/A.java\",\n\
        \x20       // \"a/Off.java\",\n        \"b/B.java\", // why\n        \":two\",\n    ],\n}\n\
        cc_library {\n    name: \"other\",\n    srcs: [\":one\"],\n}\nfilegroup {\n    name: \"two\",\n    srcs: [\"C.c\"],\n}\n\
        filegroup {\n    name: \"empty\",\n}\n";

    #[test]
    fn finds_the_sources_of_a_group() {
        assert_eq!(file_group(TEXT, "one").unwrap(), ["a/A.java", "b/B.java"]);
        assert_eq!(file_group(TEXT, "two").unwrap(), ["C.c"]);
    }

    #[test]
    fn a_group_that_is_not_there_or_has_no_sources_is_an_error() {
        assert!(file_group(TEXT, "other").unwrap_err().to_string().contains("other"));
        assert!(file_group(TEXT, "empty").is_err());
    }

    #[test]
    fn finds_the_sources_of_an_architecture() {
        let text = "// A comment\nart_cc_defaults {\n    name: \"no\",\n}\n\nart_cc_defaults {\n    name: \"c\",\n\
            \x20   srcs: [\n        \"a.cc\",\n    ],\n    codegen: {\n        arm: {\n            srcs: [\"arm.cc\"],\n\
            \x20       },\n        x86: {\n            srcs: [\"x86.cc\"],\n        },\n        x86_64: {\n\
            \x20           srcs: [\"x64.cc\"],\n        },\n    },\n}\n";
        assert_eq!(codegen_sources(text, "c", &["x86_64", "x86"]).unwrap(), ["a.cc", "x64.cc", "x86.cc"]);
        assert!(codegen_sources(text, "c", &["mips"]).unwrap_err().to_string().contains("mips"));
        assert!(codegen_sources(text, "no", &[]).is_err());
        assert!(codegen_sources(text, "none", &[]).is_err());
    }
}
