//! The platform's public API at one level, read from TypeScript declarations generated from its
//! `android.jar`.
//!
//! The types there are JavaScript's: each number type of Java is `number`, a String is `string`, an Object is
//! `any`.

use std::collections::HashMap;

/// Classes by their names with dots as the only separators, `android.os.Build.VERSION`.
#[derive(Debug, Default)]
pub(crate) struct Api(HashMap<String, Class>);

#[derive(Debug, Default)]
struct Class {
    /// What it extends and implements.
    above: Vec<String>,
    /// Its members as they are declared, without type arguments.
    members: Vec<String>,
}

impl Api {
    pub(crate) fn parse(text: &str) -> Self {
        let mut api = Self::default();
        // Modules and classes around the line; what is in other braces is of no class.
        let mut around: Vec<(String, bool)> = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with(['/', '*']) {
                continue;
            }
            if line.starts_with('}') {
                around.pop();
            } else if let Some(header) = line.strip_suffix('{') {
                let header = without_type_arguments(header);
                let words = ["declare ", "export ", "abstract "];
                let header =
                    words.iter().fold(header.trim(), |text, word| text.strip_prefix(word).unwrap_or(text));
                let named = header.strip_prefix("module ").or_else(|| header.strip_prefix("class "));
                let name = named.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
                let whole =
                    around.last().map_or_else(|| name.to_owned(), |(outer, _)| format!("{outer}.{name}"));
                let is_class = header.starts_with("class ");
                if is_class {
                    api.0.entry(whole.clone()).or_default().above.extend(above(header));
                }
                around.push((whole, is_class));
            } else if let Some((class, true)) = around.last() {
                let class = api.0.entry(class.clone()).or_default();
                class.members.push(without_type_arguments(line));
            }
        }
        api
    }

    /// Whether the class exists.
    pub(crate) fn has_class(&self, class: &str) -> bool {
        self.0.contains_key(&dotted(class))
    }

    /// Whether a class, or a class or interface that it extends, has the member with this name and
    /// descriptor.
    pub(crate) fn has_member(&self, class: &str, (name, descriptor): (&str, &str)) -> bool {
        let name = if name == "<init>" { "constructor" } else { name };
        self.finds(&dotted(class), name, descriptor)
            || name != "constructor" && self.finds("java.lang.Object", name, descriptor)
    }

    fn finds(&self, class: &str, name: &str, descriptor: &str) -> bool {
        let Some(class) = self.0.get(class) else { return false };
        class.members.iter().any(|declared| is(declared, name, descriptor))
            || name != "constructor" && class.above.iter().any(|above| self.finds(above, name, descriptor))
    }
}

/// The list's form of a name such as `android/os/Build$VERSION`.
fn dotted(class: &str) -> String {
    class.replace(['/', '$'], ".")
}

