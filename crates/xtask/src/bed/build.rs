//! Builds a bed: what comes after what, and what is made in parallel.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, anyhow};

use super::ahead;
use super::cache::{Cache, Key, remove};
use super::code_patch::CodePatches;
use super::compiler;
use super::fetch::{Deb, Fetcher};
use super::framework::{self, Framework};
use super::libcore::{self, Libcore};
use super::manifest::{Build, Manifest};
use super::paths;
use super::progress::Progress;
use super::spec::{Foreign, Package, Source, Spec, StubLibrary, Use, read_toml};
use super::tools::{CompilerTools, Tools};
use super::unpack;

/// Changes when the code of the steps changes what they make.
pub(crate) const VERSION: u32 = 2;

/// Changes when beds are put together otherwise, of the same parts.
pub(crate) const ASSEMBLY: u32 = 2;

/// `-Xmx` of a bed.
pub(crate) const HEAP_MIB: u32 = 64;

/// Everything the steps share. Downloads are done when it exists.
pub(crate) struct Builder<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) tools: &'a Tools,
    pub(crate) progress: &'a Progress,
    pub(crate) cache: Cache,
    pub(crate) dx: PathBuf,
    pub(crate) dx_sha256: String,
    pub(crate) icu4j: PathBuf,
    pub(crate) icu4j_sha256: String,
    /// What tells the cross compiler's version, for a bed of another architecture.
    pub(crate) cross_identity: String,
    cross: Option<CompilerTools>,
    identity: String,
    packages: Vec<(&'a Package, Deb)>,
    sources: Vec<Deb>,
}

impl<'a> Builder<'a> {
    /// Downloads what is missing.
    pub(crate) fn new(spec: &'a Spec, tools: &'a Tools, progress: &'a Progress) -> Result<Self> {
        let beds = paths::beds();
        let fetcher = Fetcher::new(&beds, progress)?;
        let packages = spec.packages();
        let debs = fetcher.packages(&packages)?;
        let sources = [&spec.common.libcore.source, &spec.common.framework.source];
        let of_compiler = spec.compiler.iter().flat_map(|c| [&c.own.source, &c.own.packaging]);
        let sources =
            sources.into_iter().chain(of_compiler).map(|s| fetcher.source(s)).collect::<Result<Vec<_>>>()?;
        let cross = spec.foreign.as_ref().map(|_| CompilerTools::ensure(progress)).transpose()?;
        let mut builder = Self {
            spec,
            tools,
            progress,
            cache: Cache::open(&beds.join("cache"))?,
            dx: PathBuf::new(),
            dx_sha256: String::new(),
            icu4j: PathBuf::new(),
            icu4j_sha256: String::new(),
            cross_identity: cross.as_ref().map_or(Ok(String::new()), CompilerTools::identity)?,
            cross,
            identity: tools.identity()?,
            packages: packages.into_iter().zip(debs).collect(),
            sources,
        };
        (builder.dx, builder.dx_sha256) = builder.tool_jar(Use::Dx, "usr/share/java/com.android.dx.jar")?;
        (builder.icu4j, builder.icu4j_sha256) = builder.tool_jar(Use::Icu4j, "usr/share/java/icu4j.jar")?;
        Ok(builder)
    }

    /// A key that holds what every step depends on.
    pub(crate) fn key(&self, step: &str) -> Key {
        Key::new(step, VERSION).with(&self.identity)
    }

    /// A downloaded source archive.
    pub(crate) fn source(&self, source: &Source) -> Result<Deb> {
        let found = self.sources.iter().find(|s| s.file.ends_with(&source.file));
        found.cloned().with_context(|| format!("{} was not downloaded", source.file))
    }

    pub(crate) fn debs(&self, packages: &[&Package]) -> Vec<&Deb> {
        self.packages.iter().filter(|(p, _)| packages.contains(p)).map(|(_, deb)| deb).collect()
    }

    /// Unpacks packages into one folder of the cache.
    pub(crate) fn unpacked(&self, step: &str, debs: &[&Deb]) -> Result<PathBuf> {
        let key = debs.iter().fold(Key::new(step, VERSION), |key, deb| key.with(&deb.sha256));
        self.cache.step(step, &key, |out| unpack::packages(debs, out))
    }

