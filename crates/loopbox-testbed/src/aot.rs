//! Compiles methods ahead of time, with dex2oat built from the source package of the testbed's libart.
//!
//! The runtime accepts code that was compiled ahead of time only when it was compiled from exactly the jars
//! that it runs, which it identifies by their checksums and paths.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::builder::Builder;
use crate::compiler::{Build, key};
use crate::manifest::{Testbed, environment};
use crate::patch::Tree;
use loopbox_setup::command::{path_list, run};
use loopbox_setup::files::{remove, sha256_file, write_atomically};
use loopbox_setup::tools::CompilerTools;

/// The name of the program in a testbed's folder.
pub(crate) const PROGRAM: &str = "dex2oat";

/// The value of `-Ximage`, below a testbed's folder; the file itself is in a subfolder named after the
/// architecture.
pub(crate) const IMAGE: &str = "boot/boot.art";

/// The runtime's name for the architecture.
const ISA: &str = "x86_64";

/// dex2oat for the testbed: found in the cache, or built in less than a minute. `compiler` is the library of
/// the runtime's compiler. `None` when the testbed needs no dex2oat, or `compiler` is `None`.
pub(crate) fn build(builder: &Builder<'_>, compiler: Option<&Path>) -> Result<Option<PathBuf>> {
    let (Some(own), Some(spec), Some(compiler)) = (&builder.spec.aot, &builder.spec.compiler, compiler)
    else {
        return Ok(None);
    };
    let tools = CompilerTools::ensure()?;
    // zlib's headers are there.
    let sysroot = builder.sysroot()?;
    let data = builder.spec.folder.join("compiler/aot");
    let key = key(builder, spec, &tools, PROGRAM)?.with(&format!("{own:?}")).with_path(&data)?;
    let key = key.with(&sysroot.display().to_string());
    let result = builder.cache.step(PROGRAM, &key, |out| {
        let work = out.join("work");
        let build = Build::prepare(builder, spec, &tools, &work, &own.unpack)?;
        Tree::in_place(&build.source).apply_folder(&data.join("patches"))?;
        build.asm_defines()?;
        let mut sources: Vec<PathBuf> = own.sources.iter().map(|file| build.source.join(file)).collect();
        sources.push(build.operators("dex2oat", &own.operators)?);
        builder.progress.say(format!("compile dex2oat: {} files", sources.len()));
        let mut folders: Vec<PathBuf> = own.include.iter().map(|folder| build.source.join(folder)).collect();
        folders.extend([data.join("include"), sysroot.join("usr/include")]);
        let include: Vec<&OsStr> =
            folders.iter().flat_map(|folder| ["-I".as_ref(), folder.as_os_str()]).collect();
        let objects = build.objects("objects", sources, &include)?;
        let mut link = build.link();
        // libart finds functions of the program and of the compiler in the global scope.
        link.args(["-rdynamic", "-s"])
            .args(objects)
            .args(["-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined"]);
        link.args(own.libraries.iter().map(|file| format!("-l:{file}"))).arg(compiler);
        run(link.arg("-o").arg(out.join(PROGRAM))).context("cannot link dex2oat")?;
        remove(&work)
    })?;
    Ok(Some(result.join(PROGRAM)))
}

/// A jar, and the path under which the runtime will know it.
pub(crate) struct Jar {
    pub(crate) file: PathBuf,
    pub(crate) location: PathBuf,
}

/// A run of dex2oat on `jars`, with the libraries and the boot class path of the testbed in `testbed`.
fn dex2oat(testbed: &Path, preload: &[String], boot: &[Jar], jars: &[Jar], oat: &Path) -> Command {
    let mut command = Command::new(testbed.join(PROGRAM));
    command.env("LD_LIBRARY_PATH", testbed.join("lib")).env("LD_PRELOAD", preload.join(":"));
    command.envs(environment(testbed));
    for jar in jars {
        let option = |name: &str, path: &Path| {
            let mut option = OsString::from(name);
            option.push(path);
            option
        };
        command.arg(option("--dex-file=", &jar.file)).arg(option("--dex-location=", &jar.location));
    }
    let files = path_list(boot.iter().map(|jar| &jar.file));
    let locations = path_list(boot.iter().map(|jar| &jar.location));
    for option in [
        "-Xms64m".to_owned(),
        "-Xmx512m".to_owned(),
        "-Xnorelocate".to_owned(),
        format!("-Xbootclasspath:{files}"),
        format!("-Xbootclasspath-locations:{locations}"),
    ] {
        command.arg("--runtime-arg").arg(option);
    }
    command.arg(format!("--oat-file={}", oat.display())).arg(format!("--instruction-set={ISA}"));
    command.args(["--host", "--compiler-filter=speed"]);
    command.arg(format!("--android-root={}", testbed.join("root").display()));
    command
}

/// Compiles the boot class path of a testbed while the testbed is being assembled in the folder `out`. The
/// compiled code has the paths of the jars in `home`, the testbed's later folder.
pub(crate) fn boot_image(out: &Path, home: &Path, preload: &[String], boot: &[&str]) -> Result<()> {
    let folder = out.join(IMAGE).with_file_name(ISA);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let jars: Vec<Jar> =
        boot.iter().map(|jar| Jar { file: out.join(jar), location: home.join(jar) }).collect();
    let mut command = dex2oat(out, preload, &jars, &jars, &folder.join("boot.oat"));
    command.arg(format!("--image={}", folder.join("boot.art").display())).arg("--base=0x70000000");
    run(&mut command).context("the boot class path cannot be compiled").map(drop)
}

/// Compiles an app's jar ahead of time, and puts the code where the runtime will search for it. Does nothing
/// when that code is there already, or on a testbed without dex2oat.
pub(crate) fn app(testbed: &Testbed, jar: &Path) -> Result<()> {
    if !testbed.dir.join(PROGRAM).is_file() {
        return Ok(());
    }
    let jar = fs::canonicalize(jar).with_context(|| format!("there is no {}", jar.display()))?;
    let oat =
        jar.with_file_name("oat").join(ISA).join(jar.with_extension("odex").file_name().unwrap_or_default());
    fs::create_dir_all(oat.parent().unwrap_or(&oat))
        .with_context(|| format!("cannot create {}", oat.display()))?;
    let made_for = format!("{}\n{}\n", testbed.dir.display(), sha256_file(&jar)?);
    let note = oat.with_extension("made-for");
    if oat.is_file() && fs::read_to_string(&note).is_ok_and(|last| last == made_for) {
        return Ok(());
    }
    let boot: Vec<Jar> = (testbed.manifest.boot_class_path.iter())
        .map(|jar| Jar { file: testbed.dir.join(jar), location: testbed.dir.join(jar) })
        .collect();
    let apps = [Jar { file: jar.clone(), location: jar }];
    let mut command = dex2oat(&testbed.dir, &testbed.manifest.preload, &boot, &apps, &oat);
    command
        .arg(format!("--boot-image={}", testbed.dir.join(IMAGE).display()))
        .arg("--class-loader-context=PCL[]");
    run(&mut command).context("the app cannot be compiled")?;
    write_atomically(&note, made_for)
}
