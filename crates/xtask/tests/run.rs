//! Tests `cargo xtask run` by its command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lab_launch::KEPT;
use loopbox_setup::warm_jvm::VARIABLE;
use loopbox_setup::workspace::root;

fn run(arguments: &[&str]) -> Output {
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
    // As a user runs it: not with what a run of all tests has prepared for its programs.
    xtask.env_remove(VARIABLE).env_remove(KEPT);
    xtask.current_dir(root()).arg("run").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn source(folder: &Path, name: &str, body: &str) -> PathBuf {
    let file = folder.join(format!("{name}.java"));
    std::fs::write(&file, format!("public class {name} {{ {body} }}")).unwrap();
    file
}

#[test]
fn the_example_of_the_docs_leaves_a_report_with_a_verdict() {
    let docs = std::fs::read_to_string(root().join("docs/testing.md")).unwrap();
    let command = "cargo xtask run art10 docs/examples/SlowCheckout.java";
    assert!(docs.contains(command), "docs/testing.md has another example");
    let output = run(&command.split(' ').skip(3).collect::<Vec<_>>());
    let (stdout, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{errors}");
    let lines: Vec<_> = stdout.lines().collect();
    // What the recorder reports to the listener and what the app prints then come from two threads.
    assert!(lines.contains(&"paid") && lines.contains(&"noticed: hang"), "{stdout}");
    let is_report =
        |line: &&str| root().join(line).is_file() && Path::new(line).extension() == Some("lbx".as_ref());
    let at = lines.iter().position(is_report).expect("a report");
    assert_eq!(lines[at + 1], "  reason:  a message took too long", "{stdout}");
    // Which one is the diagnosis' business: on a machine as busy as this one may be, it is not always the
    // lock.
    let verdict = lines[at + 2].strip_prefix("  verdict: ").expect("a verdict");
    assert!(verdict.ends_with(" confidence)"), "{stdout}");
}

#[test]
fn output_exit_code_variables_and_arguments_go_through() {
    let folder = tempfile::tempdir().unwrap();
    let body = "public static void main(String[] arguments) {
        System.out.println(System.getenv(\"WHAT\") + \" \" + arguments.length + \" \" + arguments[1]);
        System.err.println(\"to the other output\");
        System.exit(7);
    }
    static class Other { public static void main(String[] arguments) { System.exit(8); } }";
    let file = source(folder.path(), "Passes", body).display().to_string();
    let output = run(&["art10", &file, "--main", "Passes", "--env", "WHAT=a=b", "--", "--main", "two words"]);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    assert_eq!(stdout.lines().next(), Some("a=b 2 two words"), "{stdout}");
    assert!(
        stdout.lines().nth(1).is_some_and(|line| line.starts_with("no report in target/run/")),
        "{stdout}"
    );
    assert!(text(&output.stderr).contains("to the other output"));

    let output = run(&["art10", &file, "--main", "Passes$Other"]);
    assert_eq!(output.status.code(), Some(8), "{}", text(&output.stderr));
    let body = "public static void main(String[] arguments) throws Exception {
        android.system.Os.kill(android.os.Process.myPid(), 9);
        Thread.sleep(60_000);
    }";
    let killed = source(folder.path(), "Killed", body).display().to_string();
    assert_eq!(run(&["art10", &killed]).status.code(), Some(128 + 9), "as a shell reports it");
    let output = run(&["art10", &file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("Passes and Passes$Other have a main"), "{}", text(&output.stderr));
}

#[test]
fn what_cannot_run_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("Absent.java").display().to_string();
    let output = run(&["art10", &absent]);
    assert!(text(&output.stderr).contains(&format!("there is no file {absent}")), "{}", text(&output.stderr));

    let none = source(folder.path(), "NoMain", "int x;").display().to_string();
    let errors = text(&run(&["art10", &none]).stderr);
    assert!(errors.contains("no class has a `public static void main(String[])`"), "{errors}");

    let body = "public static void main(String[] arguments) { int x = \"text\"; }";
    let wrong = source(folder.path(), "Wrong", body).display().to_string();
    let output = run(&["art10", &wrong]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    // As javac prints it, from the start of the line.
    assert!(errors.contains(&format!("\n{wrong}:1: error: incompatible types")), "{errors}");
}

#[test]
fn the_shipped_library_runs_too() {
    let folder = tempfile::tempdir().unwrap();
    let body = "public static void main(String[] arguments) throws Exception {
        android.os.Looper.prepareMainLooper();
        java.io.File reports = new java.io.File(System.getProperty(\"java.io.tmpdir\"));
        io.loopbox.Loopbox.install(new io.loopbox.Config.Builder(reports).build());
        System.out.println(System.getProperty(\"java.library.path\"));
        Thread asks = new Thread() {
            @Override public void run() { io.loopbox.Loopbox.dump(\"on purpose\"); }
        };
        asks.start();
        asks.join();
        System.exit(0);
    }";
    let file = source(folder.path(), "Ships", body).display().to_string();
    for (shipped, reason) in [(false, "debug"), (true, "android")] {
        let mut arguments = vec!["art10", &file];
        if shipped {
            arguments.push("--shipped");
        }
        let output = run(&arguments);
        let stdout = text(&output.stdout);
        assert!(output.status.success(), "{stdout}\n{}", text(&output.stderr));
        assert!(stdout.lines().next().is_some_and(|path| path.contains(reason)), "{stdout}");
        assert!(stdout.contains("  reason:  the app asked for it: on purpose\n"), "{stdout}");
    }
}