    fn tool_jar(&self, purpose: Use, jar: &str) -> Result<(PathBuf, String)> {
        let packages: Vec<&Package> =
            self.spec.common.packages.iter().filter(|p| p.purpose == purpose).collect();
        let debs = self.debs(&packages);
        let deb = debs.first().with_context(|| format!("no package brings {jar}"))?;
        let jar = self.unpacked("tool", &debs)?.join(jar);
        // Debian's plain name may be a link to the one with the version.
        let jar = fs::canonicalize(&jar).with_context(|| format!("there is no {}", jar.display()))?;
        Ok((jar, deb.sha256.clone()))
    }

    /// Headers and libraries that the natives are compiled and linked with.
    pub(crate) fn sysroot(&self) -> Result<PathBuf> {
        let debs = self.debs(&self.spec.sysroot());
        if self.spec.foreign.is_none() {
            return self.unpacked("sysroot", &debs);
        }
        // A cross compiler takes everything from there, also through links that are meant for the root of a machine.
        let key = debs.iter().fold(Key::new("whole-sysroot", VERSION), |key, deb| key.with(&deb.sha256));
        self.cache.step("whole-sysroot", &key, |out| {
            unpack::packages(&debs, out)?;
            unpack::keep_links_inside(out)
        })
    }

    /// The C++ compiler for the bed's architecture; `sysroot` is what [`Self::sysroot`] gave.
    pub(crate) fn cxx(&self, sysroot: &Path) -> std::process::Command {
        match &self.cross {
            None => std::process::Command::new(&self.tools.cxx),
            Some(tools) => tools.for_arch(self.spec.arch, sysroot),
        }
    }

    /// The libraries that only have to be there, or stand in for something of the machine.
    pub(crate) fn native_stubs(&self) -> impl Iterator<Item = &StubLibrary> + std::fmt::Debug {
        let of_foreign: &[StubLibrary] = self.spec.foreign.as_ref().map_or(&[], |foreign| &foreign.stubs);
        self.spec.common.libcore.stubs.iter().chain(of_foreign)
    }

    /// The runtime and the libraries that it needs, as Debian packs them.
    pub(crate) fn runtime(&self) -> Result<PathBuf> {
        self.unpacked("runtime", &self.debs(&self.spec.runtime()))
    }

    /// Makes the bed in `out`, which will later be known as `home`.
    pub(crate) fn build(&self, out: &Path, home: &Path, key: &str) -> Result<()> {
        let (libcore, framework, natives) = self.compile()?;
        let fitting = libcore::fit(self, &libcore)?;
        let compiler = compiler::build(self)?;
        let ahead = ahead::build(self, compiler.as_deref())?;
        self.progress.say("put the bed together");
        self.put_together(out, home, key, &Parts { libcore, framework, natives, fitting, compiler, ahead })
    }

    /// Java on this thread; the framework's long unpacking and the natives beside it.
    fn compile(&self) -> Result<(Libcore, Framework, PathBuf)> {
        let source = libcore::source(self)?;
        thread::scope(|scope| {
            let framework = scope.spawn(|| framework::source(self));
            let natives = scope.spawn(|| libcore::natives(self, &source));
            let libcore = libcore::java(self, &source)?;
            let framework = framework.join().map_err(|_| anyhow!("unpacking the framework panicked"))??;
            let framework = framework::java(self, &framework, &libcore.classes)?;
            let natives = natives.join().map_err(|_| anyhow!("the build of the natives panicked"))??;
            Ok((libcore, framework, natives))
        })
    }

