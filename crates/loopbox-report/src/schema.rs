//! The JSON schemas of what the commands print: made from the types that are serialised, and from their
//! comments.

use crate::cluster::Summary;
use crate::cluster::diff::Comparison;
use crate::render::json::ReportView;
use crate::smoothness::{self, SmoothnessView};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// The published schemas, each with the name of its file in `docs/schema`.
pub fn schemas() -> [(&'static str, Value); 5] {
    [
        ("report-1.schema.json", schema::<ReportView<'_>>("report")),
        ("cluster-1.schema.json", schema::<Summary>("cluster")),
        ("diff-1.schema.json", schema::<Comparison>("diff")),
        ("frames-1.schema.json", schema::<SmoothnessView>("frames")),
        ("frames-compare-1.schema.json", schema::<smoothness::Comparison>("frames-compare")),
    ]
}

/// The end of a schema file's name, after the schema's name.
const FILE_END: &str = "-1.schema.json";

/// The names of the schemas: `report`, `cluster` and so on.
pub fn names() -> impl Iterator<Item = &'static str> {
    schemas().into_iter().map(|(file, _)| file.trim_end_matches(FILE_END))
}

/// The schema with that name; `None` where there is none.
pub fn named(name: &str) -> Option<Value> {
    schemas().into_iter().find(|(file, _)| file.trim_end_matches(FILE_END) == name).map(|(_, schema)| schema)
}

fn schema<T: JsonSchema>(name: &str) -> Value {
    let mut schema = generator().into_root_schema_for::<T>();
    schema.insert("$id".into(), format!("urn:loopbox:schema:{name}:1").into());
    schema.insert("title".into(), format!("loopbox.{name}/1").into());
    in_words_of_json(schema.to_value())
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// The schema in JSON's terms: parts are called `native_stack` instead of `NativeStackView`, and absent
/// values are null.
fn in_words_of_json(schema: Value) -> Value {
    const PARTS: &str = "$defs";
    let reference = |value: &Value| {
        let name = value.as_str()?.strip_prefix("#/$defs/")?;
        Some(format!("#/{PARTS}/{}", json_name(name)).into())
    };
    match schema {
        Value::Object(members) => {
            let named = |(name, value): (String, Value)| match (name.as_str(), value) {
                (PARTS, Value::Object(parts)) => {
                    let parts =
                        parts.into_iter().map(|(name, part)| (json_name(&name), in_words_of_json(part)));
                    (name, Value::Object(parts.collect::<Map<_, _>>()))
                }
                ("description", Value::String(text)) => (name, in_one_line(&text).into()),
                ("$ref", value) => (name, reference(&value).unwrap_or(value)),
                (_, value) => (name, in_words_of_json(value)),
            };
            Value::Object(members.into_iter().map(named).collect())
        }
        Value::Array(items) => items.into_iter().map(in_words_of_json).collect(),
        value => value,
    }
}

/// The text of a comment without line breaks, and with null instead of `None`.
fn in_one_line(comment: &str) -> String {
    const PARAGRAPH: &str = "\n\n";
    let paragraphs: Vec<String> = comment.split(PARAGRAPH).map(|text| text.replace('\n', " ")).collect();
    paragraphs.join(PARAGRAPH).replace("`None`", "null")
}

/// `NativeStackView` as `native_stack`.
fn json_name(type_name: &str) -> String {
    let mut name = String::new();
    for c in type_name.strip_suffix("View").unwrap_or(type_name).chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn parts_have_the_names_of_their_types_without_view() {
        assert_eq!(
            ["NativeStackView", "MainWait", "token"].map(json_name),
            ["native_stack", "main_wait", "token"]
        );
    }

    #[test]
    fn a_comment_that_is_wrapped_anew_is_the_same_text() {
        let schema = serde_json::json!({ "description": "One\nline, `None`\nelse.\n\nAnother\none." });
        let wanted = serde_json::json!({ "description": "One line, null else.\n\nAnother one." });
        assert_eq!(in_words_of_json(schema), wanted);
    }

    #[test]
    fn no_two_types_of_one_schema_have_one_name() {
        fn check<T: JsonSchema>() {
            let schema = generator().into_root_schema_for::<T>();
            let types = schema.get("$defs").and_then(Value::as_object).unwrap();
            let names: BTreeSet<String> = types.keys().map(|name| json_name(name)).collect();
            assert_eq!(names.len(), types.len(), "{names:?}");
        }
        check::<ReportView<'_>>();
        check::<Summary>();
        check::<Comparison>();
        check::<SmoothnessView>();
        check::<smoothness::Comparison>();
    }
}
