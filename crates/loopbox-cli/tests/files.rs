//! Which files are read and written, whatever their names and however the command is interrupted.

mod support;

use loopbox_format::report::encode;
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Stdio};
use support::{Files, loopbox, shop, shop_bytes};

/// The names in a folder.
fn names(files: &Files) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(files.dir()).unwrap().map(name).collect();
    names.sort();
    names
}

fn fifo(path: &str) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn no_command_writes_over_the_report_that_it_reads() {
    let files = Files::new();
    let report = files.bytes("r.lbx", &shop_bytes());
    let (link, hard) = (files.path("link.lbx"), files.path("hard.lbx"));
    symlink(report, link).unwrap();
    fs::hard_link(report, hard).unwrap();
    let mapping = files.bytes("mapping.txt", b"com.example.shop.Cart -> a.b:\n");
    for command in [
        &["report"][..],
        &["flame"],
        &["export", "-f", "json"],
        &["export", "-f", "tree-text"],
        &["export", "-f", "parquet"],
        &["cluster"],
        &["retrace", "--mapping", mapping],
    ] {
        for output in [report, link, hard] {
            let run = loopbox(&[command, &[report, "-o", output]].concat());
            assert_eq!(run.code, 1, "{command:?}: {}", run.stderr);
            assert!(run.stderr.contains("this would overwrite a report"), "{}", run.stderr);
            assert_eq!(fs::read(report).unwrap(), shop_bytes(), "{command:?} to {output}");
        }
    }
    let ring = files.ring().to_str().unwrap().to_owned();
    let before = fs::read(&ring).unwrap();
    assert_eq!(loopbox(&["recover", &ring, "-o", &ring]).code, 1);
    assert_eq!(fs::read(&ring).unwrap(), before);
    // Nor over one that is read because it is in the folder.
    let folder = files.dir().to_str().unwrap();
    let run = loopbox(&["export", "-f", "parquet", folder, "-o", report]);
    assert!(run.code == 1 && run.stderr.contains("this would overwrite"), "{}", run.stderr);
    assert_eq!(fs::read(report).unwrap(), shop_bytes());
    assert_eq!(loopbox(&["cluster", folder, "-o", files.path("groups.txt")]).code, 0);
}

#[test]
fn an_output_is_replaced_as_a_whole_and_a_link_or_a_device_stays_what_it_is() {
    let files = Files::new();
    let report = files.report("r.lbx");
    let page = files.bytes("page.html", b"the last one");
    let link = files.path("link.html");
    symlink(page, link).unwrap();
    assert_eq!(loopbox(&["report", report, "-o", link]).code, 0);
    assert!(fs::symlink_metadata(link).unwrap().is_symlink());
    assert!(fs::read_to_string(page).unwrap().starts_with("<!doctype html>"));
    assert_eq!(loopbox(&["report", report, "-o", "/dev/null"]).code, 0);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    // What cannot be made leaves the file as it was, and nothing next to it.
    let before = fs::read(page).unwrap();
    assert_eq!(loopbox(&["flame", "--token", "9999", report, "-o", page]).code, 1);
    assert_eq!(fs::read(page).unwrap(), before);
    assert_eq!(names(&files), ["link.html", "page.html", "r.lbx"]);
}

#[test]
fn an_interrupted_export_leaves_nothing_behind() {
    let files = Files::new();
    let pipe = files.path("endless.lbx");
    fifo(pipe);
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopbox"));
    command.args(["export", "-f", "parquet", pipe, "-o", files.path("table.parquet")]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    // Opening the pipe waits until the command has come to reading it.
    let _pipe = fs::File::options().write(true).open(pipe).unwrap();
    assert_eq!(names(&files).len(), 2, "the unfinished table is there: {:?}", names(&files));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names(&files), ["endless.lbx"]);
}

#[test]
fn a_folder_is_searched_for_reports_and_nothing_in_it_is_waited_for() {
    let files = Files::new();
    files.report("one.lbx");
    files.report("TWO.LBX");
    fifo(files.path("pipe.lbx"));
    fs::copy(files.ring(), files.path("left.lbr")).unwrap();
    let folder = files.dir().to_str().unwrap();
    let run = loopbox(&["cluster", folder]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("2 reports"), "{}", run.stdout);
    let rings = names(&files).iter().filter(|name| name.contains(".lbr")).count();
    assert!(run.stderr.contains(&format!("are not read, {rings} found")), "{}", run.stderr);
    // One that is named is read.
    let run = loopbox(&["cluster", files.path("left.lbr")]);
    assert!(run.stdout.starts_with("1 report "), "{}", run.stdout);
}

