//! `cargo xtask bionic`: runs the shipped library on the C libraries of devices, without a phone.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use lab_bionic::device::{Row, play, table};
use lab_bionic::{machine, retail};
use loopbox_android_pack::device::Device;
use loopbox_android_pack::{Abi, ensure};
use loopbox_setup::workspace::target;

/// The environment variable that can also name the folder.
const FOLDER: &str = "LOOPBOX_ANDROID_LIBS";

/// Run the shipped library on the C libraries of devices: load, install, messages, SIGQUIT, hang, kill,
/// crash.
///
/// A folder is laid out like a device's root: its `/system/bin/linker*`, `/system/lib*` and, from Android 10
/// on, `/apex/com.android.runtime`, as `adb pull` gives them or an image has them. For each folder and ABI,
/// the files are copied to a folder below target/bionic. The tests run with that copy as their root directory
/// (chroot). Only root may do that; with --machine, root is not needed. arm and arm64 are emulated by
/// qemu-user-static. The result has one row for each folder and ABI.
#[derive(Debug, Args)]
pub(crate) struct BionicArgs {
    /// A device's folder as described above, or a folder of several; by default LOOPBOX_ANDROID_LIBS
    folder: Option<PathBuf>,
    /// Only this ABI; may be given several times
    #[arg(long)]
    abi: Vec<Abi>,
    /// A folder with libraries that were built before, one folder for each ABI, as target/android/jni has
    /// them
    #[arg(long, value_name = "FOLDER")]
    jni: Option<PathBuf>,
    /// Run the scripted demo instead of the test driver, on the runtime in the folder; only for Android 5
    /// and armeabi-v7a
    #[arg(long, conflicts_with = "abi")]
    runtime: bool,
    /// Run the arm64 library on the testbed's C library instead, in an emulated machine with Debian's kernel
    /// for pages of 16 KiB; needs no folder
    #[arg(long, conflicts_with_all = ["folder", "abi", "jni", "runtime"])]
    machine: bool,
}

pub(crate) fn run(args: BionicArgs) -> Result<()> {
    if args.machine {
        return check(&[machine::play(&target().join("bionic"))?]);
    }
    let Some(folder) = args.folder.or_else(|| std::env::var_os(FOLDER).map(PathBuf::from)) else {
        bail!(
            "no folder: adb pull /system/bin, /system/lib64, /system/lib and /apex/com.android.runtime of a phone into one, and give it"
        );
    };
    let mut rows = Vec::new();
    let wanted = if args.runtime { vec![Abi::Arm] } else { args.abi };
    for device in Device::below(&folder)? {
        for abi in device.abis()?.into_iter().filter(|abi| wanted.is_empty() || wanted.contains(abi)) {
            let library = match &args.jni {
                Some(built) => built.join(abi.name()).join("libloopbox.so"),
                None => ensure(abi)?.file,
            };
            let out = target().join("bionic");
            let row = if args.runtime {
                retail::play(&device, &library, &out)
            } else {
                play(&device, abi, &library, &out)
            };
            rows.push(row.with_context(|| format!("{} {abi}", device.name()))?);
        }
    }
    ensure!(!rows.is_empty(), "{} has no libc.so below system/lib or system/lib64", folder.display());
    check(&rows)
}

/// Prints the results, and fails when some of them are wrong.
fn check(rows: &[Row]) -> Result<()> {
    print!("{}", table(rows));
    let wrong = rows.iter().filter(|row| !row.good()).count();
    ensure!(wrong == 0, "{wrong} of {} rows are wrong", rows.len());
    Ok(())
}
