//! Third-party tools that check what the command writes, set up below `target/` on first use.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where this crate's test tools live.
fn sources() -> PathBuf {
    std::env::current_dir().unwrap().join("tests/tools")
}

/// Runs `set_up` unless it succeeded for the same `inputs` before. Test processes wait for each other.
fn ready(name: &str, inputs: &str, set_up: impl FnOnce(&Path)) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder below target");
    let lock = File::create(folder.join("lock")).expect("a lock file");
    lock.lock().expect("the lock");
    let done = folder.join("done");
    if fs::read_to_string(&done).is_ok_and(|text| text == inputs) {
        return folder;
    }
    let _ = fs::remove_file(&done);
    set_up(&folder);
    fs::write(done, inputs).expect("a mark");
    folder
}

fn run(command: &mut Command) -> String {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(out.status.success(), "{command:?}: {}{}", text(&out.stdout), text(&out.stderr));
    text(&out.stdout)
}

/// Runs one of the scripts in `tests/tools` with the packages of its `requirements.txt`.
pub(crate) fn python(script: &str, args: &[&str]) -> String {
    python_with("requirements.txt", script, args)
}

/// [`python`] for a script that runs `loopbox`.
pub(crate) fn python_with_loopbox(script: &str, args: &[&str]) -> String {
    let mut command = interpreter("requirements.txt");
    run(finds_loopbox(command.arg(sources().join(script)).args(args)))
}

/// Makes a command find `loopbox` by its name.
pub(crate) fn finds_loopbox(command: &mut Command) -> &mut Command {
    let mut path =
        Path::new(env!("CARGO_BIN_EXE_loopbox")).parent().expect("a folder").as_os_str().to_owned();
    if let Some(others) = std::env::var_os("PATH") {
        path.push(":");
        path.push(others);
    }
    command.env("PATH", path)
}

/// [`python`] with the packages of another list, which are installed in a separate folder.
pub(crate) fn python_with(requirements: &str, script: &str, args: &[&str]) -> String {
    run(interpreter(requirements).arg(sources().join(script)).args(args))
}

/// A command that runs Python with these packages, which are installed on first use.
fn interpreter(requirements: &str) -> Command {
    let name = requirements.trim_start_matches("requirements").trim_end_matches(".txt");
    let requirements = sources().join(requirements);
    let inputs = fs::read_to_string(&requirements).expect("the requirements");
    let folder = ready(&format!("cli-python{name}"), &inputs, |folder| {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")));
        run(Command::new(folder.join("venv/bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check", "--requirement"])
            .arg(&requirements));
    });
    Command::new(folder.join("venv/bin/python"))
}

/// A file of a package of the npm registry.
pub(crate) fn npm_file(package: &str, version: &str, file: &str) -> PathBuf {
    let folder = ready(&format!("cli-npm-{package}"), version, |folder| {
        run(Command::new("npm")
            .args(["install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"])
            .arg(folder)
            .arg(format!("{package}@{version}")));
    });
    folder.join("node_modules").join(package).join(file)
}
