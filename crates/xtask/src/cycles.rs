//! Tests that no crate's modules import each other in a circle. Imports are read from paths in the source;
//! names are followed through re-exports, so that a module may import from its parent what a sibling defines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use loopbox_setup::files::files_below;
use loopbox_setup::workspace::root;

/// A module, given by its path in the crate; the root's path is empty.
type Module = Vec<String>;

/// The code of a module, and the Rust paths that it imports and re-exports. `read_paths` takes the code and
/// finds the paths in it.
#[derive(Default)]
struct Source {
    code: String,
    /// The last name of each re-export, and its path.
    exports: BTreeMap<String, Vec<String>>,
    imports: BTreeSet<Vec<String>>,
}

struct Crate(BTreeMap<Module, Source>);

impl Crate {
    fn read(src: &Path) -> Self {
        let mut modules: BTreeMap<Module, Source> = BTreeMap::new();
        for file in files_below(src).unwrap() {
            let relative = file.strip_prefix(src).unwrap().with_extension("");
            let mut path: Module = relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            let is_test =
                |name: &String| name == "tests" || name.ends_with("_test") || name.ends_with("_tests");
            if file.extension().is_none_or(|kind| kind != "rs")
                || path[0] == "bin"
                || path.iter().any(is_test)
            {
                continue;
            }
            if ["mod", "lib", "main"].contains(&path.last().unwrap().as_str()) {
                path.pop();
            }
            modules.entry(path).or_default().code += &shipped(&fs::read_to_string(&file).unwrap());
        }
        let names: BTreeSet<Module> = modules.keys().cloned().collect();
        for (module, source) in &mut modules {
            read_paths(module, source, &names);
        }
        Self(modules)
    }

    /// The module that a path in `from` refers to; `None` for one in another crate.
    fn target(&self, from: &[String], path: &[String], depth: usize) -> Option<Module> {
        let mut rest = path;
        let mut at = match path[0].as_str() {
            "crate" => Module::new(),
            "self" | "super" => from.to_vec(),
            _ if self.0.contains_key(&[from, &path[..1]].concat()) => from.to_vec(),
            _ => return None,
        };
        while let Some(first @ ("crate" | "self" | "super")) = rest.first().map(String::as_str) {
            if first == "super" {
                at.pop()?;
            }
            rest = &rest[1..];
        }
        while let Some(first) = rest.first() {
            let child = [&at[..], std::slice::from_ref(first)].concat();
            if !self.0.contains_key(&child) {
                break;
            }
            (at, rest) = (child, &rest[1..]);
        }
        let exported = rest.first().and_then(|first| self.0.get(&at)?.exports.get(first));
        match exported.filter(|_| depth < 8) {
            Some(exported) => self.target(&at, &[exported, &rest[1..]].concat(), depth + 1).or(Some(at)),
            None => Some(at),
        }
    }

    fn imports(&self, module: &Module) -> BTreeSet<Module> {
        let paths = &self.0[module].imports;
        let targets = paths.iter().filter_map(|path| self.target(module, path, 0));
        targets.filter(|target| target != module && self.0.contains_key(target)).collect()
    }

    /// The modules that remain when those that import nothing are removed repeatedly: those in circles, and
    /// those that import them.
    fn circular(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let mut left: BTreeMap<Module, BTreeSet<Module>> =
            self.0.keys().map(|module| (module.clone(), self.imports(module))).collect();
        loop {
            let done: BTreeSet<Module> = left
                .iter()
                .filter(|(_, imports)| imports.is_empty())
                .map(|(module, _)| module.clone())
                .collect();
            if done.is_empty() {
                return left;
            }
            left.retain(|module, _| !done.contains(module));
            left.values_mut().for_each(|imports| imports.retain(|target| !done.contains(target)));
        }
    }
}

/// Source code without its comments, its texts, and the parts that are for tests or documentation alone.
fn shipped(source: &str) -> String {
    let mut code = String::new();
    for line in source.lines() {
        // Characters that would be taken for the beginning of something.
        let plain =
            ["'{'", "'}'", "'\"'", "'\\''"].iter().fold(line.to_owned(), |line, c| line.replace(c, "' '"));
        // Every second part of a line lies between quotation marks; a text of several lines has no paths that
        // matter.
        let outside: String = plain.replace("\\\"", "").split('"').step_by(2).collect();
        code += outside.split("//").next().unwrap();
        code.push('\n');
    }
    let mut kept = String::new();
    let mut rest = code.as_str();
    while let Some((before, after)) = ["#[cfg(test)]", "#[cfg(all(test, ", "#[cfg(doc)]"]
        .iter()
        .filter_map(|mark| rest.split_once(mark))
        .min_by_key(|(b, _)| b.len())
    {
        kept += before;
        rest = after_item(after);
    }
    kept + rest
}

