//! `jni-glue/options.toml`, which says what each of its keys means.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    #[serde(rename = "option")]
    pub(super) options: Vec<Opt>,
    #[serde(rename = "frame")]
    pub(super) frames: Vec<Opt>,
    #[serde(rename = "monitor")]
    pub(super) monitor: Vec<Opt>,
    #[serde(rename = "number")]
    pub(super) derived: Vec<Derived>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Opt {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) java: String,
    parameter: Option<String>,
    pub(super) bounds: Option<[u64; 2]>,
    pub(super) zero: Option<String>,
    #[serde(default)]
    pub(super) values: Vec<String>,
    pub(super) limit: Option<String>,
    pub(super) default: Option<toml::Value>,
    shown: Option<String>,
    #[serde(default)]
    native: bool,
    #[serde(default)]
    pub(super) recorder: bool,
    #[serde(default)]
    pub(super) stored: Vec<Stored>,
    javadoc: String,
    row: Option<String>,
}

/// A field of `Settings`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    pub(super) field: String,
    pub(super) initial: Option<String>,
    pub(super) value: String,
}

/// A value that native code reads and that no option contains directly.
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
    /// The Java expression that computes the number.
    pub(super) value: Cow<'t, str>,
    pub(super) default: &'t toml::Value,
}

impl Table {
    /// The numbers in the order in which they are passed.
    pub(super) fn numbers(&self) -> impl Iterator<Item = Number<'_>> {
        let derived = self.derived.iter().map(|number| Number {
            name: &number.name,
            java: &number.java,
            value: number.value.as_str().into(),
            default: &number.default,
        });
        // They are null where no frames are wanted.
        let frames = native(&self.frames, |option| match option.java.as_str() {
            "boolean" => format!("frames != null && frames.{}", option.name).into(),
            _ => format!("frames != null ? frames.{} : 0", option.name).into(),
        });
        derived.chain(frames).chain(native(&self.options, |option| option.name.as_str().into()))
    }
}

/// The numbers that are options.
fn native<'t>(
    options: &'t [Opt],
    value: impl Fn(&'t Opt) -> Cow<'t, str>,
) -> impl Iterator<Item = Number<'t>> {
    options.iter().filter(|option| option.native || option.recorder).map(move |option| Number {
        name: &option.name,
        java: &option.java,
        value: value(option),
        default: option.default.as_ref().expect("native code reads no null"),
    })
}

impl Opt {
    /// Whether the setter takes an object.
    pub(super) fn is_reference(&self) -> bool {
        !["boolean", "int", "long"].contains(&self.java.as_str())
    }

    /// Whether the setter takes any number of values.
    pub(super) fn is_list(&self) -> bool {
        self.java.ends_with("...")
    }

    /// Whether the setter takes null.
    pub(super) fn is_nullable(&self) -> bool {
        self.default.is_none()
    }

    /// The name of the setter's parameter.
    pub(super) fn parameter(&self) -> &str {
        let usual = if self.java == "boolean" { "on" } else { "ms" };
        self.parameter.as_deref().unwrap_or(usual)
    }

    pub(super) fn javadoc(&self) -> String {
        let unit = if self.name.ends_with("Ms") { " ms" } else { "" };
        let bounds = self.allowed(unit).join(", ").replace('`', "");
        let default = match (&self.shown, &self.default) {
            (None, Some(toml::Value::Boolean(truth))) => if *truth { "On" } else { "Off" }.into(),
            _ => self.default_shown(),
        };
        joined(&self.javadoc).replace("{bounds}", &bounds).replace("{default}", &default)
    }

    /// The text of the page's last columns, where the page has the option.
    pub(super) fn row(&self) -> Option<String> {
        self.row.as_deref().map(joined)
    }

    /// The allowed values, as people write them: the bounds, the values, the limit.
    pub(super) fn allowed(&self, unit: &str) -> Vec<String> {
        let range = self.bounds.map(|[least, most]| {
            let range = format!("{} to {}{unit}", self.amount(least), self.amount(most));
            self.zero.iter().fold(range, |range, meaning| format!("{range}, 0 for {meaning}"))
        });
        let values: Vec<String> = self.values.iter().map(|value| format!("`{value}`")).collect();
        let values = (!values.is_empty()).then(|| values.join(", "));
        range.into_iter().chain(values).chain(self.limit.clone()).collect()
    }

    /// The default as people write it.
    pub(super) fn default_shown(&self) -> String {
        if let Some(shown) = &self.shown {
            return shown.clone();
        }
        let value = |value: &toml::Value| match value {
            toml::Value::String(word) => format!("`{word}`"),
            toml::Value::Integer(number) => self.amount(u64::try_from(*number).expect("no negative number")),
            other => other.to_string(),
        };
        match &self.default {
            None => "none".into(),
            Some(toml::Value::Array(all)) => all.iter().map(value).collect::<Vec<_>>().join(", "),
            Some(one) => value(one),
        }
    }

    /// A number as people write it; bytes in the largest unit that gives a whole number.
    fn amount(&self, number: u64) -> String {
        let units: &[(u32, &str)] =
            if self.name.ends_with("Bytes") { &[(20, "MiB"), (10, "KiB")] } else { &[] };
        match units.iter().find(|(shift, _)| number.trailing_zeros() >= *shift) {
            Some((shift, unit)) => format!("{} {unit}", number >> shift),
            None => grouped(number, ','),
        }
    }
}

/// The text in one line.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A number with `by` between its groups of three digits.
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

/// A number, a list of values or a boolean as Java, Kotlin and Rust write it.
pub(super) fn literal(value: &toml::Value) -> String {
    match value {
        toml::Value::Array(all) => all.iter().map(literal).collect::<Vec<_>>().join(", "),
        toml::Value::Integer(number) => grouped(u64::try_from(*number).expect("no negative number"), '_'),
        other => other.to_string(),
    }
}

/// A name in snake case: `groupMs` becomes `group_ms`.
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

/// Words in lines of at most 110 columns, each line after `indent`, with `between` between the words.
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
