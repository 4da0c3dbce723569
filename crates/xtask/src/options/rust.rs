//! The generated native code: the agent's types, the recorder's bounds, the C driver's list.

use std::fmt::Write as _;

use super::table::{Table, grouped, literal, snake};

/// The type of a Java number in Rust.
fn rust_type(java: &str) -> &'static str {
    match java {
        "boolean" => "bool",
        "int" => "u32",
        "long" => "u64",
        other => panic!("a number of type {other}"),
    }
}

/// The source of the agent's struct `Numbers`.
pub(super) fn numbers(table: &Table) -> String {
    let count = table.numbers().count();
    let [mut fields, mut names, mut read, mut defaults] = [const { String::new() }; 4];
    for number in table.numbers() {
        let (name, kind) = (snake(number.name), rust_type(number.java));
        let _ = writeln!(fields, "    pub(crate) {name}: {kind},");
        let _ = writeln!(names, "            {name},");
        let value = match kind {
            "bool" => format!("{name}: {name} != 0"),
            "u32" => format!("{name}: small({name})"),
            _ => format!("{name}: large({name})"),
        };
        let _ = writeln!(read, "            {value},");
        let _ = writeln!(defaults, "            {name}: {},", literal(number.default));
    }
    format!(
        "/// How many numbers `Settings.numbers` has.
pub const NUMBERS: usize = {count};

/// The numbers of `Settings.numbers`.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = \"each is a separate option\")]
pub(crate) struct Numbers {{
{fields}}}

impl From<&[i64; NUMBERS]> for Numbers {{
    fn from(numbers: &[i64; NUMBERS]) -> Self {{
        let &[
{names}        ] = numbers;
        Self {{
{read}        }}
    }}
}}

#[cfg(test)]
impl Default for Numbers {{
    fn default() -> Self {{
        Self {{
{defaults}        }}
    }}
}}
"
    )
}

/// The recorder's defaults and bounds.
pub(super) fn bounds(table: &Table) -> String {
    let mut out = String::new();
    for option in table.options.iter().filter(|option| option.recorder) {
        let (name, kind) = (snake(&option.name).to_uppercase(), rust_type(&option.java));
        let default = literal(option.default.as_ref().expect("the recorder knows no null"));
        let (kind, value) = match option.bounds.map(|bounds| bounds.map(|bound| grouped(bound, '_'))) {
            None => (kind.into(), default),
            Some([least, most]) => (
                format!("Bounded<{kind}>"),
                format!("Bounded {{ default: {default}, bounds: {least}..={most} }}"),
            ),
        };
        let _ = writeln!(out, "pub(crate) const {name}: {kind} = {value};");
    }
    out
}

/// The numbers by name, with their defaults, for C.
pub(super) fn c_numbers(table: &Table) -> String {
    let mut out = String::from("enum {\n");
    for number in table.numbers() {
        let _ = writeln!(out, "    {},", snake(number.name).to_uppercase());
    }
    out += "};\n\nstatic const i64 DEFAULTS[] = {\n";
    for number in table.numbers() {
        let value = match number.default {
            toml::Value::Boolean(truth) => i64::from(*truth),
            other => other.as_integer().expect("a number"),
        };
        let _ = writeln!(out, "    [{}] = {value},", snake(number.name).to_uppercase());
    }
    out + "};\n"
}
