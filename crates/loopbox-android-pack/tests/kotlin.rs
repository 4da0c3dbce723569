//! The archive's classes as Kotlin sees them, and the code in the documents in both languages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use loopbox_android_pack::half::{self, Compiled};
use loopbox_android_pack::ktx;
use loopbox_setup::command::{Outcome, run};
use loopbox_setup::files::files_below;
use loopbox_setup::kotlin::Kotlin;
use loopbox_setup::progress::Progress;
use loopbox_setup::tools::Tools;
use loopbox_setup::workspace::root;
use tempfile::tempdir;

/// Compiled once for all tests.
static HALF: LazyLock<Compiled> = LazyLock::new(|| half::compiled().unwrap());

fn kotlin(sources: &[PathBuf], on: &Path) -> Result<Outcome> {
    kotlin_into(tempdir()?.path(), sources, &[on])
}

fn kotlin_into(classes: &Path, sources: &[PathBuf], on: &[&Path]) -> Result<Outcome> {
    let on = on.iter().copied().chain([HALF.android_jar.as_path()]);
    let class_path: Vec<PathBuf> = on.map(Path::to_owned).collect();
    Kotlin::ensure(&Progress::new("kotlin"))?.compile(sources, &class_path, classes)
}

/// Finds the first code block in this language that contains `mark`.
fn code(document: &str, language: &str, mark: &str) -> Result<String> {
    let text = fs::read_to_string(root().join(document))?;
    let blocks = text.split("\n```").filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    let found = blocks.map(str::to_owned).find(|block| block.contains(mark));
    found.with_context(|| format!("{document} has no {language} with {mark}"))
}

/// The documents whose code is compiled, and words that are in that code.
const SHOWN: [(&str, &str); 2] = [("README.md", "class App"), ("docs/integrate.md", "class App")];

#[test]
fn kotlin_may_do_all_that_the_api_says_and_the_documents_show() -> Result<()> {
    let folder = tempdir()?;
    let mut sources = vec![root().join("tests/kotlin/Uses.kt")];
    for (at, (document, mark)) in SHOWN.into_iter().enumerate() {
        let file = folder.path().join(format!("Shown{at}.kt"));
        let imports = "import android.app.Application\nimport android.content.Context\nimport android.util.Log\nimport io.loopbox.*\n";
        let own = "fun upload(file: java.io.File, digest: String) = println(\"$file $digest\")";
        fs::write(
            &file,
            format!("package shown{at}\n{imports}{}\n{own}\n", code(document, "kotlin", mark)?),
        )?;
        sources.push(file);
    }
    for classes in [&HALF.library, &HALF.noop] {
        kotlin(&sources, classes)?.into_text()?;
    }
    Ok(())
}

/// The shown code is compiled together with the archive's sources, against the library and against the
/// archive without effect.
#[test]
fn what_the_documents_show_of_ktx_compiles_with_either_archive() -> Result<()> {
    let folder = tempdir()?;
    let shown = folder.path().join("Shown.kt");
    let imports = "import android.app.Application\nimport android.content.Context\nimport android.util.Log\n\
                   import io.loopbox.ktx.*\nimport kotlinx.coroutines.*\n";
    let own = "fun upload(file: java.io.File, digest: String) = println(\"$file $digest\")";
    let code = code("docs/integrate.md", "kotlin", "class FeedApp")?;
    fs::write(&shown, format!("package shown\n{imports}{code}\n{own}\n"))?;
    let mut sources = files_below(&root().join("jni-glue/ktx/kotlin"))?;
    sources.push(shown);
    let coroutines = ktx::jars()?.swap_remove(0);
    for classes in [&HALF.library, &HALF.noop] {
        kotlin_into(tempdir()?.path(), &sources, &[classes, &coroutines])?.into_text()?;
    }
    Ok(())
}

/// The Kotlin files of the integration `scene` are compiled against the part of Jetpack that they use, which
/// is declared next to them.
#[test]
fn the_links_in_kotlin_compile() -> Result<()> {
    let place = root().join("jni-glue/integrations/scene");
    let declared = tempdir()?;
    kotlin_into(declared.path(), &files_below(&place.join("declarations"))?, &[])?.into_text()?;
    let sources = files_below(&place.join("kotlin"))?;
    ensure!(sources.len() == 2, "{sources:?}");
    kotlin_into(tempdir()?.path(), &sources, &[&HALF.library, declared.path()])?.into_text()?;
    Ok(())
}

#[test]
fn kotlin_refuses_what_the_annotations_forbid_and_nothing_else() -> Result<()> {
    let source = root().join("tests/kotlin/Refused.kt");
    let outcome = kotlin(std::slice::from_ref(&source), &HALF.library)?;
    ensure!(!outcome.status.success(), "the compiler refuses nothing");
    let text = fs::read_to_string(&source)?;
    let numbered = || text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let wanted: BTreeMap<usize, &str> =
        numbered().skip(3).filter_map(|(at, line)| Some((at, line.split_once(" // ")?.1))).collect();
    ensure!(!wanted.is_empty(), "no line is to be refused");
    let mut found: BTreeMap<usize, String> = BTreeMap::new();
    for line in outcome.errors.lines().chain(outcome.text.lines()) {
        let Some((place, error)) = line.split_once(": error: ") else { continue };
        let at = place.rsplit(':').nth(1).context("a line")?.parse()?;
        found.entry(at).or_default().push_str(error);
    }
    assert!(found.keys().eq(wanted.keys()), "refused: {found:#?}, not: {wanted:#?}");
    let other = wanted.iter().filter(|(at, words)| !found[at].contains(**words));
    let other: Vec<String> =
        other.map(|(at, words)| format!("line {at}: {}, not {words}", found[at])).collect();
    assert!(other.is_empty(), "{}", other.join("\n"));
    Ok(())
}

#[test]
fn the_java_that_the_documents_show_compiles() -> Result<()> {
    let (tools, compiled) = (Tools::ensure()?, &HALF);
    for (document, mark) in SHOWN {
        let folder = tempdir()?;
        let shown = code(document, "java", mark)?;
        let (shown, _) = shown.rsplit_once('}').context("a class")?;
        let imports = "import android.app.Application;\nimport android.content.Context;\nimport android.util.Log;\nimport io.loopbox.*;\n";
        let own = "private static void upload(java.io.File file, String digest) {}\n}\n";
        fs::write(folder.path().join("App.java"), format!("{imports}{shown}{own}"))?;
        let mut javac = tools.javac();
        javac.args(["-source", "8", "-target", "8", "-nowarn", "-Xlint:-options", "-bootclasspath"]);
        javac.arg(&compiled.android_jar).arg("-classpath").arg(&compiled.library);
        javac.arg("-d").arg(folder.path());
        run(javac.arg(folder.path().join("App.java"))).with_context(|| document.to_owned())?;
    }
    Ok(())
}
