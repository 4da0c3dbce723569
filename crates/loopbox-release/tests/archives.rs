//! A release of the real archives: made, checked, signed, and read by the programs that its users have.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use loopbox_android_pack::{Abi, aar, ensure as ensure_library};
use loopbox_release::commands::{self, MACHINES};
use loopbox_release::{Facts, Parts, Signer, Verified, make, verify};
use loopbox_setup::command::{command, run};
use loopbox_setup::files::files_below;
use loopbox_setup::registry;
use tempfile::{TempDir, tempdir};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the packer has made, with one library.
static PACKED: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempdir().unwrap();
    let library = ensure_library(Abi::X86_64).unwrap();
    let libraries = aar::Libraries { own: &[library], inhouse: &[], compiler: "rustc" };
    aar::build(libraries, folder.path()).unwrap();
    folder
});

/// A statically linked program that replaces the command, packed for both machines.
static COMMANDS: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempdir().unwrap();
    let built = program(&["-static"]).unwrap();
    for (machine, elf) in MACHINES.into_iter().zip(ELF_MACHINES) {
        fs::write(built.path().join("loopbox"), of_machine(&built.path().join("program"), elf)).unwrap();
        commands::pack(machine, &built.path().join("loopbox"), folder.path(), 0).unwrap();
    }
    folder
});

/// The machine numbers of x86-64 and arm64 in ELF headers.
const ELF_MACHINES: [u16; 2] = [62, 183];

/// A program that does nothing, linked with these flags.
fn program(flags: &[&str]) -> Result<TempDir> {
    let folder = tempdir()?;
    fs::write(folder.path().join("program.c"), "int main(void) { return 0; }\n")?;
    run(command("cc", ["-o", "program", "program.c"]).args(flags).current_dir(folder.path()))?;
    Ok(folder)
}

/// The bytes of a program, with another machine in its header.
fn of_machine(program: &Path, machine: u16) -> Vec<u8> {
    let mut bytes = fs::read(program).unwrap();
    bytes[18..20].copy_from_slice(&machine.to_le_bytes());
    bytes
}

fn facts() -> Result<Facts> {
    let facts = Facts::of_workspace()?;
    Ok(Facts { commit: Some("c0ffee".to_owned()), builder: "https://ci.example.org".to_owned(), ..facts })
}

fn released(signer: Option<&Signer>) -> Result<TempDir> {
    let folder = tempdir()?;
    let parts = Parts { repository: PACKED.path(), commands: COMMANDS.path() };
    make(parts, folder.path(), &facts()?, signer)?;
    Ok(folder)
}

#[test]
fn release_is_what_it_says_and_names_its_commit() -> Result<()> {
    let folder = released(None)?;
    let Verified { archives, files, signatures, commit, builder, .. } = verify(folder.path(), None)?;
    ensure!((archives, signatures) == (6, Some(0)) && files > 100, "{archives}, {files}, {signatures:?}");
    ensure!((commit.as_deref(), &*builder) == (Some("c0ffee"), "https://ci.example.org"));
    run(command("sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"]).current_dir(folder.path()))?;
    Ok(())
}

#[test]
fn command_that_needs_something_of_the_system_is_refused() -> Result<()> {
    let (built, folder) = (program(&[])?, tempdir()?);
    let program = built.path().join("program");
    let refused = commands::pack(MACHINES[0], &program, folder.path(), 0).unwrap_err();
    let refused = format!("{refused:#}");
    ensure!(refused.contains("it is not static: it needs") && refused.contains("libc.so.6"), "{refused}");
    let of_another = commands::pack(MACHINES[1], &program, folder.path(), 0).unwrap_err();
    let of_another = format!("{of_another:#}");
    ensure!(of_another.ends_with("it is not for aarch64-unknown-linux-musl"), "{of_another}");
    Ok(())
}

#[test]
fn archive_of_a_command_is_unpacked_and_run() -> Result<()> {
    let (folder, to) = (released(None)?, tempdir()?);
    let name = format!("loopbox-{VERSION}-x86_64-unknown-linux-musl");
    let archive = folder.path().join("commands").join(format!("{name}.tar.gz"));
    run(command("tar", ["-xzf"]).arg(&archive).arg("-C").arg(to.path()))?;
    run(&mut command(to.path().join(&name).join("loopbox"), [""; 0]))?;
    let notices = fs::read_to_string(to.path().join(&name).join("third-party-notices.txt"))?;
    ensure!(notices.starts_with("loopbox is linked with") && notices.contains("clap_builder"), "{notices}");
    fs::remove_file(&archive)?;
    ensure!(verify(folder.path(), None).is_err(), "an archive is missing");
    Ok(())
}

#[test]
fn same_archives_make_the_same_release() -> Result<()> {
    let (one, other) = (released(None)?, released(None)?);
    let read = |folder: &Path| -> Result<Vec<(PathBuf, Vec<u8>)>> {
        let named = |file: PathBuf| Ok((file.strip_prefix(folder)?.to_owned(), fs::read(&file)?));
        files_below(folder)?.into_iter().map(named).collect()
    };
    ensure!(read(one.path())? == read(other.path())?, "two releases of the same archives differ");
    Ok(())
}