/// The text after an item: after its semicolon, or after its block in braces.
fn after_item(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 && (c == ';' || c == '}') {
            return &text[at + 1..];
        }
    }
    ""
}

fn read_paths(module: &[String], source: &mut Source, modules: &BTreeSet<Module>) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let code = std::mem::take(&mut source.code);
    let mut body = String::new();
    for (number, part) in code.split("use ").enumerate() {
        // `use ` is the end of a word, too.
        if number == 0 || body.ends_with(is_name) {
            body += part;
            continue;
        }
        let before = body.trim_end();
        let line = before.rsplit(['\n', ';', '}']).next().unwrap().trim();
        let exported = line.starts_with("pub");
        let Some((tree, rest)) = part.split_once(';') else { continue };
        for mut path in expand(tree) {
            if path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            let Some(last) = path.last().cloned() else { continue };
            // A re-export is no import: who imports it imports what it leads to.
            if exported {
                source.exports.insert(last, path);
            } else {
                source.imports.insert(path);
            }
        }
        body += rest;
    }
    for word in body.split(|c: char| !is_name(c) && c != ':').filter(|word| word.contains("::")) {
        let path: Vec<String> = word.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let Some(first) = path.first() else { continue };
        let local = modules.contains(&[module, std::slice::from_ref(first)].concat());
        if local || ["crate", "super", "self"].contains(&first.as_str()) {
            source.imports.insert(path);
        }
    }
}

/// The paths of a `use` tree.
fn expand(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((prefix, list)) = tree.split_once('{').filter(|(_, list)| list.ends_with('}')) else {
        let path = tree.split(" as ").next().unwrap();
        return vec![
            path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect(),
        ];
    };
    let mut depth = 0;
    let parts = list[..list.len() - 1].split(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    parts
        .filter(|part| !part.trim().is_empty())
        .flat_map(|part| expand(&format!("{prefix}{}", part.trim())))
        .collect()
}

#[test]
fn modules_of_a_crate_import_each_other_in_no_circle() {
    let mut seen = 0;
    let below = |folder| fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let libraries = ["jni-glue", "jni-glue/inhouse"].map(|folder| root().join(folder));
    let crates = below("crates").chain(below("tests")).chain(libraries);
    for folder in crates.filter(|folder| folder.join("src").is_dir()) {
        let modules = Crate::read(&folder.join("src"));
        seen += modules.0.keys().map(|module| modules.imports(module).len()).sum::<usize>();
        assert!(modules.circular().is_empty(), "{}: {:#?}", folder.display(), modules.circular());
    }
    assert!(seen > 800, "{seen} imports in all");
}

#[test]
fn a_circle_is_found_through_a_re_export() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("lib.rs", "mod a;\nmod b;\npub use b::Thing;\n");
    write("a.rs", "use crate::Thing;\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n");
    write("b.rs", "pub struct Thing;\n#[cfg(all(test, not(loom)))]\nmod tests {\n    use super::a;\n}\n");
    assert!(Crate::read(folder.path()).circular().is_empty());
    write("b.rs", "use super::{a::{Other, self}, c};\npub struct Thing(Other);\n");
    let circular = Crate::read(folder.path()).circular();
    assert_eq!(circular.keys().collect::<Vec<_>>(), [&["a"], &["b"]]);
}

/// The packages of `io.loopbox.internal`. Each may import those before it; the package `io.loopbox.internal`
/// itself may import all of them.
const JAVA_PACKAGES: [&str; 6] = ["platform", "recording", "hook", "frames", "monitor", "report"];

#[test]
fn packages_of_the_java_library_import_one_way() {
    let internal = root().join("jni-glue/java/io/loopbox/internal");
    let rank = |package: &str| match JAVA_PACKAGES.iter().position(|known| *known == package) {
        Some(at) => at,
        None => panic!("package {package} has no place in JAVA_PACKAGES"),
    };
    let mut seen = 0;
    for file in
        files_below(&internal).unwrap().iter().filter(|file| file.extension().is_some_and(|e| e == "java"))
    {
        let folder = file.parent().unwrap();
        if folder == internal {
            continue;
        }
        let own = rank(folder.file_name().unwrap().to_str().unwrap());
        let text = fs::read_to_string(file).unwrap();
        for line in text.lines() {
            let Some(class) = line.strip_prefix("import io.loopbox.internal.") else { continue };
            let package = class.split_once('.').map_or("", |(package, _)| package);
            assert!(rank(package) < own, "{}: {line}", file.display());
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} imports in all");
}
