//! Compiles the driver and the substitute for libart.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use loopbox_android_pack::Abi;
use loopbox_android_pack::device::Device;
use loopbox_setup::command::run;
use loopbox_setup::tools::CompilerTools;
use loopbox_setup::workspace::root;
use loopbox_testbed::{Arch, Testbed};

/// The flags that every C file here is compiled with. No header of the C library is included: its functions
/// are linked by name.
const FLAGS: [&str; 5] = ["-O1", "-fPIC", "-fno-builtin", "-fvisibility=hidden", "-Wno-unused-parameter"];

/// The sources of the driver: the program, and a signal chain as `app_process` has it.
const DRIVE: [&str; 2] = ["drive.c", "chain.c"];

/// The signal chain as a library, next to the program.
pub(crate) const CHAIN: &str = "libchain.so";

/// Compiles the driver and the substitute for libart into a folder, as `drive` and `libart.so`, for this
/// machine.
///
/// # Errors
/// When there is no C compiler, or it fails.
pub fn compile_for_host(out: &Path) -> Result<()> {
    let (program, libart) = products(out);
    let mut cc = Command::new("cc");
    cc.args(FLAGS).args(DRIVE.map(source)).arg("-rdynamic");
    run(cc.arg("-o").arg(&program).args(["-ldl", "-lpthread"]))?;
    let mut cc = Command::new("cc");
    cc.args(FLAGS).args(["-shared", "-Wl,-soname,libart.so"]).arg(source("vm.c"));
    run(cc.arg("-o").arg(&libart))?;
    Ok(())
}

/// Compiles the driver and the substitute for libart for 64-bit Arm, with the C library of a testbed of that
/// architecture. Also compiles `init`, the first process of the machine with 16 KiB pages.
///
/// # Errors
/// When clang or lld is not there, or fails.
pub fn compile_for_arm64(testbed: &Testbed, out: &Path) -> Result<()> {
    let tools = CompilerTools::ensure()?;
    let sysroot = testbed.sysroot()?;
    let (program, libart) = products(out);
    let compile = |sources: &[PathBuf], words: &[&str], to: &Path| -> Result<()> {
        let mut clang = tools.for_arch(Arch::Arm64, &sysroot);
        // It is one for C++, which C files by their name would be to it.
        clang.args(FLAGS).args(["-x", "c"]).args(sources).args(["-x", "none", "-nostdlib++"]);
        run(clang.args(words).arg("-o").arg(to)).map(drop)
    };
    // A library: what a program exports would come before our versions of Android's libraries, which
    // translate what the recorder passes to `sigaction`.
    let [drive, chain] = DRIVE.map(source);
    let library = out.join(CHAIN);
    let words = ["-shared", &format!("-Wl,-soname,{CHAIN}"), "-ldl", "-lpthread"];
    compile(&[chain], &words, &library)?;
    let words = [&library.to_string_lossy(), "-Wl,-rpath,$ORIGIN", "-ldl", "-lpthread"];
    compile(&[drive], &words, &program)?;
    compile(&[source("vm.c")], &["-shared", "-Wl,-soname,libart.so"], &libart)?;
    compile(&[root().join("crates/lab-bionic/machine/init.c")], &[], &out.join("init"))
}

/// Compiles the driver and the substitute for libart for a device, linked with the device's libraries.
///
/// # Errors
/// When clang or lld is not there, or fails, or the device lacks a library that is linked.
pub(crate) fn compile_for_device(device: &Device, abi: Abi, out: &Path) -> Result<()> {
    let tools = Tools::of(device, abi, out)?;
    let (program, libart) = products(out);
    let linker = if abi.is_64_bit() { "linker64" } else { "linker" };
    let start = format!("-dynamic-linker=/system/bin/{linker}");
    let [drive, chain] = DRIVE.map(source);
    let drive = [tools.object(&drive)?, tools.object(&chain)?, tools.object(&source("start.c"))?];
    tools.link(&["-pie", &start, "-e", "_start", "--export-dynamic"], &drive, &program)?;
    tools.link(&["-shared", "-soname=libart.so"], &[tools.object(&source("vm.c"))?], &libart)
}

/// Compiles the libraries that a retail runtime of Android 5 loads: `libmachine.so` and `libframework.so`.
///
/// # Errors
/// As [`compile_for_device`].
pub(crate) fn compile_for_retail(device: &Device, out: &Path) -> Result<()> {
    let tools = Tools::of(device, Abi::Arm, out)?;
    for name in ["machine", "framework"] {
        let object = tools.object(&root().join(format!("crates/lab-bionic/retail/{name}.c")))?;
        let soname = format!("-soname=lib{name}.so");
        tools.link(&["-shared", &soname], &[object], &out.join(format!("lib{name}.so")))?;
    }
    Ok(())
}

/// clang and lld, set up to link with a device's own libraries.
struct Tools<'a> {
    abi: Abi,
    target: &'static str,
    flags: &'static [&'static str],
    libraries: [PathBuf; 2],
    out: &'a Path,
}

impl<'a> Tools<'a> {
    fn of(device: &Device, abi: Abi, out: &'a Path) -> Result<Self> {
        let library =
            |name| device.library(name, abi).with_context(|| format!("{} has no {name}", device.name()));
        let libraries = [library("libc.so")?, library("libdl.so")?];
        let (target, flags): (_, &[&str]) = match abi {
            Abi::Arm64 => ("aarch64-linux-android21", &["-mno-outline-atomics"]),
            Abi::Arm => ("armv7a-linux-androideabi21", &["-marm", "-march=armv7-a", "-mfloat-abi=softfp"]),
            Abi::X86_64 => ("x86_64-linux-android21", &[]),
            Abi::X86 => ("i686-linux-android21", &["-mstackrealign"]),
        };
        Ok(Self { abi, target, flags, libraries, out })
    }

    fn object(&self, source: &Path) -> Result<PathBuf> {
        let name = source.file_name().context("a source without a name")?;
        let object = self.out.join(name).with_extension("o");
        let mut clang = Command::new("clang");
        clang.arg(format!("--target={}", self.target)).args(FLAGS).args(self.flags);
        run(clang.args(["-ffreestanding", "-c"]).arg(source).arg("-o").arg(&object))?;
        Ok(object)
    }

    fn link(&self, words: &[&str], objects: &[PathBuf], to: &Path) -> Result<()> {
        let mut lld = Command::new("ld.lld");
        lld.args(["-m", self.abi.emulation(), "--hash-style=both", "--build-id=sha1"]);
        lld.args(["-z", "max-page-size=16384"]).args(words).args(objects).arg("-o").arg(to);
        run(lld.args(&self.libraries)).map(drop)
    }
}

/// The paths of the driver and of the substitute for libart that it loads.
fn products(out: &Path) -> (PathBuf, PathBuf) {
    (out.join("drive"), out.join("libart.so"))
}

fn source(name: &str) -> PathBuf {
    root().join("crates/lab-bionic/drive").join(name)
}
