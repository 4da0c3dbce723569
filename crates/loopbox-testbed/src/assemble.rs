//! Builds a testbed: the order of the steps, which of them run in parallel, and how the parts are put
//! together.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, anyhow};
use loopbox_setup::cache::Key;
use loopbox_setup::files::{files_below, remove};
use loopbox_setup::package::{Use, read_toml};
use loopbox_setup::unpack;

use crate::aot;
use crate::builder::{Builder, HEAP_MIB, VERSION};
use crate::code_patch::CodePatches;
use crate::compiler;
use crate::framework::{self, Framework};
use crate::level::{self, LevelClasses};
use crate::libcore::{self, Libcore};
use crate::libcxx;
use crate::local;
use crate::manifest::{Build, Manifest, environment};
use crate::spec::Foreign;
use crate::system;

/// The version of the assembly: it changes when testbeds are assembled in another way from the same parts.
pub(crate) const ASSEMBLY: u32 = 4;

/// The results of the compilations.
struct Parts {
    libcore: Libcore,
    framework: Framework,
    level: Option<LevelClasses>,
    natives: PathBuf,
    fitting: Option<PathBuf>,
    compiler: Option<PathBuf>,
    aot: Option<PathBuf>,
    libcxx: Option<PathBuf>,
    system: PathBuf,
}

