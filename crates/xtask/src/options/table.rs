//! `jni-glue/options.toml`, which says what each of its keys means.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    #[serde(rename = "option")]
    pub(super) options: Vec<Opt>,
    #[serde(rename = "number")]
    pub(super) derived: Vec<Derived>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Opt {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) java: String,
    pub(super) parameter: String,
    pub(super) bounds: Option<[u64; 2]>,
    #[serde(default)]
    pub(super) values: Vec<String>,
    pub(super) limit: Option<String>,
    pub(super) default: Option<toml::Value>,
    pub(super) shown: Option<String>,
    #[serde(default)]
    pub(super) native: bool,
    #[serde(default)]
    pub(super) recorder: bool,
    #[serde(default)]
    pub(super) stored: Vec<Stored>,
    javadoc: String,
    row: String,
}

/// A field of `Settings`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    pub(super) field: String,
    pub(super) initial: Option<String>,
    pub(super) value: String,
}

/// What native code reads and no option says as it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Derived {
    name: String,
    #[serde(rename = "type")]
    java: String,
    value: String,
    default: toml::Value,
}

/// One of the numbers that Java gives to native code.
pub(super) struct Number<'t> {
    pub(super) name: &'t str,
    pub(super) java: &'t str,
    /// An expression of Java.
    pub(super) value: &'t str,
    pub(super) default: &'t toml::Value,
}

impl Table {
    /// In the order in which they are given.
    pub(super) fn numbers(&self) -> impl Iterator<Item = Number<'_>> {
        let derived = self.derived.iter().map(|number| Number {
            name: &number.name,
            java: &number.java,
            value: &number.value,
            default: &number.default,
        });
        let options = self.options.iter().filter(|option| option.native).map(|option| Number {
            name: &option.name,
            java: &option.java,
            value: &option.name,
            default: option.default.as_ref().expect("native code reads no null"),
        });
        derived.chain(options)
    }
}

impl Opt {
    /// Whether the setter takes an object.
    pub(super) fn is_reference(&self) -> bool {
        !["boolean", "int", "long"].contains(&self.java.as_str())
    }

    /// Whether the setter takes null.
    pub(super) fn is_nullable(&self) -> bool {
        self.default.is_none()
    }

    pub(super) fn javadoc(&self) -> String {
        let unit = if self.name.ends_with("Ms") { " ms" } else { "" };
        let limit = self.limit.as_ref().map(|limit| format!(", {}", limit.replace('`', "")));
        let bounds = self.range().unwrap_or_default() + unit + &limit.unwrap_or_default();
        joined(&self.javadoc).replace("{bounds}", &bounds)
    }

    /// What the page says of it in its last column.
    pub(super) fn row(&self) -> String {
        joined(&self.row)
    }

    /// The bounds as people write them.
    pub(super) fn range(&self) -> Option<String> {
        self.bounds.map(|[least, most]| format!("{} to {}", grouped(least, ','), grouped(most, ',')))
    }
}

/// In one line.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A number with a character after each thousand.
pub(super) fn grouped(number: u64, by: char) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(by);
        }
        out.push(digit);
    }
    out
}

/// A number or a truth as Java and Rust write it.
pub(super) fn literal(value: &toml::Value) -> String {
    match value {
        toml::Value::Integer(number) => grouped(u64::try_from(*number).expect("no negative number"), '_'),
        other => other.to_string(),
    }
}

/// `groupMs` with a character between its words, `group_ms`.
pub(super) fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// Words in lines of at most so many characters, each after `indent`.
pub(super) fn filled(words: impl Iterator<Item = String>, indent: &str, between: &str) -> String {
    const COLUMNS: usize = 110;
    let mut out = String::new();
    let mut line = String::new();
    for word in words {
        if !line.is_empty() && indent.len() + line.len() + between.len() + word.len() > COLUMNS {
            out.extend([indent, &line, "\n"]);
            line.clear();
        }
        if !line.is_empty() {
            line += between;
        }
        line += &word;
    }
    out + indent + &line + "\n"
}
