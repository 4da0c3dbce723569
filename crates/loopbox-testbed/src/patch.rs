//! Documented changes to downloaded sources: the files below `tests/testbed/patches`.
//!
//! Every change states exactly what it expects to find. One that does not apply is an error, so that a new
//! source version cannot be patched by chance.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use loopbox_setup::files::files_below;
use loopbox_setup::package::read_toml;

/// One patch file. The parts are applied in the order of the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Patch {
    /// The reason, for people.
    why: String,
    #[serde(default)]
    rename: Vec<Rename>,
    #[serde(default)]
    copy: Vec<Copy>,
    #[serde(default)]
    add: Vec<Add>,
    #[serde(default)]
    edit: Vec<Edit>,
    #[serde(default)]
    drop: Vec<Drop>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rename {
    from: String,
    to: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Copy {
    file: String,
    of: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    file: String,
    content: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drop {
    file: String,
}

#[derive(Debug, Deserialize)]
struct Edit {
    file: String,
    #[serde(flatten)]
    change: Change,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Change {
    /// Replaces a text that occurs exactly `count` times.
    Find { find: String, replace: String, count: Option<usize> },
    /// Replaces everything from `from` up to but not including `to` (or the end of the file).
    Region { from: String, to: String, replace: String },
    /// Adds members to the last class of a file.
    Append { append: String },
}

impl Change {
    fn apply(&self, text: &str) -> Result<String> {
        match self {
            Self::Find { find, replace, count } => {
                let (found, wanted) = (text.matches(find.as_str()).count(), count.unwrap_or(1));
                ensure!(found == wanted, "{find:?} is there {found} times, not {wanted}");
                Ok(text.replace(find, replace))
            }
            Self::Region { from, to, replace } => {
                ensure!(text.matches(from.as_str()).count() == 1, "{from:?} is not there exactly once");
                let (before, rest) = text.split_once(from).context("the region's start is not there")?;
                let after = if to.is_empty() {
                    ""
                } else {
                    let end = rest.find(to).with_context(|| format!("{to:?} does not follow {from:?}"))?;
                    &rest[end..]
                };
                Ok(format!("{before}{replace}{after}"))
            }
            Self::Append { append } => {
                let end = text.rfind('}').context("there is no closing brace")?;
                Ok(format!("{}{append}\n{}", &text[..end], &text[end..]))
            }
        }
    }
}

/// The sources that patches change: read from `overlay`, or from `base` if they are not there, and written to
/// `overlay`.
pub(crate) struct Tree {
    base: Option<PathBuf>,
    overlay: PathBuf,
    changed: BTreeSet<String>,
    dropped: BTreeSet<String>,
}

impl Tree {
    /// Sources that are changed in place.
    pub(crate) fn in_place(folder: &Path) -> Self {
        Self { base: None, overlay: folder.to_owned(), changed: BTreeSet::new(), dropped: BTreeSet::new() }
    }

    /// Sources that stay unchanged; `overlay` gets the changed and new files.
    pub(crate) fn over(base: &Path, overlay: &Path) -> Self {
        Self { base: Some(base.to_owned()), ..Self::in_place(overlay) }
    }

    /// Files that were changed or added, relative to the tree.
    pub(crate) fn changed(&self) -> &BTreeSet<String> {
        &self.changed
    }

    /// Files that must not be compiled.
    pub(crate) fn dropped(&self) -> &BTreeSet<String> {
        &self.dropped
    }

    /// Applies all patches of a folder, sorted by name.
    pub(crate) fn apply_folder(&mut self, folder: &Path) -> Result<()> {
        for file in files_below(folder)?.into_iter().filter(|f| f.extension().is_some_and(|e| e == "toml")) {
            let patch: Patch = read_toml(&file)?;
            self.apply(&patch, folder).with_context(|| format!("{} does not apply", file.display()))?;
        }
        Ok(())
    }

    fn apply(&mut self, patch: &Patch, folder: &Path) -> Result<()> {
        ensure!(!patch.why.trim().is_empty(), "it does not say why");
        for rename in &patch.rename {
            self.rename(rename)?;
        }
        for copy in &patch.copy {
            let text = self.read(&copy.of)?;
            self.write(&copy.file, &text)?;
        }
        for add in &patch.add {
            let text = fs::read_to_string(folder.join(&add.content));
            self.write(&add.file, &text.with_context(|| format!("cannot read {}", add.content))?)?;
        }
        for edit in &patch.edit {
            let text = self.read(&edit.file)?;
            let text = edit.change.apply(&text).with_context(|| edit.file.clone())?;
            self.write(&edit.file, &text)?;
        }
        for drop in &patch.drop {
            self.read(&drop.file)?;
            self.dropped.insert(drop.file.clone());
        }
        Ok(())
    }

    fn rename(&mut self, rename: &Rename) -> Result<()> {
        ensure!(self.base.is_none(), "[[rename]] works on whole sources only");
        let mut renamed = 0;
        for path in files_below(&self.overlay)? {
            let Ok(text) = fs::read_to_string(&path) else { continue }; // not text: an image, a test vector
            if text.contains(&rename.from) {
                fs::write(&path, text.replace(&rename.from, &rename.to))
                    .with_context(|| format!("cannot write {}", path.display()))?;
                renamed += 1;
            }
        }
        ensure!(renamed > 0, "no file holds {:?}", rename.from);
        Ok(())
    }

    fn read(&self, file: &str) -> Result<String> {
        let own = self.overlay.join(file);
        let path = match &self.base {
            Some(base) if !own.is_file() => base.join(file),
            _ => own,
        };
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    fn write(&mut self, file: &str, text: &str) -> Result<()> {
        let path = self.overlay.join(file);
        let Some(folder) = path.parent() else { bail!("{file:?} is no file name") };
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        self.changed.insert(file.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Case {
        folder: tempfile::TempDir,
    }

    impl Case {
        /// Writes the sources into the folder `src`, and the patch into the folder `patches`.
        fn new(sources: &[(&str, &str)], patch: &str) -> Self {
            let case = Self { folder: tempfile::tempdir().unwrap() };
            for (file, text) in sources {
                let path = case.path("src").join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            fs::create_dir(case.path("patches")).unwrap();
            fs::write(case.path("patches/1.toml"), patch).unwrap();
            case
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn apply(&self) -> Result<Tree> {
            let mut tree = Tree::in_place(&self.path("src"));
            tree.apply_folder(&self.path("patches"))?;
            Ok(tree)
        }

        fn text(&self, file: &str) -> String {
            fs::read_to_string(self.path("src").join(file)).unwrap()
        }

        fn failure(&self) -> String {
            format!("{:#}", self.apply().err().expect("the patch must not apply"))
        }
    }

    #[test]
    fn all_kinds_of_change_apply() {
        let case = Case::new(
            &[("a/A.java", "class A { old x; } // tail }\n"), ("B.java", "one two three old\n")],
            "why = 'test'\n\
             [[rename]]\nfrom = 'old'\nto = 'new'\n\
             [[copy]]\nfile = 'C.java'\nof = 'B.java'\n\
             [[add]]\nfile = 'd/D.java'\ncontent = 'D.java'\n\
             [[edit]]\nfile = 'a/A.java'\nappend = 'int y;'\n\
             [[edit]]\nfile = 'B.java'\nfrom = 'two'\nto = ' new'\nreplace = '2'\n\
             [[edit]]\nfile = 'C.java'\nfind = 'three'\nreplace = '3'\n\
             [[drop]]\nfile = 'B.java'\n",
        );
        fs::write(case.path("patches/D.java"), "class D {}\n").unwrap();
        let tree = case.apply().unwrap();
        assert_eq!(case.text("a/A.java"), "class A { new x; } // tail int y;\n}\n");
        assert_eq!(case.text("B.java"), "one 2 new\n");
        assert_eq!(case.text("C.java"), "one two 3 new\n");
        assert_eq!(case.text("d/D.java"), "class D {}\n");
        assert_eq!(tree.dropped().iter().collect::<Vec<_>>(), ["B.java"]);
        assert_eq!(tree.changed().len(), 4);
    }

    #[test]
    fn a_change_that_does_not_fit_is_an_error_that_names_it() {
        let edit = |rule: &str| format!("why = 'w'\n[[edit]]\nfile = 'A'\n{rule}\n");
        for (rule, expected) in [
            ("find = 'x'\nreplace = ''", "2 times"),
            ("find = 'x'\nreplace = ''\ncount = 3", "2 times"),
            ("find = 'gone'\nreplace = ''", "0 times"),
            ("from = 'gone'\nto = 'x'\nreplace = ''", "gone"),
            ("from = 'b'\nto = 'a'\nreplace = ''", "does not follow"),
            ("append = 'y'", "brace"),
        ] {
            let message = Case::new(&[("A", "a x b x")], &edit(rule)).failure();
            assert!(message.contains(expected) && message.contains("1.toml"), "{rule}: {message}");
        }
        let rename = Case::new(&[("A", "a")], "why = 'w'\n[[rename]]\nfrom = 'zz'\nto = 'y'\n").failure();
        assert!(rename.contains("zz"), "{rename}");
        let silent = Case::new(&[("A", "a")], "why = ' '\n").failure();
        assert!(silent.contains("why"), "{silent}");
        let missing = Case::new(&[("A", "a")], "why = 'w'\n[[drop]]\nfile = 'B'\n").failure();
        assert!(missing.contains('B'), "{missing}");
    }

    #[test]
    fn every_patch_of_the_repository_reads_says_why_and_has_its_new_files() {
        let folder = crate::paths::specs().join("patches");
        let mut patches = 0;
        for file in
            files_below(&folder).unwrap().into_iter().filter(|f| f.extension().is_some_and(|e| e == "toml"))
        {
            let patch: Patch = read_toml(&file).unwrap();
            assert!(patch.why.trim().len() > 20, "{}", file.display());
            for add in &patch.add {
                assert!(file.with_file_name(&add.content).is_file(), "{}: {}", file.display(), add.content);
            }
            patches += 1;
        }
        assert!(patches >= 10, "{patches}");
    }

    #[test]
    fn a_region_may_end_with_the_file() {
        let case = Case::new(
            &[("A", "keep cut this")],
            "why='w'\n[[edit]]\nfile='A'\nfrom='cut'\nto=''\nreplace='.'\n",
        );
        case.apply().unwrap();
        assert_eq!(case.text("A"), "keep .");
    }

    #[test]
    fn an_overlay_leaves_its_base_alone_and_patches_build_on_each_other() {
        let case =
            Case::new(&[("A.java", "class A {}")], "why='w'\n[[edit]]\nfile='A.java'\nappend='int x;'\n");
        fs::write(
            case.path("patches/2.toml"),
            "why='w'\n[[edit]]\nfile='A.java'\nfind='int x'\nreplace='long x'\n",
        )
        .unwrap();
        let mut tree = Tree::over(&case.path("src"), &case.path("out"));
        tree.apply_folder(&case.path("patches")).unwrap();
        assert_eq!(case.text("A.java"), "class A {}");
        assert_eq!(fs::read_to_string(case.path("out/A.java")).unwrap(), "class A {long x;\n}");
    }
}
