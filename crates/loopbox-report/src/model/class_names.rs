//! Whose code a class is, and which classes and methods were made by compilers. Both follow from the names in
//! a report.

use loopbox_format::code::{Owner, Owners, is_accessor, seems_obfuscated, synthetic_part};
use loopbox_format::model::Report;
use schemars::JsonSchema;
use serde::Serialize;

/// Whose code a class is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CodeOwner {
    /// The app's own.
    App,
    /// A library that the app ships.
    Library,
    /// Android or its Java library, which are on the device.
    Platform,
}

/// Which packages are the app's own. By default they follow from the report's application id. Without an
/// application id, they are all packages except those of the platform and of well-known libraries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppPackages {
    named: Vec<String>,
    owners: Owners,
}

impl AppPackages {
    /// The app's own packages are `packages` and the packages below them. Obfuscated names, whose package is
    /// unknown, count as the app's own, too. Without packages the default applies.
    pub fn new(packages: impl IntoIterator<Item = String>) -> Self {
        let packages = packages.into_iter().map(|package| package.trim_end_matches(['.', '*']).to_owned());
        let named = packages.filter(|package| !package.is_empty()).collect();
        Self { named, owners: Owners::default() }
    }

    /// The same packages, completed by what the report contains about its app.
    pub(crate) fn of_report(&self, report: &Report) -> Self {
        Self { named: self.named.clone(), owners: Owners::of_report(report) }
    }

    /// Whose code a class or a method is. `class` is the class name, or the class and method name.
    pub fn owner(&self, class: &str) -> CodeOwner {
        self.owner_in(class, "")
    }

    /// As [`Self::owner`]. `source_file` is the source file that the class refers to.
    pub(crate) fn owner_in(&self, class: &str, source_file: &str) -> CodeOwner {
        let is_below = |package: &String| {
            let rest = class.strip_prefix(package.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '$']))
        };
        if self.named.iter().any(is_below) {
            return CodeOwner::App;
        }
        match self.owners.owner(class, source_file) {
            Owner::App if !self.named.is_empty() && !seems_obfuscated(class) => CodeOwner::Library,
            Owner::App => CodeOwner::App,
            Owner::Library => CodeOwner::Library,
            Owner::Platform => CodeOwner::Platform,
        }
    }
}

/// The source files that R8 and D8 write for a class that they made.
const SYNTHETIC_FILES: [&str; 2] = ["R8$$SyntheticClass", "D8$$SyntheticClass"];
/// The source file of a class in Google's own modules begins with this; a hash follows. It refers to a web
/// page on which hash and line are looked up, not to a source.
const RETRACE_FILE: &str = "go/retraceme ";
/// The source file and the line in a report, if they refer to a real source. Compilers also write names that
/// are no file names, and line 0 when there is no line.
pub(crate) fn source_place(file: &str, line: Option<u32>) -> (&str, Option<u32>) {
    if is_source_file(file) { (file, line.filter(|line| *line > 0)) } else { ("", None) }
}

/// Whether a source may have this name.
pub(crate) fn is_source_file(file: &str) -> bool {
    !SYNTHETIC_FILES.contains(&file) && !file.starts_with(RETRACE_FILE)
}

/// Whether a compiler made a method: an accessor, or a method of a class that it made. Where R8 and D8 gave
/// such a class an ordinary name, only the source file shows it.
pub(crate) fn is_synthetic(class: &str, method: &str, file: &str) -> bool {
    let simple = class.rsplit('.').next().unwrap_or_default();
    is_accessor(method) || synthetic_part(simple).is_some() || SYNTHETIC_FILES.contains(&file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compilers_made_is_known_by_method_class_or_file() {
        assert!(is_synthetic("com.shop.A", "access$000", "A.kt"));
        assert!(is_synthetic("com.shop.A$$Lambda0", "run", ""));
        for file in SYNTHETIC_FILES {
            assert!(is_synthetic("com.shop.A$1", "run", file), "{file}");
        }
        assert!(!is_synthetic("com.shop.A", "lambda$b$0", "A.kt"), "a lambda's own code");
    }

    #[test]
    fn what_compilers_write_is_no_place_in_a_source() {
        assert_eq!(source_place("Cart.kt", Some(12)), ("Cart.kt", Some(12)));
        assert_eq!(source_place("Cart.kt", Some(0)), ("Cart.kt", None));
        assert_eq!(source_place("", Some(12)), ("", Some(12)));
        for file in ["R8$$SyntheticClass", "D8$$SyntheticClass", "go/retraceme 5ac1e0f7aa55b40b"] {
            assert_eq!(source_place(file, Some(7)), ("", None), "{file}");
        }
    }

    #[test]
    fn the_owner_of_a_class_is_known_by_its_package() {
        let default = AppPackages::default();
        for (class, owner) in [
            ("com.example.Main$1", CodeOwner::App),
            ("a.b", CodeOwner::App),
            ("kotlinx.coroutines.DispatchedTask", CodeOwner::Library),
            ("androidx.room.Room", CodeOwner::Library),
            ("io.loopbox.Listener", CodeOwner::Library),
            ("org.json.JSONObject", CodeOwner::Platform),
            ("java.lang.Object", CodeOwner::Platform),
            ("", CodeOwner::Platform),
        ] {
            assert_eq!(default.owner(class), owner, "{class}");
        }
        let named =
            AppPackages::new(["com.google.shop.".to_owned(), "com.example".to_owned(), String::new()]);
        for (class, owner) in [
            ("com.google.shop.cart.Cart", CodeOwner::App),
            ("com.example.Main$1", CodeOwner::App),
            ("com.example$1", CodeOwner::App),
            ("com.examples.Main", CodeOwner::Library),
            ("com.google.gson.Gson", CodeOwner::Library),
            ("a.b", CodeOwner::App),
            ("java.lang.Object", CodeOwner::Platform),
        ] {
            assert_eq!(named.owner(class), owner, "{class}");
        }
    }
}
