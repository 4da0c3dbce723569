//! The `loopbox` command for Linux: linked statically, so that it runs on any distribution and in an empty
//! container.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use goblin::elf::Elf;
use goblin::elf::header::{EM_AARCH64, EM_X86_64};
use loopbox_android_pack::{build_machine, linked, sbom};
use loopbox_setup::command::run;
use loopbox_setup::files::{remove, write_atomically};
use loopbox_setup::workspace::{self, cargo, root, target};

use crate::archives::verify_components;

/// The name of the folder in a release that has the commands.
pub(crate) const FOLDER: &str = "commands";

/// The package that contains the command.
const PACKAGE: &str = "loopbox-cli";
/// The name of the command.
const COMMAND: &str = "loopbox";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The maximum size of a command: many times its present size.
const LIMIT_BYTES: u64 = 256 << 20;

/// A machine that the command is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// rustc's name for the machine, a target triple.
    target: &'static str,
    /// The machine number (`e_machine`) in the ELF headers of its programs.
    elf: u16,
}

/// The machines that the command is built for.
pub const MACHINES: [Machine; 2] = [
    Machine { target: "x86_64-unknown-linux-musl", elf: EM_X86_64 },
    Machine { target: "aarch64-unknown-linux-musl", elf: EM_AARCH64 },
];

impl Machine {
    /// The name of the machine's archive and of the folder in that archive.
    fn name(self) -> String {
        format!("{COMMAND}-{VERSION}-{}", self.target)
    }
}

/// Builds the command for each machine, and packs each into `folder`, which is emptied before.
///
/// # Errors
/// When the standard library for a machine cannot be had, or the command cannot be built.
pub fn build(folder: &Path, committed_s: u64) -> Result<()> {
    remove(folder)?;
    let place = target().join("commands");
    for machine in MACHINES {
        run(Command::new("rustup").args(["target", "add", machine.target]).current_dir(root()))
            .with_context(|| format!("rustup has to bring the standard library for {}", machine.target))?;
        // Rust's own linker and C library: what is installed here for C does not matter.
        let mut rustc = ["-Clinker=rust-lld", "-Clinker-flavor=ld.lld", "-Ctarget-feature=+crt-static"]
            .map(str::to_owned)
            .to_vec();
        rustc.push("-Cstrip=symbols".to_owned());
        rustc.extend(build_machine::flags());
        workspace::run(
            cargo()
                .args([
                    "build",
                    "--quiet",
                    "--locked",
                    "--release",
                    "-p",
                    PACKAGE,
                    "--target",
                    machine.target,
                ])
                .arg("--target-dir")
                .arg(&place)
                .env("CARGO_ENCODED_RUSTFLAGS", rustc.join("\u{1f}")),
        )?;
        let command = place.join(machine.target).join("release").join(COMMAND);
        pack(machine, &command, folder, committed_s)?;
    }
    Ok(())
}

/// Packs a built command, with its licences and notices, and writes the list of its components.
///
/// # Errors
/// When a file cannot be read or written, when the command is not static, or when it is for another machine.
pub fn pack(machine: Machine, command: &Path, folder: &Path, committed_s: u64) -> Result<()> {
    let bytes = fs::read(command).with_context(|| format!("cannot read {}", command.display()))?;
    check(machine, &bytes).with_context(|| command.display().to_string())?;
    let crates = linked::crates(PACKAGE, machine.target)?;
    let licence = |name: &str| fs::read(root().join(name)).with_context(|| format!("cannot read {name}"));
    let entries = [
        ("LICENSE-APACHE", 0o644, licence("LICENSE-APACHE")?),
        ("LICENSE-MIT", 0o644, licence("LICENSE-MIT")?),
        (COMMAND, 0o755, bytes),
        ("third-party-notices.txt", 0o644, linked::notices(COMMAND, &crates).into_bytes()),
    ];
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let archive = folder.join(machine.name() + ".tar.gz");
    let file = File::create(&archive).with_context(|| format!("cannot create {}", archive.display()))?;
    let mut tar = tar::Builder::new(GzEncoder::new(file, Compression::best()));
    for (name, mode, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(mode);
        header.set_mtime(committed_s);
        tar.append_data(&mut header, Path::new(&machine.name()).join(name), &*content)?;
    }
    tar.into_inner().and_then(GzEncoder::finish).context("cannot finish an archive")?;
    let compiler = run(cargo().arg("--version")).context("cargo")?;
    let list = sbom::of_command(PACKAGE, machine.target, &fs::read(&archive)?, &crates, compiler.trim())?;
    write_atomically(&components(&archive), list)
}

/// The list of components that goes with an archive.
fn components(archive: &Path) -> PathBuf {
    let name = archive.to_string_lossy();
    PathBuf::from(format!("{}-cyclonedx.json", name.trim_end_matches(".tar.gz")))
}

/// Checks that a program is for this machine, and needs nothing from the system that it runs on.
fn check(machine: Machine, bytes: &[u8]) -> Result<()> {
    let elf = Elf::parse(bytes).context("no program")?;
    ensure!(elf.header.e_machine == machine.elf, "it is not for {}", machine.target);
    let needs = elf.interpreter.iter().chain(&elf.libraries).copied().collect::<Vec<_>>().join(", ");
    ensure!(needs.is_empty(), "it is not static: it needs {needs}");
    let traces = build_machine::traces();
    let trace = build_machine::find(bytes, &traces);
    ensure!(trace.is_none(), "it names a folder of this machine: {}", trace.unwrap_or_default());
    Ok(())
}

/// Checks the folder in a release that has the commands: each machine has its archive, with a static command
/// for it and a list of the components of this archive. Returns the number of archives.
pub(crate) fn verify(folder: &Path) -> Result<usize> {
    for machine in MACHINES {
        let archive = folder.join(machine.name() + ".tar.gz");
        let file = File::open(&archive).with_context(|| format!("cannot read {}", archive.display()))?;
        let mut tar = tar::Archive::new(GzDecoder::new(file));
        let wanted = Path::new(&machine.name()).join(COMMAND);
        let mut found = false;
        for entry in tar.entries()? {
            let entry = entry.with_context(|| archive.display().to_string())?;
            if entry.path()? == wanted {
                let mut bytes = Vec::new();
                entry.take(LIMIT_BYTES).read_to_end(&mut bytes)?;
                check(machine, &bytes).with_context(|| archive.display().to_string())?;
                found = true;
            }
        }
        ensure!(found, "{} has no {}", archive.display(), wanted.display());
        verify_components(&components(&archive), &archive)?;
    }
    Ok(MACHINES.len())
}
