#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod app;
mod art;
mod frames;
mod hook;
mod killed;
mod phone;
mod sigquit;
mod stage;
mod summary;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use lab_launch::scripted_apps;
use loopbox_adb::{Adb, choose};
use loopbox_android_pack as android;
use loopbox_setup::progress::Progress;
use loopbox_testbed as testbed;

use stage::Stage;

pub use phone::{About, Phone};
pub use stage::Options;
pub use summary::{COLUMNS, Summary};

/// The testbed whose classes the apps are compiled against. The apps use only what every Android since 5 has.
const COMPILED_ON: &str = "art10";

/// Runs everything on a device. Reports and output go into folders below `out`, and a summary of the results
/// into `out/summary.md`.
///
/// # Errors
/// When no device can be used, or nothing can be put on it. What a scenario finds wrong is in the summary.
pub fn run(adb: &Adb, options: &Options, out: &Path) -> Result<Summary> {
    let progress = Progress::new("phone");
    let devices = adb.devices()?;
    let device = choose(&devices, options.serial.as_deref())?;
    let phone = Phone::of(adb, &device.serial, &options.folder)?;
    let about = phone.about()?;
    progress.say(format!("{}, Android {} (API level {})", about.name, about.release, about.api_level));
    let library = match &options.library {
        Some(file) => file.clone(),
        None => android::ensure(about.abi)?.file,
    };
    let apps = scripted_apps(&testbed::ensure(COMPILED_ON)?)?;
    phone.prepare(&library, &apps)?;

    let stage = Stage { phone: &phone, about: &about, options, out };
    let mut summary = Summary::new(about.clone());
    progress.say("the library that is ART");
    summary.art(art::read(&stage));
    progress.say("stacks of code of every kind");
    summary.frames(frames::play(&stage, &apps));
    progress.say("a signal as the system sends it");
    summary.sigquit(sigquit::play(&stage));
    progress.say("a kill, and the next launch");
    summary.killed(killed::play(&stage));
    progress.say("what the hook costs");
    summary.hook(hook::play(&stage));
    phone.remove()?;

    let file = out.join("summary.md");
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    fs::write(&file, summary.text()).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(summary)
}
