//! `cargo xtask demo` shows people the main use case once: an app hangs, a report is written, and the command
//! reads it.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lab_launch::{Build, Launcher, wait_for_report};
use loopbox_setup::workspace::{cargo, root, run};

/// How long the last message hangs before the signal, which the system sends at an ANR.
const HANG: Duration = Duration::from_secs(2);
/// How long the demo waits for one step of the app. Nothing takes that long by design, but a loaded machine
/// may be slow.
const LIMIT: Duration = Duration::from_mins(2);

pub(crate) fn demo() -> Result<()> {
    let launcher = Launcher::new("art10", Build::Dev)?;
    let folder = root().join("target/demo");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot clear target/demo")?;
    }
    fs::create_dir_all(&folder).context("cannot create target/demo")?;
    println!(
        "An app runs on a real Android Runtime {} with a real main Looper…",
        launcher.testbed.manifest.art
    );
    let mut app = launcher.app("scenario.Demo").argument(format!("dir={}", folder.display())).start()?;
    app.wait_for("SCRIPT hang", LIMIT)?;
    println!("…and posts a message that never returns. {} seconds later comes SIGQUIT.", HANG.as_secs());
    std::thread::sleep(HANG);
    let signalled = Instant::now();
    app.signal("QUIT")?;
    let report = wait_for_report(&folder, LIMIT)?;
    println!("The report was there after {} ms:\n", signalled.elapsed().as_millis());
    app.kill();
    let shown = report.strip_prefix(root()).unwrap_or(&report);
    println!("$ loopbox show {}\n", shown.display());
    run(cargo().args(["run", "--quiet", "--locked", "--package", "loopbox-cli", "--", "show"]).arg(&report))?;
    println!("\nThe report is {}", shown.display());
    Ok(())
}
