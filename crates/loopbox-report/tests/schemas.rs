//! `docs/schema` and the list of members in `docs/json.md` are made from the types that are printed.

use loopbox_report::{json_text, schema};
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    std::env::current_dir().unwrap().join("../../docs")
}

/// Compares a file with its expected content, or writes it when `LOOPBOX_BLESS` is set.
fn compare(file: &Path, made: &str) {
    if std::env::var_os("LOOPBOX_BLESS").is_some() {
        fs::write(file, made).unwrap();
    }
    let written = fs::read_to_string(file).unwrap_or_default();
    assert!(written == made, "{} is not of the types: LOOPBOX_BLESS=1 writes it", file.display());
}

#[test]
fn published_schemas_are_those_of_the_types() {
    let folder = docs().join("schema");
    for (name, schema) in schema::schemas() {
        compare(&folder.join(name), &json_text(&schema).unwrap());
    }
    let published = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = published.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| schema::schemas().iter().all(|(of_a_type, _)| name != of_a_type));
    assert_eq!(names, Vec::<String>::new(), "schemas of no type");
}

#[test]
fn documented_members_are_those_of_the_types() {
    let file = docs().join("json.md");
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once("<!-- members: begin").expect("the begin of the list");
    let (about, rest) = rest.split_once("-->\n").expect("the end of its comment");
    let (_, after) = rest.split_once("<!-- members: end -->").expect("the end of the list");
    let [(_, report), ..] = schema::schemas();
    let list = members(&report);
    compare(&file, &format!("{before}<!-- members: begin{about}-->\n{list}<!-- members: end -->{after}"));
}

/// A table for each object of a schema, from the outermost on.
fn members(schema: &Value) -> String {
    let mut out = String::from("## The report\n\n");
    let mut next = VecDeque::new();
    out += &table(object(&schema["properties"]), &mut next);
    let mut seen = Vec::new();
    while let Some(name) = next.pop_front() {
        if seen.contains(&name) {
            continue;
        }
        let part = &schema["$defs"][&name];
        let _ = write!(out, "\n## `{name}`\n\n{}\n\n", wrapped("", &about(part)));
        for kind in part["oneOf"].as_array().into_iter().flatten() {
            let _ = match (&kind["const"], &kind["properties"]) {
                (Value::String(word), _) => {
                    writeln!(out, "{}", wrapped("* ", &format!("`{word}`: {}", about(kind))))
                }
                (_, members) => {
                    let about = wrapped("", &about(kind));
                    write!(out, "\n{about}\n\n{}", table(object(members), &mut next))
                }
            };
        }
        if part["properties"].is_object() {
            out += &table(object(&part["properties"]), &mut next);
        }
        seen.push(name);
    }
    out
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object")
}

fn about(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

/// A paragraph, or an entry of a list when `mark` is `* `, wrapped to the width of documents.
fn wrapped(mark: &str, text: &str) -> String {
    const COLUMNS: usize = 110;
    let mut out = mark.to_owned();
    let mut column = mark.len();
    for (nth, word) in text.split(' ').enumerate() {
        let width = word.chars().count();
        if nth > 0 && column + 1 + width > COLUMNS {
            out += "\n";
            out += &" ".repeat(mark.len());
            column = mark.len();
        } else if nth > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += width;
    }
    out
}

fn table(members: &Map<String, Value>, next: &mut VecDeque<String>) -> String {
    let rows = members
        .iter()
        .map(|(name, member)| format!("| `{name}` | {} | {} |\n", kind(member, next), about(member)));
    format!("| member | type | meaning |\n|---|---|---|\n{}", rows.collect::<String>())
}

/// The type of a member. Objects that it refers to are listed later.
fn kind(schema: &Value, next: &mut VecDeque<String>) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        next.push_back(name.to_owned());
        return format!("[`{name}`](#{name})");
    }
    let words = |value: &Value| value.as_str().map_or_else(|| value.to_string(), |word| format!("`{word}`"));
    let joined = |all: &[Value], each: &mut dyn FnMut(&Value) -> String| {
        all.iter().map(each).collect::<Vec<_>>().join(" or ")
    };
    match (&schema["anyOf"], &schema["enum"], &schema["const"], &schema["type"]) {
        (Value::Array(any), ..) => joined(any, &mut |one| kind(one, next)),
        (_, Value::Array(names), ..) => names.iter().map(words).collect::<Vec<_>>().join(", "),
        (_, _, constant @ Value::String(_), _) => words(constant),
        (.., Value::Array(types)) => joined(types, &mut |one| {
            let mut one_type = schema.clone();
            one_type["type"] = one.clone();
            kind(&one_type, next)
        }),
        (.., Value::String(array)) if array == "array" => format!("list of {}", kind(&schema["items"], next)),
        (.., Value::String(name)) if name == "null" => "null".into(),
        (.., Value::String(name)) => name.clone(),
        _ => "any".into(),
    }
}
