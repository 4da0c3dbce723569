//! Sets up a testbed: finds an existing one, or builds it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use loopbox_setup::cache::{Key, mark_used};
use loopbox_setup::fetch::Fetcher;
use loopbox_setup::files::{exclusive, files_below, remove};
use loopbox_setup::progress::Progress;
use loopbox_setup::tools::{CompilerTools, Tools};

use crate::assemble::ASSEMBLY;
use crate::builder::{Builder, VERSION};
use crate::manifest::Testbed;
use crate::spec::Spec;
use crate::{local, paths, store};

/// The message of the first set-up, shown before the sizes of packages are known.
const FIRST_TIME: &str = "the first testbed takes about 80 MB of package indexes, 130 MB of packages, and then one to \
    two minutes of compiling on two cores; later ones take seconds, but for a compiler of Android code (half a minute) and a \
    runtime that is built here (some ten)";

/// The testbed called `name`; it is set up if it does not exist or is out of date.
///
/// The first time takes a minute or two and downloads about 100 MB; when nothing has changed it takes a
/// fraction of a second. Processes that use an older build of the testbed are not disturbed. Progress goes to
/// standard error.
///
/// # Errors
/// In one line: an unknown name, a missing compiler and how to install it, a package that cannot be had and
/// why.
pub fn ensure(name: &str) -> Result<Testbed> {
    ensure!(cfg!(target_arch = "x86_64"), "the testbeds are Debian's amd64 packages; this machine is none");
    let progress = Progress::new(name);
    let specs = paths::specs();
    let spec = if name == local::LOCAL { local::load(&specs)? } else { Spec::load(&specs, name)? };
    let tools = Tools::ensure()?;
    let testbeds = paths::testbeds();
    fs::create_dir_all(testbeds.join("store"))
        .with_context(|| format!("cannot create {}", testbeds.display()))?;
    let link = testbeds.join(name);
    let home = |key: &str| testbeds.join("store").join(format!("{name}-{key}"));
    let key = testbed_key(&spec, &tools, &testbeds, &progress)?;
    if let Some(testbed) = ready(&home(&key), &link)? {
        return Ok(testbed);
    }
    let _lock = exclusive(&testbeds.join("lock"), || progress.say("wait for another set-up of a testbed"))?;
    if !testbeds.join("cache").exists() {
        progress.say(FIRST_TIME);
    }
    if let Some(testbed) = ready(&home(&testbed_key(&spec, &tools, &testbeds, &progress)?), &link)? {
        return Ok(testbed); // another process has just made it
    }
    let builder = Builder::new(&spec, &tools, &progress)?;
    // Downloads may have fixed the version of floating packages.
    let key = testbed_key(&spec, &tools, &testbeds, &progress)?;
    let home = home(&key);
    let work = home.with_extension("work");
    remove(&work)?;
    builder.build(&work, &home, &key)?;
    remove(&home)?;
    fs::rename(&work, &home).with_context(|| format!("cannot create {}", home.display()))?;
    let testbed = ready(&home, &link)?.context("the testbed that was made is none")?;
    builder.cache.prune(&[])?;
    store::prune(&testbeds)?;
    progress.say(format!("ready, {} MB in {}", megabytes(&home)?, link.display()));
    Ok(testbed)
}

/// The testbed that is finished in `home`, if there is one; `link` then points to it. The present target of
/// `link` is not used: another clone that shares the folder may have made it from other sources.
fn ready(home: &Path, link: &Path) -> Result<Option<Testbed>> {
    let Ok(testbed) = Testbed::open(home) else { return Ok(None) };
    mark_used(home)?;
    if fs::canonicalize(link).ok().as_ref() != Some(&testbed.dir) {
        store::publish(link, home)?;
    }
    Ok(Some(testbed))
}

/// Hash of everything that a testbed is made from: specifications, stubs, patches, compilers, the versions of
/// floating packages, this code's version, and the path (the manifest has absolute paths).
fn testbed_key(spec: &Spec, tools: &Tools, testbeds: &Path, progress: &Progress) -> Result<String> {
    let mut key = Key::new(&spec.testbed.name, VERSION)
        .with(&ASSEMBLY.to_string())
        .with(&tools.identity()?)
        .with(&testbeds.display().to_string());
    key = key.with_path(&spec.folder)?;
    if spec.source_build().is_some() || spec.foreign.is_some() {
        key = key.with(&CompilerTools::ensure()?.identity()?);
    }
    if let Some(folder) = &spec.local {
        // And what was read out of it.
        key = key.with_path(folder)?.with(&format!("{:?}", spec.testbed));
    }
    let floating = Fetcher::new(progress)?.floating_file();
    if floating.is_file() {
        key = key.with_path(&floating)?;
    }
    Ok(key.hex())
}

fn megabytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for file in files_below(folder)? {
        let about = fs::symlink_metadata(&file)?;
        if about.is_file() {
            bytes += about.len();
        }
    }
    Ok(bytes.div_ceil(1_000_000))
}
