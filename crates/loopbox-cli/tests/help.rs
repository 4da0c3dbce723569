//! `loopbox help`, `completions` and `man` as a user runs them, and as shells and `man` read their output.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::{Files, loopbox};

#[test]
fn completions_and_man_pages_have_every_command() {
    let script = loopbox(&["completions", "bash"]).stdout;
    let files = Files::new();
    let folder = files.path("man");
    assert_eq!(loopbox(&["man", "-o", folder]).code, 0);
    for command in ["show", "diagnose", "report", "flame", "export", "retrace", "cluster", "check", "recover"]
    {
        assert!(script.contains(&format!("loopbox__subcmd__{command}")), "{command} in {script}");
        let page = fs::read_to_string(format!("{folder}/man1/loopbox-{command}.1")).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(loopbox(&["man"]).stdout.contains("Exit codes"));
    for shell in ["zsh", "fish"] {
        assert!(loopbox(&["completions", shell]).stdout.contains("diagnose"));
    }
}

/// The names of the pages that are in the command.
fn documents() -> Vec<String> {
    let folder = fs::read_dir(std::env::current_dir().unwrap().join("docs")).unwrap();
    let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    folder.map(|entry| stem(&entry.unwrap().path())).collect()
}

#[test]
fn help_has_every_document_and_command() {
    let overview = loopbox(&["help"]).stdout;
    let documents = documents();
    assert!(documents.len() > 10, "{documents:?}");
    for name in &documents {
        assert!(overview.contains(&format!("  {name} ")), "{name} in {overview}");
        let run = loopbox(&["help", name]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{name}");
        let text = fs::read_to_string(format!("docs/{name}.md")).unwrap();
        // Every word of the page is there; spans of code keep their text.
        let title = text.lines().next().unwrap().trim_start_matches("# ").replace('`', "");
        assert!(run.stdout.starts_with(&title.to_uppercase()), "{}", run.stdout);
        let section = text.lines().filter_map(|line| line.strip_prefix("## ")).next_back();
        let section = section.map(|section| section.replace('`', "")).unwrap_or_default();
        assert!(run.stdout.contains(&section), "{section} in {}", run.stdout);
    }
    let of_show = loopbox(&["help", "show"]).stdout;
    assert!(of_show.contains("Usage: loopbox show [OPTIONS] <FILE>"), "{of_show}");
    let wrong = loopbox(&["help", "diagnosys"]);
    assert_eq!(wrong.code, 64);
    assert!(wrong.stderr.contains("a similar value exists: 'diagnosis'"), "{}", wrong.stderr);
}

/// The warnings of groff about a page, and its output.
fn groff(page: &str) -> (String, String) {
    let out = Command::new("groff").args(["-k", "-t", "-man", "-Tutf8", "-ww", "-P-cbou", page]).output();
    let out = out.expect("groff is missing: apt-get install groff-base");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // Lines are filled with spaces.
    let page = text(&out.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    (text(&out.stderr), page)
}

#[test]
fn manual_pages_of_the_documents_are_set_without_a_complaint() {
    let files = Files::new();
    let folder = files.path("man");
    assert_eq!(loopbox(&["man", "-o", folder]).code, 0);
    for name in documents() {
        let (complaints, page) = groff(&format!("{folder}/man7/loopbox-{name}.7"));
        // Long words of a table may stick out; all else would be a fault of the page. groff reports that in
        // two lines.
        let sticks_out = |line: &&str| {
            let parts = [
                "can't break line",
                "adjust line",
                "wider than line width",
                "around line",
                "fit on one page",
            ];
            parts.iter().any(|part| line.contains(part))
        };
        let complaints: Vec<&str> = complaints.lines().filter(|line| !sticks_out(line)).collect();
        assert!(complaints.is_empty(), "{name}: {complaints:#?}");
        assert!(page.contains("NAME") && page.contains(&format!("loopbox-{name} - ")), "{name}: {page}");
    }
    let (_, diagnosis) = groff(&format!("{folder}/man7/loopbox-diagnosis.7"));
    assert!(diagnosis.contains("age of the running message") && diagnosis.contains("0.88"), "{diagnosis}");
}

#[test]
fn bash_completes_commands_options_and_documents() {
    let files = Files::new();
    let script = files.bytes("loopbox.bash", loopbox(&["completions", "bash"]).stdout.as_bytes());
    let complete = |words: &str| {
        // What readline does when Tab is pressed after the last word.
        let shell = format!(
            "source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             f=$(complete -p loopbox | sed 's/.*-F \\([^ ]*\\).*/\\1/'); \
             $f loopbox \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let out = Command::new("bash").args(["--norc", "-c", &shell]).output().expect("bash runs");
        assert!(out.stderr.is_empty(), "{words}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("loopbox diag"), "diagnose");
    assert_eq!(complete("loopbox show --ju"), "");
    assert_eq!(complete("loopbox show --js"), "--json");
    assert_eq!(complete("loopbox help blind"), "blind-spots");
}