#[test]
fn a_number_of_threads_that_no_machine_has_is_refused() {
    let files = Files::new();
    let report = files.report("r.lbx");
    let run = loopbox(&["cluster", report, "--jobs", "100000"]);
    assert_eq!(run.code, 64, "{}", run.stderr);
    assert_eq!(loopbox(&["cluster", report, "--jobs", "64"]).code, 0);
}

#[test]
fn names_of_files_and_methods_do_not_reach_the_terminal_as_commands() {
    let files = Files::new();
    let report = shop().with(|r| r.symbols.methods.iter_mut().for_each(|m| m.name += "\u{1b}[2J")).build();
    let bytes = encode(&report.report).unwrap();
    let evil = files.bytes("\u{1b}[31mevil.lbx", &bytes);
    let damaged = files.damaged("\u{1b}]0;x\u{7}.lbx");
    let folder = files.dir().to_str().unwrap();
    for args in [
        &["check", evil, damaged][..],
        &["show", damaged],
        &["cluster", folder],
        &["export", "-f", "tree-text", evil],
        &["show", files.path("\u{1b}[2Jnone.lbx")],
    ] {
        let run = loopbox(args);
        assert!(!(run.stdout + &run.stderr).contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn a_report_is_read_as_it_comes_out_of_mail_and_trackers() {
    let files = Files::new();
    let report = files.report("r.lbx");
    let shown = loopbox(&["show", report]).stdout;
    assert_eq!(loopbox(&[report]).stdout, shown, "a file needs no command");
    let output = |program: &str, args: &[&str]| Command::new(program).args(args).output().unwrap().stdout;
    let gz = output("gzip", &["-c", report]);
    let text = output("base64", &[report]);
    let archive = fs::read(files.zip("r.zip", &["notes.txt", "attachments/R.LBX"])).unwrap();
    for (name, bytes) in [("r.gz", &gz), ("r.txt", &text), ("any", &archive)] {
        let run = loopbox(&["show", files.bytes(name, bytes)]);
        assert_eq!((run.code, run.stdout.as_str()), (0, shown.as_str()), "{name}: {}", run.stderr);
    }
    for args in [&["show", "-"][..], &["-"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loopbox"));
        let out = command.args(args).stdin(fs::File::open(files.path("r.gz")).unwrap()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stdout), shown, "{args:?}");
    }
    let page = loopbox(&["report", report, "-o", "-"]).stdout;
    assert!(page.starts_with("<!doctype html>"));
    assert_eq!(loopbox(&["shwo"]).code, 64, "what is neither a command nor a file is a wrong command");
}

#[test]
fn what_is_packed_is_not_unpacked_without_end() {
    let files = Files::new();
    let bomb = "head -c 200000000 /dev/zero | gzip -1";
    let bomb = Command::new("sh").args(["-c", bomb]).output().unwrap().stdout;
    let run = loopbox(&["show", files.bytes("bomb.lbx", &bomb)]);
    assert!(run.code == 1 && run.stderr.contains("larger than a report can be"), "{}", run.stderr);
}

/// What a command shows in its pager, on a terminal.
fn paged(report: &str, environment: &str) -> String {
    let command =
        format!("{environment} LOOPBOX_PAGER='tee' {} show {report}", env!("CARGO_BIN_EXE_loopbox"));
    let mut terminal = Command::new("script");
    let out = terminal.args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output();
    String::from_utf8_lossy(&out.expect("script runs").stdout).into_owned()
}

#[test]
fn a_terminal_without_colours_has_none_in_the_pager_either() {
    let files = Files::new();
    let report = files.report("r.lbx");
    assert!(paged(report, "env -u NO_COLOR TERM=xterm").contains("\u{1b}["));
    for environment in ["NO_COLOR=1 TERM=xterm", "env -u NO_COLOR TERM=dumb"] {
        let text = paged(report, environment);
        assert!(text.contains("HISTORY") && !text.contains("\u{1b}["), "{environment}: {text}");
    }
}