/// The types after `extends` and `implements`.
fn above(header: &str) -> Vec<String> {
    let Some((_, after)) = header.split_once(" extends ") else { return Vec::new() };
    let all = after.replace(" implements ", ",");
    all.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// `java.util.List<any>` without `<any>`, and without comments.
fn without_type_arguments(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    while let Some((start, end)) = kept.find("/*").zip(kept.find("*/")).filter(|(start, end)| start < end) {
        kept.replace_range(start..end + 2, "");
    }
    kept
}

/// Whether a declaration, `public static getenv(param0: string): string;`, is that of a member.
fn is(declared: &str, name: &str, descriptor: &str) -> bool {
    let Some(parameters) = descriptor.strip_prefix('(') else {
        let field =
            declared.split_once(':').map(|(words, kind)| (words.split_whitespace().next_back(), kind));
        return field.is_some_and(|(found, kind)| found == Some(name) && fits(&one_type(descriptor).0, kind));
    };
    let Some((words, rest)) = declared.split_once('(') else { return false };
    if words.split_whitespace().next_back() != Some(name) {
        return false;
    }
    let Some((inside, result)) = rest.rsplit_once(')') else { return false };
    let declared: Vec<&str> = inside.split(',').filter(|one| !one.trim().is_empty()).collect();
    let mut wanted = Vec::new();
    let mut left = parameters;
    while !left.starts_with(')') {
        let (kind, rest) = one_type(left);
        wanted.push(kind);
        left = rest;
    }
    let types_fit = |(wanted, declared): (&String, &&str)| {
        declared.split_once(':').is_some_and(|(_, declared)| fits(wanted, declared))
    };
    let (result_type, _) = one_type(&left[1..]);
    let result_fits = name == "constructor" || fits(&result_type, result.trim_start_matches(':'));
    wanted.len() == declared.len() && wanted.iter().zip(&declared).all(types_fit) && result_fits
}

/// The first type of a descriptor in the list's form, and the rest of the descriptor.
fn one_type(descriptor: &str) -> (String, &str) {
    let (first, rest) = descriptor.split_at(1);
    match first {
        "Z" => ("boolean".to_owned(), rest),
        "C" => ("string".to_owned(), rest),
        "V" => ("void".to_owned(), rest),
        "[" => ("androidNative.Array".to_owned(), one_type(rest).1),
        "L" => {
            let (class, rest) = rest.split_once(';').expect("the end of a class's name");
            let name = match class {
                "java/lang/String" | "java/lang/CharSequence" => "string".to_owned(),
                "java/lang/Object" => "any".to_owned(),
                other => dotted(other),
            };
            (name, rest)
        }
        _ => ("number".to_owned(), rest),
    }
}

/// Whether a declared type can be the wanted one. The list has `any` for a type that it cannot express. For a
/// constant it may have the value instead of the type.
fn fits(wanted: &str, declared: &str) -> bool {
    let declared = declared.trim().trim_end_matches(';').trim_end_matches("| null").trim();
    let is_value = match wanted {
        "number" => declared.parse::<f64>().is_ok(),
        "string" => declared.starts_with('"') || declared == "java.lang.CharSequence",
        "boolean" => declared == "true" || declared == "false",
        _ => false,
    };
    // A type parameter's name has no dot: whatever it is at most, the descriptor has that.
    let is_parameter = declared.len() <= 2;
    wanted == declared || wanted == "any" || declared == "any" || is_value || is_parameter
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
declare module android {
	export module os {
		export class Looper extends java.lang.Object {
			public static class: java.lang.Class<android.os.Looper>;
			public getQueue(): android.os.MessageQueue;
			public dump(param0: android.util.Printer, param1: string): void;
			public constructor();
		}
		export module Build {
			export abstract class VERSION extends java.util.Base<any,any> implements java.lang.Runnable, a.B<X<Y>> {
				public static SDK_INT: number;
				/** @since 99 */
				public static RELEASE: "now";
				public constructor(implementation: {
					later(param0: number): void;
				});
			}
		}
	}
}
declare module java {
	export module util {
		export class Base<K, V> {
			public add(param0: any, param1: androidNative.Array<number>): boolean;
		}
	}
	export module lang {
		export class Object {
			public hashCode(): number;
		}
	}
}
"#;

    #[test]
    fn members_are_found_by_their_types_also_above_the_class() {
        let api = Api::parse(LIST);
        assert!(api.has_class("android/os/Build$VERSION") && !api.has_class("android/os/Handler"));
        let has = |class: &str, name: &str, descriptor: &str| api.has_member(class, (name, descriptor));
        let looper = "android/os/Looper";
        assert!(has(looper, "getQueue", "()Landroid/os/MessageQueue;"));
        assert!(
            !has(looper, "getQueue", "()Landroid/os/Handler;")
                && !has(looper, "getQueue", "(I)Landroid/os/MessageQueue;")
        );
        assert!(has(looper, "dump", "(Landroid/util/Printer;Ljava/lang/String;)V"));
        assert!(!has(looper, "dump", "(Landroid/util/Printer;I)V"));
        assert!(has(looper, "<init>", "()V") && !has(looper, "<init>", "(I)V"));
        assert!(has(looper, "hashCode", "()I"), "as every object");
        let version = "android/os/Build$VERSION";
        assert!(has(version, "SDK_INT", "I") && has(version, "RELEASE", "Ljava/lang/String;"));
        assert!(has(version, "add", "(Ljava/lang/Object;[J)Z"), "of the class above it");
        assert!(!has(version, "later", "(I)V"), "what an implementation would have to have");
        assert!(!has("android/os/None", "hashCode2", "()I"));
    }
}
