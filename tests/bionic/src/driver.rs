//! Compiles the driver and the stand-in for libart.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use loopbox_android_pack::Abi;
use loopbox_android_pack::device::Device;
use loopbox_setup::command::run;
use loopbox_setup::workspace::root;

/// What every part is compiled with: it has the C library's functions by their names alone.
const FLAGS: [&str; 5] = ["-O1", "-fPIC", "-fno-builtin", "-fvisibility=hidden", "-Wno-unused-parameter"];

/// Compiles both into a folder, as `drive` and `libart.so`, for this machine.
///
/// # Errors
/// When there is no C compiler, or it refuses.
pub fn compile_for_host(out: &Path) -> Result<()> {
    let (program, libart) = products(out);
    let mut cc = Command::new("cc");
    run(cc.args(FLAGS).arg(source("drive.c")).arg("-o").arg(&program).args(["-ldl", "-lpthread"]))?;
    let mut cc = Command::new("cc");
    cc.args(FLAGS).args(["-shared", "-Wl,-soname,libart.so"]).arg(source("vm.c"));
    run(cc.arg("-o").arg(&libart))?;
    Ok(())
}

/// The same for a device, linked against its own libraries.
///
/// # Errors
/// When clang or lld is not there, or refuses, or the device has no such library.
pub(crate) fn compile_for_device(device: &Device, abi: Abi, out: &Path) -> Result<()> {
    let library =
        |name| device.library(name, abi).with_context(|| format!("{} has no {name}", device.name()));
    let libraries = [library("libc.so")?, library("libdl.so")?];
    let (target, flags): (_, &[&str]) = match abi {
        Abi::Arm64 => ("aarch64-linux-android21", &["-mno-outline-atomics"]),
        Abi::Arm => ("armv7a-linux-androideabi21", &["-marm", "-march=armv7-a", "-mfloat-abi=softfp"]),
        Abi::X86_64 => ("x86_64-linux-android21", &[]),
        Abi::X86 => ("i686-linux-android21", &["-mstackrealign"]),
    };
    let (program, libart) = products(out);
    let object = |name: &str| -> Result<PathBuf> {
        let object = out.join(name).with_extension("o");
        let mut clang = Command::new("clang");
        clang.arg(format!("--target={target}")).args(FLAGS).args(flags).args(["-ffreestanding", "-c"]);
        run(clang.arg(source(name)).arg("-o").arg(&object))?;
        Ok(object)
    };
    let link = |words: &[&str], objects: &[PathBuf], to: &Path| {
        let mut lld = Command::new("ld.lld");
        lld.args([
            "-m",
            abi.emulation(),
            "--hash-style=both",
            "--build-id=sha1",
            "-z",
            "max-page-size=16384",
        ]);
        lld.args(words).args(objects).arg("-o").arg(to);
        run(lld.args(&libraries))
    };
    let linker = if abi.is_64_bit() { "linker64" } else { "linker" };
    let start = format!("-dynamic-linker=/system/bin/{linker}");
    link(&["-pie", &start, "-e", "_start"], &[object("drive.c")?, object("start.c")?], &program)?;
    link(&["-shared", "-soname=libart.so"], &[object("vm.c")?], &libart)?;
    Ok(())
}

/// The program, and the stand-in that it loads.
fn products(out: &Path) -> (PathBuf, PathBuf) {
    (out.join("drive"), out.join("libart.so"))
}

fn source(name: &str) -> PathBuf {
    root().join("tests/bionic/drive").join(name)
}
