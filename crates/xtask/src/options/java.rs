//! Generates the parts of Java and Kotlin sources that are made from the table of options.

use std::fmt::Write as _;

use super::table::{Opt, Table, filled, grouped, literal};

/// A `Builder` of options.
pub(super) struct Builder<'t> {
    /// The class that it is in.
    pub(super) class: &'static str,
    pub(super) options: &'t [Opt],
}

/// The setters of a builder.
pub(super) fn setters(builder: &Builder<'_>) -> String {
    // The checks are in one class.
    let checks = if builder.class == "Config" { "" } else { "Config.Builder." };
    let setters: Vec<String> = builder.options.iter().map(|option| setter(option, checks)).collect();
    setters.join("\n")
}

fn setter(option: &Opt, checks: &str) -> String {
    let Opt { name, java, .. } = option;
    let annotation = match (option.is_reference(), option.is_nullable()) {
        (true, true) => "@Nullable ",
        (true, false) => "@NonNull ",
        (false, _) => "",
    };
    let mut out = javadoc(&option.javadoc());
    let _ = writeln!(out, "        @NonNull");
    let _ = writeln!(out, "        public Builder {name}({annotation}{java} {}) {{", option.parameter());
    for statement in statements(option, checks) {
        let _ = writeln!(out, "            {statement};");
    }
    out + "            return this;\n        }\n"
}

/// The statements of an option's setter. `checks` is the class with the checks, as a prefix.
fn statements(option: &Opt, checks: &str) -> Vec<String> {
    let (Opt { name, java, .. }, parameter) = (option, option.parameter());
    let is_checked = option.is_reference() && !option.is_nullable();
    let present = format!("{checks}present(\"{name}\", {parameter})");
    if !option.stored.is_empty() {
        let stored = option.stored.iter().map(|stored| {
            let field = stored.field.rsplit(' ').next().expect("a type and a name");
            format!("settings.{field} = {}", stored.value)
        });
        return is_checked.then_some(present).into_iter().chain(stored).collect();
    }
    let value = match option.bounds.map(|bounds| bounds.map(|bound| grouped(bound, '_'))) {
        Some([least, most]) => {
            let check = if option.is_list() { "ascending" } else { "within" };
            let cast = if java == "int" { "(int) " } else { "" };
            let zero = if option.zero.is_some() { format!("{parameter} == 0 ? 0 : ") } else { String::new() };
            format!("{zero}{cast}{checks}{check}(\"{name}\", {parameter}, {least}, {most})")
        }
        None if is_checked => present,
        None => parameter.to_owned(),
    };
    vec![format!("settings.{name} = {value}")]
}

/// A text as a Javadoc comment: in one line where it fits. A line never ends inside of a link.
fn javadoc(text: &str) -> String {
    let one = format!("        /** {text} */");
    if one.len() <= 110 {
        return one + "\n";
    }
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match words.last_mut().filter(|last| last.contains("{@") && !last.contains('}')) {
            Some(link) => link.extend([" ", word]),
            None => words.push(word.to_owned()),
        }
    }
    format!("        /**\n{}         */\n", filled(words.into_iter(), "         * ", " "))
}

/// The fields of a class of settings with their defaults.
pub(super) fn fields(options: &[Opt]) -> String {
    let mut out = String::new();
    let mut field = |field: &str, initial: Option<&str>| {
        let initial = initial.filter(|value| !["false", "0"].contains(value));
        let initial = initial.map(|value| format!(" = {value}")).unwrap_or_default();
        let _ = writeln!(out, "    public {field}{initial};");
    };
    for option in options {
        if option.stored.is_empty() {
            let initial = option.default.as_ref().map(literal);
            let initial = if option.is_list() { initial.map(|all| format!("{{{all}}}")) } else { initial };
            field(&format!("{} {}", option.java.replace("...", "[]"), option.name), initial.as_deref());
        }
        option.stored.iter().for_each(|stored| field(&stored.field, stored.initial.as_deref()));
    }
    out
}

/// The source of the method `Settings.numbers`.
pub(super) fn numbers(table: &Table) -> String {
    let mut out = String::from(
        "    /** The numbers in the order in which native code reads them. */
    public long[] numbers(int apiLevel) {
        return new long[] {
",
    );
    for number in table.numbers() {
        let value = number.value;
        let value = match number.java {
            "boolean" => format!("{value} ? 1 : 0"),
            _ => value.into_owned(),
        };
        let _ = writeln!(out, "            {value},");
    }
    out + "        };\n    }\n"
}

/// The expression that names an enum's value.
fn enum_value(option: &Opt, name: &str) -> String {
    format!("Config.{}.valueOf({name})", option.java)
}

/// The options that have a default in the table: their values can be written as literals.
fn plain(table: &Table) -> impl Iterator<Item = &Opt> {
    table.options.iter().filter(|option| option.default.is_some())
}

/// The methods of `ManifestOptions` that set an option by its name.
pub(super) fn manifest(table: &Table) -> String {
    let kinds = [("setNumber", "int"), ("setSwitch", "boolean"), ("setWord", "String")];
    let methods = kinds.map(|(method, kind)| {
        let mut out = format!(
            "    private static boolean {method}(Config.Builder builder, String option, {kind} value) {{
        switch (option) {{
"
        );
        let of_kind = plain(table).filter(|option| match option.java.as_str() {
            "int" | "long" => kind == "int",
            "boolean" => kind == "boolean",
            _ => kind == "String",
        });
        for option in of_kind {
            let name = &option.name;
            let value = if option.values.is_empty() { "value".into() } else { enum_value(option, "value") };
            let _ = writeln!(out, "            case \"{name}\":");
            let _ = writeln!(out, "                builder.{name}({value});\n                return true;");
        }
        out + "            default:\n                return false;\n        }\n    }\n"
    });
    methods.join("\n")
}

/// The statements that pass the scripted apps' arguments to the builder.
pub(super) fn arguments(table: &Table) -> String {
    let mut out = String::new();
    for option in plain(table) {
        let name = &option.name;
        let value = match option.java.as_str() {
            "int" | "long" => format!("number(\"{name}\", 0)"),
            "boolean" => format!("on(\"{name}\")"),
            "String" => format!("text(\"{name}\", \"\")"),
            _ => enum_value(option, &format!("text(\"{name}\", \"\")")),
        };
        let _ = writeln!(out, "        if (has(\"{name}\")) builder.{name}({value});");
    }
    out
}

/// The Kotlin source of a call of every setter.
pub(super) fn calls(options: &[Opt]) -> String {
    let calls = options.iter().map(|option| {
        let value = match (&option.default, option.values.is_empty()) {
            (None, _) => "null".to_owned(),
            (Some(value), true) => literal(value),
            (Some(value), false) => {
                format!("Config.{}.{}", option.java, value.as_str().expect("the name of a value"))
            }
        };
        format!(".{}({value})", option.name)
    });
    filled(calls, "        ", "")
}
