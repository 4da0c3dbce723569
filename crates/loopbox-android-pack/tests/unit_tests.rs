//! The Java half in unit tests of an app: on a JVM, with the SDK's `android.jar`, whose methods all throw.

use anyhow::{Context, Result, ensure};
use loopbox_android_pack::half;
use loopbox_setup::command::{path_list, run};
use loopbox_setup::tools::Tools;
use loopbox_setup::workspace::root;
use std::path::Path;
use tempfile::tempdir;

/// Compiles a test of `tests/jvm` and runs it; returns what it prints.
fn run_test(name: &str, classes: &Path, android_jar: &Path) -> Result<String> {
    let folder = tempdir()?;
    let tools = Tools::ensure()?;
    let on = path_list([folder.path(), classes, android_jar]);
    let mut javac = tools.javac();
    javac.args(["-nowarn", "-Xlint:-options", "-cp", &on, "-d"]).arg(folder.path());
    run(javac.arg(root().join(format!("tests/jvm/{name}.java"))))?;
    let mut app = tools.java();
    run(app.arg(format!("-Djava.io.tmpdir={}", folder.path().display())).args(["-cp", &on, name]))
}

#[test]
fn no_method_throws_and_the_status_says_why_nothing_is_recorded() -> Result<()> {
    let half = half::compiled()?;
    let cases =
        [(&half.library, "java.lang.RuntimeException: Stub!"), (&half.noop, "loopbox-noop records nothing")];
    for (classes, why) in cases {
        let said = run_test("Calls", classes, &half.android_jar)?;
        let of = |what: &str| said.lines().filter_map(|line| line.strip_prefix(what)).collect::<Vec<_>>();
        assert_eq!(of("throws "), [""; 0], "{said}");
        let calls: u32 = of("calls ").first().context("no calls")?.parse()?;
        ensure!(calls > 100, "only {calls} calls");
        assert_eq!(of("install "), [why, why]);
        assert_eq!(of("status "), [format!("false {why}")]);
    }
    Ok(())
}

#[test]
fn a_callback_that_throws_does_not_end_the_app() -> Result<()> {
    let half = half::compiled()?;
    for classes in [&half.library, &half.noop] {
        let said = run_test("Throwing", classes, &half.android_jar)?;
        assert_eq!(said, "dumped null\ndone\n");
    }
    Ok(())
}

/// The first bits of the hash that the test prints must never change: otherwise users would move between the
/// groups.
#[test]
fn user_share_has_the_same_users_for_ever_and_more_of_them_when_it_grows() -> Result<()> {
    const USERS: f64 = 100_000.0;
    let half = half::compiled()?;
    let said = run_test("Shares", &half.library, &half.android_jar)?;
    let line = |what: &str| said.lines().find_map(|line| line.strip_prefix(what)).context(what.to_owned());
    assert_eq!(line("first ")?, "1101010100011110000011010110001110001010010111011000110011011001");
    // Four times what chance alone makes of it.
    let ensure_near = |share: f64, found: &str| {
        let found: f64 = found.parse()?;
        let off = (found - share * USERS).abs();
        ensure!(off <= 4.0 * (share * (1.0 - share) * USERS).sqrt(), "{found} of a share of {share}");
        Ok(())
    };
    let shares: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("share ")).collect();
    assert_eq!(shares.len(), 7, "{said}");
    for share in shares {
        let (share, found) = share.split_once(' ').context("no number")?;
        ensure_near(share.parse()?, found)?;
    }
    assert_eq!(line("lost ")?, "0");
    ensure_near(0.1 * 0.1, line("both ")?)?;
    assert_eq!((line("again ")?, line("all ")?), ("true true", "true"));
    let reasons: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("reason ")).collect();
    let wanted = [
        "not among the 10 % of users that userShare wants",
        "no user id, and only 10 % of users that userShare wants",
    ];
    assert_eq!(reasons, wanted);
    let refused = said.lines().filter(|line| line.starts_with("refused userShare is "));
    assert_eq!((refused.count(), said.contains("not refused")), (3, false), "{said}");
    Ok(())
}

#[test]
fn an_annotation_that_is_given_again_takes_no_other_place() -> Result<()> {
    let half = half::compiled()?;
    let said = run_test("Annotated", &half.library, &half.android_jar)?;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "built true");
    ensure!(lines[1].starts_with("refused number of annotations"), "{said}");
    Ok(())
}

#[test]
fn logger_of_the_app_takes_lines_and_faults_on_a_thread_that_nobody_waits_for() -> Result<()> {
    let half = half::compiled()?;
    let said = run_test("Logs", &half.library, &half.android_jar)?;
    let refused = |name: &str| {
        format!("5 loopbox-log: an annotation is not kept, \"{name}\": the recorder itself says it")
    };
    let fault = "fault 6 loopbox-log: a fault that is kept from the app (Stub!)";
    let wanted = [
        "installed 5 loopbox-log: not installed (Stub!)".to_owned(),
        fault.to_owned(),
        format!("thrown {}", refused("system_start")),
        format!("after {}", refused("foreground")),
        format!("itself {}", refused("system_start")),
        format!("held {}", refused("foreground")),
        "flood 64 5 loopbox-log: 36 lines are left out".to_owned(),
        fault.to_owned(),
        "again 5 loopbox-log: not installed (Stub!)".to_owned(),
        "left 0".to_owned(),
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
    Ok(())
}