    fn put_together(&self, out: &Path, home: &Path, key: &str, parts: &Parts) -> Result<()> {
        let bed = &self.spec.bed;
        let lib = out.join("lib");
        for folder in [&lib, &out.join("root/bin"), &out.join("root/lib"), &out.join("data/dalvik-cache")] {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        self.place_libraries(&lib, &parts.natives)?;
        if let Some(compiler) = &parts.compiler {
            unpack::place(compiler, &lib.join(compiler::LIBRARY))?;
        }

        let mut boot = vec!["core.jar", "framework.jar"];
        let mut hidden = vec!["core.jar", "framework-hidden.jar"];
        let mut classes = vec!["classes/core.jar", "classes/framework.jar"];
        unpack::place(&parts.libcore.core, &out.join("core.jar"))?;
        unpack::place(&parts.framework.dexed, &out.join("framework.jar"))?;
        unpack::place(&parts.framework.hidden, &out.join("framework-hidden.jar"))?;
        unpack::place(&parts.libcore.classes, &out.join("classes/core.jar"))?;
        unpack::place(&parts.framework.classes, &out.join("classes/framework.jar"))?;
        unpack::place(&self.dx, &out.join("dx/dx.jar"))?;
        if let Some(fitting) = &parts.fitting {
            unpack::place(&fitting.join("patch.jar"), &out.join("patch.jar"))?;
            unpack::place(&fitting.join("classes.jar"), &out.join("classes/patch.jar"))?;
            boot.insert(0, "patch.jar");
            hidden.insert(0, "patch.jar");
            classes.insert(0, "classes/patch.jar");
        }
        let mut image = PathBuf::from("/nonexistent.art");
        if let Some(program) = &parts.ahead {
            unpack::place(program, &out.join(ahead::PROGRAM))?;
            self.progress.say("compile the boot class path");
            ahead::boot_image(out, home, &bed.preload, &boot)?;
            image = home.join(ahead::IMAGE);
        }
        let strings = |list: Vec<&str>| list.into_iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut manifest = Manifest {
            name: bed.name.clone(),
            art: bed.art.clone(),
            api_level: bed.api_level,
            package_version: bed.package_version.clone(),
            arch: self.spec.arch.name().into(),
            boot_class_path: strings(boot),
            boot_class_path_hidden_api: strings(hidden),
            library_path: vec!["lib".into()],
            preload: bed.preload.clone(),
            vm_options: vec![
                format!("-Ximage:{}", image.display()),
                "-Xnoimage-dex2oat".into(),
                format!("-Xusejit:{}", parts.compiler.is_some() && parts.ahead.is_none()),
                format!("-Xmx{HEAP_MIB}m"),
                format!("-Dloopbox.sdk={}", bed.api_level),
            ],
            libart: bed.libart.clone(),
            dlopen_first: bed.dlopen_first.clone(),
            runner: Vec::new(),
            env: environment(home),
            build: Build {
                java_class_path: strings(classes),
                dx: "dx/dx.jar".into(),
                key: key.to_owned(),
                sysroot: self.spec.foreign.as_ref().map(|_| self.sysroot()).transpose()?,
            },
        };
        if parts.ahead.is_some() {
            manifest.vm_options.push("-Xnorelocate".into());
        }
        match &self.spec.foreign {
            Some(foreign) => self.emulated(foreign, out, home, &mut manifest)?,
            None if bed.own_libc => self.with_own_loader(home, &mut manifest),
            None => (),
        }
        manifest.write(out)
    }

    /// The bed's own loader runs the host program.
    fn with_own_loader(&self, home: &Path, manifest: &mut Manifest) {
        // The loader's own options reach the host program only; variables would also reach the programs of the
        // machine that it starts, which have another libc.
        let lib = home.join("lib").display().to_string();
        let loader = format!("{lib}/{}", self.spec.arch.loader());
        let preload = manifest.preload.join(":");
        manifest.runner = vec![loader, "--library-path".into(), lib, "--preload".into(), preload];
        manifest.library_path = Vec::new();
        manifest.preload = Vec::new();
    }

    /// An emulator runs the host program, whose loader it finds below `machine` in the bed. The emulator is linked
    /// statically, so that the variables for the loader mean nothing to it.
    fn emulated(&self, foreign: &Foreign, out: &Path, home: &Path, manifest: &mut Manifest) -> Result<()> {
        let package = foreign.packages.iter().find(|p| p.purpose == Use::Emulator);
        let debs = self.debs(&[package.context("no package brings the emulator")?]);
        let deb = debs.first().context("the emulator was not downloaded")?;
        let key = Key::new("emulator", VERSION).with(&deb.sha256).with(&foreign.emulator);
        let unpacked = self
            .cache
            .step("emulator", &key, |out| unpack::one_file(deb, &foreign.emulator, &out.join("emulator")))?;
        unpack::place(&unpacked.join("emulator"), &out.join("emulator"))?;
        let loader = self.spec.arch.loader();
        fs::create_dir_all(out.join("machine/lib")).context("cannot create machine/lib")?;
        symlink(Path::new("../../lib").join(loader), out.join("machine/lib").join(loader))
            .with_context(|| format!("cannot create {loader}"))?;
        manifest.runner = vec![home.join("emulator").display().to_string()];
        manifest.runner.extend(foreign.options.iter().cloned());
        manifest.runner.extend(["-L".into(), home.join("machine").display().to_string()]);
        manifest.preload.splice(0..0, foreign.preload.iter().cloned());
        Ok(())
    }

    fn place_libraries(&self, lib: &Path, natives: &Path) -> Result<()> {
        unpack::gather_libraries(&self.runtime()?, self.spec.arch, lib)?;
        for entry in fs::read_dir(natives.join("lib"))? {
            let file = entry?.path();
            let name = file.file_name().context("a library without a name")?;
            remove(&lib.join(name))?;
            unpack::place(&file, &lib.join(name))?;
        }
        for (name, file) in &self.spec.bed.links {
            symlink(file, lib.join(name)).with_context(|| format!("cannot create {name}"))?;
        }
        let Some(file) = &self.spec.bed.code_patches else { return Ok(()) };
        let patches: CodePatches = read_toml(&self.spec.folder.join(file))?;
        let library = lib.join(&patches.file);
        let mended = lib.join(format!("{}.mended", patches.file));
        patches.apply(&library, &mended)?;
        fs::rename(&mended, &library).with_context(|| format!("cannot replace {}", library.display()))
    }
}

/// The results of the compilations.
struct Parts {
    libcore: Libcore,
    framework: Framework,
    natives: PathBuf,
    fitting: Option<PathBuf>,
    compiler: Option<PathBuf>,
    ahead: Option<PathBuf>,
}

/// The variables that name Android's folders. Nothing is in them; the runtime only wants them to exist.
pub(crate) fn environment(home: &Path) -> std::collections::BTreeMap<String, String> {
    let root = home.join("root").display().to_string();
    let mut environment = std::collections::BTreeMap::new();
    for name in ["ROOT", "RUNTIME_ROOT", "ART_ROOT", "I18N_ROOT", "TZDATA_ROOT"] {
        environment.insert(format!("ANDROID_{name}"), root.clone());
    }
    environment.insert("ANDROID_DATA".into(), home.join("data").display().to_string());
    environment
}

/// Removes finished beds that no name points to and that are older than two weeks.
pub(crate) fn prune(beds: &Path) -> Result<()> {
    let context = || format!("cannot read {}", beds.display());
    let mut named = Vec::new();
    for entry in fs::read_dir(beds).with_context(context)? {
        named.extend(fs::canonicalize(entry.with_context(context)?.path()));
    }
    Cache::open(&beds.join("store"))?.prune(&named)
}

/// Lets `target/bed/<name>` point to a finished bed, in one step: processes that use the old one go on.
pub(crate) fn publish(link: &Path, finished: &Path) -> Result<()> {
    let new = link.with_extension(format!("new-{}", std::process::id()));
    remove(&new)?;
    let name = finished.file_name().context("a bed without a name")?;
    symlink(Path::new("store").join(name), &new)
        .with_context(|| format!("cannot create {}", new.display()))?;
    if fs::symlink_metadata(link).is_ok_and(|about| about.is_dir()) {
        remove(link)?;
    }
    fs::rename(&new, link).with_context(|| format!("cannot create {}", link.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishing_replaces_the_link_and_keeps_the_old_bed() {
        let folder = tempfile::tempdir().unwrap();
        let bed = |name: &str| {
            let bed = folder.path().join("store").join(name);
            fs::create_dir_all(&bed).unwrap();
            fs::write(bed.join("which"), name).unwrap();
            bed
        };
        let link = folder.path().join("art10");
        let which = || fs::read_to_string(link.join("which")).unwrap();
        let first = bed("art10-1");
        publish(&link, &first).unwrap();
        assert_eq!(which(), "art10-1");
        publish(&link, &bed("art10-2")).unwrap();
        assert_eq!(which(), "art10-2");
        assert!(first.join("which").is_file());
    }
}