/// A throw-away key, as GnuPG makes it: secret and public.
fn key() -> Result<(String, String)> {
    let home = tempfile::Builder::new().prefix("gpg").tempdir()?;
    let gpg = |arguments: &[&str]| {
        let mut gpg =
            command("gpg", ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""]);
        run(gpg.arg("--homedir").arg(home.path()).args(arguments))
    };
    gpg(&["--quick-generate-key", "Release Test <release@example.org>", "ed25519", "sign", "1d"])?;
    let keys = (gpg(&["--armor", "--export-secret-keys"])?, gpg(&["--armor", "--export"])?);
    run(command("gpgconf", ["--kill", "all", "--homedir"]).arg(home.path()))?;
    Ok(keys)
}

#[test]
fn signed_release_is_checked_with_the_public_key_and_has_a_bundle() -> Result<()> {
    let (secret, public) = key()?;
    let folder = released(Some(&Signer::new(&secret, "")?))?;
    let keys = tempdir()?;
    let keys = keys.path().join("keys.asc");
    fs::write(&keys, public)?;
    ensure!(verify(folder.path(), None)?.signatures.is_none(), "checked without keys");
    let signed = verify(folder.path(), Some(&keys))?.signatures.unwrap_or_default();
    ensure!(signed > 20, "{signed}");
    // What Maven Central asks for: each file with its signature and two checksums, no list of versions.
    let bundle = aar::unpack(&folder.path().join("maven-central-bundle.zip"))?;
    let pom = format!("io/loopbox/loopbox/{VERSION}/loopbox-{VERSION}.pom");
    for ending in ["", ".asc", ".md5", ".sha1"] {
        ensure!(bundle.contains_key(&format!("{pom}{ending}")), "no {pom}{ending}");
    }
    ensure!(bundle.keys().all(|name| !name.contains("maven-metadata")), "it has a list of versions");
    // By another key.
    fs::write(&keys, key()?.1)?;
    let refused = format!("{:#}", verify(folder.path(), Some(&keys)).err().context("it was taken")?);
    ensure!(refused.contains("the signature of"), "{refused}");
    // One signature less, with everything else as it should be.
    let signature = folder.path().join("maven").join(format!("{pom}.asc"));
    fs::remove_file(&signature)?;
    ensure!(verify(folder.path(), None).is_err(), "a signature is missing");
    Ok(())
}

/// The checksums and the list match the changed file: only its content is wrong.
#[test]
fn file_about_another_archive_is_refused() -> Result<()> {
    let cases = [
        (".module", "\"sha256\": \"", "has another"),
        ("-cyclonedx.json", "\"content\": \"", "is the list of another archive"),
    ];
    for (suffix, key, word) in cases {
        let packed = tempdir()?;
        for file in files_below(PACKED.path())? {
            let place = packed.path().join(file.strip_prefix(PACKED.path())?);
            fs::create_dir_all(place.parent().context("no folder")?)?;
            fs::copy(file, place)?;
        }
        let file =
            |name: &str| packed.path().join(format!("io/loopbox/{name}/{VERSION}/{name}-{VERSION}{suffix}"));
        let hash = |text: &str| {
            let at = text.find(key)? + key.len();
            text.get(at..at + 64).map(str::to_owned)
        };
        let (text, other) = (fs::read_to_string(file("loopbox-noop"))?, fs::read_to_string(file("loopbox"))?);
        let (from, to) = hash(&text).zip(hash(&other)).context("no hash")?;
        fs::write(file("loopbox-noop"), text.replace(&from, &to))?;
        let folder = tempdir()?;
        make(Parts { repository: packed.path(), commands: COMMANDS.path() }, folder.path(), &facts()?, None)?;
        let refused = verify(folder.path(), None).err().context("it was taken")?.to_string();
        ensure!(refused.contains(word), "{suffix}: {refused}");
    }
    Ok(())
}

/// Runs Maven itself, which compares the checksums.
#[test]
fn maven_takes_an_archive_with_right_checksums_alone() -> Result<()> {
    let folder = released(None)?;
    let repository = folder.path().join("maven");
    let artifact = format!("io.loopbox:loopbox:{VERSION}:aar");
    let file = repository.join(format!("io/loopbox/loopbox/{VERSION}/loopbox-{VERSION}.aar"));
    let brought = registry::fetch_from(&repository, &artifact)?;
    ensure!(brought == fs::read(&file)?, "Maven has brought another file");
    for kind in ["sha1", "md5"] {
        fs::write(file.with_extension(format!("aar.{kind}")), "0".repeat(32))?;
    }
    let refused = registry::fetch_from(&repository, &artifact).err();
    let refused = format!("{:#}", refused.context("Maven has taken a file with another checksum")?);
    ensure!(refused.to_lowercase().contains("checksum"), "{refused}");
    Ok(())
}