impl Builder<'_> {
    /// Makes the testbed in `out`, which will later be known as `home`.
    pub(crate) fn build(&self, out: &Path, home: &Path, key: &str) -> Result<()> {
        let (libcore, framework, natives) = self.compile()?;
        let fitting = libcore::fit(self, &libcore)?;
        let compiler = compiler::build(self)?;
        let aot = aot::build(self, compiler.as_deref())?;
        let libcxx = libcxx::build(self)?;
        let level = level::build(self, &libcore.classes, &framework.classes)?;
        let system = system::image(self, &libcore.classes)?;
        self.progress.say("put the testbed together");
        let parts = Parts { libcore, framework, level, natives, fitting, compiler, aot, libcxx, system };
        self.put_together(out, home, key, &parts)
    }

    /// Compiles libcore's and the framework's Java code on this thread. Other threads unpack the framework,
    /// which takes long, and compile the natives.
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
        let testbed = &self.spec.testbed;
        let lib = out.join("lib");
        for folder in [&lib, &out.join("root/bin"), &out.join("root/lib"), &out.join("data/dalvik-cache")] {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        self.place_libraries(&lib, &parts.natives)?;
        if let Some(compiler) = &parts.compiler {
            unpack::place(compiler, &lib.join(compiler::LIBRARY))?;
        }
        if let Some(libart) = &parts.libcxx {
            remove(&lib.join(&testbed.libart))?;
            unpack::place(libart, &lib.join(&testbed.libart))?;
        }

        let mut boot = vec!["core.jar", "framework.jar"];
        let mut hidden = vec!["core.jar", "framework-hidden.jar"];
        let mut classes = vec!["classes/core.jar", "classes/framework.jar"];
        unpack::place(&parts.libcore.core, &out.join("core.jar"))?;
        unpack::place(&parts.framework.dexed, &out.join("framework.jar"))?;
        unpack::place(&parts.framework.hidden, &out.join("framework-hidden.jar"))?;
        unpack::place(&parts.libcore.classes, &out.join("classes/core.jar"))?;
        unpack::place(&parts.framework.classes, &out.join("classes/framework.jar"))?;
        for file in files_below(&parts.system)? {
            let inside = file.strip_prefix(&parts.system).unwrap_or(&file);
            unpack::place(&file, &out.join(system::FOLDER).join(inside))?;
        }
        if let Some(level) = &parts.level {
            unpack::place(&level.dexed, &out.join("level.jar"))?;
            unpack::place(&level.hidden, &out.join("level-hidden.jar"))?;
            boot.insert(0, "level.jar");
            hidden.insert(0, "level-hidden.jar");
        }
        if let Some(fitting) = &parts.fitting {
            unpack::place(&fitting.join("patch.jar"), &out.join("patch.jar"))?;
            unpack::place(&fitting.join("classes.jar"), &out.join("classes/patch.jar"))?;
            boot.insert(0, "patch.jar");
            hidden.insert(0, "patch.jar");
            classes.insert(0, "classes/patch.jar");
        }
        let mut image = PathBuf::from("/nonexistent.art");
        if let Some(program) = &parts.aot {
            unpack::place(program, &out.join(aot::PROGRAM))?;
            self.progress.say("compile the boot class path");
            aot::boot_image(out, home, &testbed.preload, &boot)?;
            image = home.join(aot::IMAGE);
        }
        let api_level = self.spec.level.as_ref().map_or(testbed.api_level, |level| level.framework.api);
        let strings = |list: Vec<&str>| list.into_iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut manifest = Manifest {
            name: testbed.name.clone(),
            art: testbed.art.clone(),
            api_level,
            package_version: testbed.package_version.clone(),
            arch: self.spec.arch.name().into(),
            boot_class_path: strings(boot),
            boot_class_path_hidden_api: strings(hidden),
            library_path: vec!["lib".into()],
            preload: testbed.preload.clone(),
            vm_options: vec![
                format!("-Ximage:{}", image.display()),
                "-Xnoimage-dex2oat".into(),
                format!("-Xusejit:{}", parts.compiler.is_some() && parts.aot.is_none()),
                format!("-Xmx{HEAP_MIB}m"),
                format!("-Dloopbox.sdk={api_level}"),
            ],
            libart: testbed.libart.clone(),
            dlopen_first: testbed.dlopen_first.clone(),
            runner: Vec::new(),
            env: environment(home),
            build: Build {
                java_class_path: strings(classes),
                framework: "classes/framework.jar".into(),
                system: system::FOLDER.into(),
                key: key.to_owned(),
                sysroot: self.spec.foreign.as_ref().map(|_| self.sysroot()).transpose()?,
            },
        };
        manifest.vm_options.extend(testbed.vm_options.iter().cloned());
        if parts.aot.is_some() {
            manifest.vm_options.push("-Xnorelocate".into());
        }
        let foreign = self.spec.foreign.as_ref();
        manifest
            .preload
            .splice(0..0, foreign.into_iter().flat_map(|foreign| foreign.preload.iter().cloned()));
        if let Some((foreign, emulator)) = foreign.and_then(|f| Some((f, f.emulator.as_ref()?))) {
            self.emulated(foreign, emulator, out, home, &mut manifest)?;
        } else if foreign.is_some() || testbed.own_libc {
            self.with_own_loader(home, &mut manifest);
        }
        manifest.write(out)
    }

    /// Sets up the testbed so that its own loader runs the host program.
    fn with_own_loader(&self, home: &Path, manifest: &mut Manifest) {
        // The loader's own options reach the host program only; variables would also reach the programs of
        // the machine that it starts, which have another libc.
        let lib = home.join("lib").display().to_string();
        let loader = format!("{lib}/{}", self.spec.arch.loader());
        let preload = manifest.preload.join(":");
        manifest.runner = vec![loader, "--library-path".into(), lib, "--preload".into(), preload];
        manifest.library_path = Vec::new();
        manifest.preload = Vec::new();
    }

    /// Sets up the testbed so that an emulator runs the host program. The emulator finds that program's
    /// loader below `machine` in the testbed. The emulator is linked statically, so that the loader's
    /// variables do not affect it.
    fn emulated(
        &self,
        foreign: &Foreign,
        emulator: &str,
        out: &Path,
        home: &Path,
        manifest: &mut Manifest,
    ) -> Result<()> {
        let package = foreign.packages.iter().find(|p| p.purpose == Use::Emulator);
        let debs = self.debs(&[package.context("no package brings the emulator")?]);
        let deb = debs.first().context("the emulator was not downloaded")?;
        let key = Key::new("emulator", VERSION).with(&deb.sha256).with(emulator);
        let unpacked = self
            .cache
            .step("emulator", &key, |out| unpack::one_file(deb, emulator, &out.join("emulator")))?;
        unpack::place(&unpacked.join("emulator"), &out.join("emulator"))?;
        let loader = self.spec.arch.loader();
        fs::create_dir_all(out.join("machine/lib")).context("cannot create machine/lib")?;
        symlink(Path::new("../../lib").join(loader), out.join("machine/lib").join(loader))
            .with_context(|| format!("cannot create {loader}"))?;
        manifest.runner = vec![home.join("emulator").display().to_string()];
        manifest.runner.extend(foreign.options.iter().cloned());
        manifest.runner.extend(["-L".into(), home.join("machine").display().to_string()]);
        Ok(())
    }

    fn place_libraries(&self, lib: &Path, natives: &Path) -> Result<()> {
        unpack::gather_libraries(&self.runtime()?, self.spec.arch, lib)?;
        if let Some(folder) = &self.spec.local {
            local::copy_libraries(folder, lib)?;
        }
        for entry in fs::read_dir(natives.join("lib"))? {
            let file = entry?.path();
            let name = file.file_name().context("a library without a name")?;
            remove(&lib.join(name))?;
            unpack::place(&file, &lib.join(name))?;
        }
        for (name, file) in &self.spec.testbed.links {
            remove(&lib.join(name))?;
            symlink(file, lib.join(name)).with_context(|| format!("cannot create {name}"))?;
        }
        let testbed = &self.spec.testbed;
        let has_jit = self.spec.compiler.is_some() && self.spec.aot.is_none();
        let of_jit = testbed.jit_code_patches.iter().filter(|_| has_jit);
        for file in testbed.code_patches.iter().chain(of_jit) {
            let patches: CodePatches = read_toml(&self.spec.folder.join(file))?;
            let library = lib.join(&patches.file);
            let mended = lib.join(format!("{}.mended", patches.file));
            patches.apply(&library, &mended)?;
            fs::rename(&mended, &library).with_context(|| format!("cannot replace {}", library.display()))?;
        }
        Ok(())
    }
}
