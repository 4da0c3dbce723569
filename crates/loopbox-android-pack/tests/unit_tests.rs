//! The Java half in the unit tests of an app: on a JVM, with the SDK's `android.jar`, in which everything
//! throws.

use anyhow::{Context, Result, ensure};
use loopbox_android_pack::half;
use loopbox_setup::command::{path_list, run};
use loopbox_setup::tools::Tools;
use loopbox_setup::workspace::root;
use tempfile::tempdir;

#[test]
fn no_method_throws_and_the_status_says_why_nothing_is_recorded() -> Result<()> {
    let half = half::compiled()?;
    let folder = tempdir()?;
    let tools = Tools::ensure()?;
    let cases =
        [(&half.library, "java.lang.RuntimeException: Stub!"), (&half.noop, "loopbox-noop records nothing")];
    for (classes, why) in cases {
        let on = path_list(&[folder.path().to_owned(), classes.clone(), half.android_jar.clone()]);
        let mut javac = tools.javac();
        javac.args(["-nowarn", "-Xlint:-options", "-cp", &on, "-d"]).arg(folder.path());
        run(javac.arg(root().join("tests/jvm/Calls.java")))?;
        let mut app = tools.java();
        app.arg(format!("-Djava.io.tmpdir={}", folder.path().display())).args(["-cp", &on, "Calls"]);
        let said = run(&mut app)?;
        let of = |what: &str| said.lines().filter_map(|line| line.strip_prefix(what)).collect::<Vec<_>>();
        assert_eq!(of("throws "), [""; 0], "{said}");
        let calls: u32 = of("calls ").first().context("no calls")?.parse()?;
        ensure!(calls > 100, "only {calls} calls");
        assert_eq!(of("install "), [why, why]);
        assert_eq!(of("status "), [format!("false {why}")]);
    }
    Ok(())
}
