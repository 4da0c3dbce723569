//! Generates the recorded API and the tables of the documentation.

use std::fmt::Write as _;

use super::java::Builder;
use super::table::Opt;

/// The setters as `javap` lists them.
pub(super) fn api(builder: &Builder<'_>) -> String {
    let of = builder.class;
    let line = |option: &Opt| {
        let java = &option.java;
        let class = match java.as_str() {
            "boolean" | "int" | "long" | "long..." => java.clone(),
            "String" => "java.lang.String".into(),
            "File" => "java.io.File".into(),
            _ if option.values.is_empty() => format!("io.loopbox.{java}"),
            _ => format!("io.loopbox.Config${java}"),
        };
        format!("  public io.loopbox.{of}$Builder {}({class});\n", option.name)
    };
    builder.options.iter().map(line).collect()
}

/// The rows of a table of options.
pub(super) fn rows(options: &[Opt]) -> String {
    let mut out = String::new();
    for option in options {
        let row = option.row().expect("each option has a row");
        let bounds = match option.allowed("").join(", ") {
            none if none.is_empty() => String::new(),
            some => format!("{some} "),
        };
        let _ = writeln!(out, "| `{}` | {} | {bounds}| {row} |", option.name, option.default_shown());
    }
    out
}

/// The rows of the table of switches, and the empty line after it.
pub(super) fn switches(options: &[Opt]) -> String {
    let mut out = String::new();
    for option in options {
        let Some(row) = option.row() else { continue };
        let is_on = option.default.as_ref().and_then(toml::Value::as_bool).expect("a switch is on or off");
        let _ = writeln!(out, "| `{}` | {} | {row} |", option.name, if is_on { "on" } else { "off" });
    }
    out + "\n"
}
