//! `cargo xtask phone`: runs the shipped library and the scripted apps on any phone that adb knows.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lab_phone::Options;
use loopbox_adb::Adb;
use loopbox_setup::workspace::target;

use crate::suite::steps::shown;

/// Run everything on a phone, through adb, and write down what was seen.
///
/// The phone needs Android 7 or newer and USB debugging; it is not rooted, and no app is installed. The
/// shipped library and the scripted apps go into /data/local/tmp/loopbox, where `app_process` runs them;
/// the folder is removed at the end. What was seen is in target/phone/summary.md, with the line for the table
/// of phones in docs/compatibility.md. The reports are in the same folder.
#[derive(Debug, Args)]
pub(crate) struct PhoneArgs {
    /// Which device, when there are several
    #[arg(long)]
    serial: Option<String>,
    /// A libloopbox.so for the phone's ABI; without it, the shipped one is built and used
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Milliseconds for each kind of code that is sampled
    #[arg(long, default_value_t = Options::default().phase_ms)]
    phase_ms: u32,
}

pub(crate) fn run(args: PhoneArgs) -> Result<()> {
    let out = target().join("phone");
    if out.exists() {
        std::fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    let PhoneArgs { serial, library, phase_ms } = args;
    let options = Options { serial, library, phase_ms, ..Options::default() };
    let summary = lab_phone::run(&Adb::from_env(), &options, &out)?;
    println!("{}\n\nReports and what was seen: {}", summary.line(), shown(&out));
    let faults = summary.faults();
    ensure!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    Ok(())
}
