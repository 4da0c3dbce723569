//! The recorded API and the documentation.

use std::fmt::Write as _;

use super::table::{Opt, Table, grouped};

/// The setters as `javap` lists them.
pub(super) fn api(table: &Table) -> String {
    let line = |option: &Opt| {
        let java = &option.java;
        let class = match java.as_str() {
            "boolean" | "int" | "long" => java.clone(),
            "String" => "java.lang.String".into(),
            _ if option.values.is_empty() => format!("io.loopbox.{java}"),
            _ => format!("io.loopbox.Config${java}"),
        };
        format!("  public io.loopbox.Config$Builder {}({class});\n", option.name)
    };
    table.options.iter().map(line).collect()
}

/// The rows of the table of options.
pub(super) fn rows(table: &Table) -> String {
    let mut out = String::new();
    for option in &table.options {
        let default = match (&option.shown, &option.default) {
            (Some(shown), _) => shown.clone(),
            (None, None) => "none".into(),
            (None, Some(toml::Value::String(word))) => format!("`{word}`"),
            (None, Some(toml::Value::Integer(number))) => {
                grouped(u64::try_from(*number).expect("no negative number"), ',')
            }
            (None, Some(other)) => other.to_string(),
        };
        let values = option.values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
        let bounds = option.range().into_iter().chain((!values.is_empty()).then_some(values));
        let bounds: Vec<String> = bounds.chain(option.limit.clone()).collect();
        let bounds = match bounds.join(", ") {
            none if none.is_empty() => String::new(),
            some => format!("{some} "),
        };
        let _ = writeln!(out, "| `{}` | {default} | {bounds}| {} |", option.name, option.row());
    }
    out
}
