//! libcore 10: the Java library and its natives, compiled from Debian's source package.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

use crate::blueprint::file_group;
use crate::builder::{Builder, HEAP_MIB};
use crate::java::{Against, DexOf, d8, javac};
use crate::patch::Tree;
use crate::spec::NativeLibrary;
use loopbox_setup::cache::Key;
use loopbox_setup::command::{for_each, run};
use loopbox_setup::jar;
use loopbox_setup::r8::R8;
use loopbox_setup::unpack;

/// The list of Java files to compile, one per line, in a patched source folder.
const FILES: &str = "java-files.txt";

/// The parts of libcore that are compiled once for all testbeds.
pub(crate) struct Libcore {
    /// Patched sources.
    pub(crate) source: PathBuf,
    /// The jar of class files, `classes.jar`.
    pub(crate) classes: PathBuf,
    /// The dexed jar, `core.jar`.
    pub(crate) core: PathBuf,
}

/// Compiles and dexes the Java part of the patched sources.
pub(crate) fn java(builder: &Builder<'_>, source: &Path) -> Result<Libcore> {
    let classes = classes(builder, source)?;
    let key = builder.key("core").with_path(&classes.join("classes.jar"))?.with(R8::identity());
    let core = builder.cache.step("core", &key, |out| {
        builder.progress.say("dex libcore");
        d8(&builder.r8, &[classes.join("classes.jar")], DexOf::Core, &[], &out.join("core.jar"))
    })?;
    Ok(Libcore {
        source: source.to_owned(),
        classes: classes.join("classes.jar"),
        core: core.join("core.jar"),
    })
}

/// The patched sources; also what the natives are compiled from.
pub(crate) fn source(builder: &Builder<'_>) -> Result<PathBuf> {
    let spec = &builder.spec.common.libcore;
    let patches = builder.spec.folder.join("patches/libcore");
    let archive = builder.source(&spec.source)?;
    let key = builder
        .key("libcore-source")
        .with(&archive.sha256)
        .with(&format!("{:?} {:?}", spec.source.unpack, spec.java))
        .with_path(&patches)?;
    builder.cache.step("libcore-source", &key, |out| {
        builder.progress.say("unpack and patch libcore");
        unpack::source(&archive, &spec.source, out)?;
        let mut tree = Tree::in_place(out);
        tree.apply_folder(&patches)?;
        let mut files = Vec::new();
        for java in &spec.java {
            let blueprint = out.join(&java.blueprint);
            let text = fs::read_to_string(&blueprint)
                .with_context(|| format!("cannot read {}", blueprint.display()))?;
            for group in &java.groups {
                files.extend(file_group(&text, group)?);
            }
        }
        files.retain(|file| !tree.dropped().contains(file));
        files.sort();
        files.dedup();
        fs::write(out.join(FILES), files.join("\n")).context("cannot write the list of Java files")
    })
}

fn classes(builder: &Builder<'_>, source: &Path) -> Result<PathBuf> {
    let icu4j = builder.icu4j.clone();
    let key = builder.key("libcore-classes").with(&key_of(source)).with(&builder.icu4j_sha256);
    builder.cache.step("libcore-classes", &key, |out| {
        let list = fs::read_to_string(source.join(FILES)).context("cannot read the list of Java files")?;
        let files: Vec<PathBuf> = list.lines().map(|file| source.join(file)).collect();
        builder.progress.say(format!("compile libcore: {} Java files", files.len()));
        let classes = out.join("classes");
        javac(builder.tools, &files, &Against::Boot(&[icu4j]), &classes)?;
        jar::pack(&classes, &out.join("classes.jar"))?;
        loopbox_setup::files::remove(&classes)
    })
}

/// Without optimisation the natives are built fast. They run slower, but apps spend almost no time in them.
const OPTIMISATION: &str = "-O0";

/// The natives of libcore in a folder `lib`; one build serves every testbed.
pub(crate) fn natives(builder: &Builder<'_>, source: &Path) -> Result<PathBuf> {
    let shims = builder.spec.folder.join("native");
    let libraries = &builder.spec.common.libcore.libraries;
    let sysroot = builder.sysroot()?;
    let key = builder
        .key("natives")
        .with(&key_of(source))
        .with(&key_of(&sysroot))
        .with(&format!("{libraries:?} {:?} {HEAP_MIB}", builder.native_stubs()))
        .with(&builder.cross_identity)
        .with(OPTIMISATION)
        .with_path(&shims)?;
    builder.cache.step("natives", &key, |out| {
        let lib = out.join("lib");
        let objects = out.join("objects");
        for folder in [&lib, &objects] {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let natives =
            Natives { builder, source, shims: &shims, sysroot: &sysroot, lib: &lib, objects: &objects };
        natives.build(libraries)?;
        loopbox_setup::files::remove(&objects)
    })
}

/// The key of a cached result: the name of its folder, which identifies its content.
fn key_of(result: &Path) -> String {
    result.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// One build of the natives.
struct Natives<'a> {
    builder: &'a Builder<'a>,
    source: &'a Path,
    shims: &'a Path,
    sysroot: &'a Path,
    lib: &'a Path,
    objects: &'a Path,
}

/// A source file and the object that it becomes.
struct Unit {
    source: PathBuf,
    object: PathBuf,
}

impl Natives<'_> {
    fn build(&self, libraries: &[NativeLibrary]) -> Result<()> {
        let units: Vec<Vec<Unit>> = libraries.iter().map(|l| self.units(l)).collect::<Result<_>>()?;
        let all: Vec<&Unit> = units.iter().flatten().collect();
        self.builder.progress.say(format!("compile libcore's natives: {} C and C++ files", all.len()));
        for_each(&all, |unit| self.compile_one(unit))?;
        for (library, units) in libraries.iter().zip(&units) {
            self.link(library, units)?;
        }
        for stub in self.builder.native_stubs() {
            for name in &stub.names {
                self.stub(&self.shims.join(&stub.source), name)?;
            }
        }
        Ok(())
    }

    fn stub(&self, source: &Path, name: &str) -> Result<()> {
        let mut cxx = self.builder.cxx(self.sysroot);
        cxx.args(["-shared", "-fPIC", "-O1", "-s", "-x", "c"]);
        cxx.arg("-I").arg(self.sysroot.join("usr/include/android/nativehelper"));
        cxx.arg(format!("-Wl,-soname,{name}")).arg(source).arg("-o").arg(self.lib.join(name));
        run(&mut cxx).with_context(|| format!("cannot build {name}"))?;
        Ok(())
    }

    fn units(&self, library: &NativeLibrary) -> Result<Vec<Unit>> {
        let blueprint = self.source.join(&library.blueprint);
        let text =
            fs::read_to_string(&blueprint).with_context(|| format!("cannot read {}", blueprint.display()))?;
        let folder = self.source.join(&library.folder);
        let group = file_group(&text, &library.group)?;
        for name in &library.leave_out {
            anyhow::ensure!(group.contains(name), "{} has no {name} to leave out", library.group);
        }
        let of_group = group.iter().filter(|f| !library.leave_out.contains(f)).map(|f| folder.join(f));
        let extra = library.extra.iter().map(|f| self.source.join(f));
        let shims = library.shims.iter().map(|f| self.shims.join(f));
        let unit = |source: PathBuf| {
            let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let object = self.objects.join(format!("{}-{name}.o", library.name));
            Unit { source, object }
        };
        Ok(of_group.chain(extra).chain(shims).map(unit).collect())
    }

    fn compile_one(&self, unit: &Unit) -> Result<()> {
        let is_c = unit.source.extension().is_some_and(|e| e == "c");
        let mut cxx = self.builder.cxx(self.sysroot);
        cxx.args(if is_c { ["-x", "c"] } else { ["-x", "c++"] });
        if !is_c {
            // The second is for clang, which stops at a template of jni_macros.h.
            cxx.args(["-std=gnu++17", "-Wno-invalid-partial-specialization"]);
        }
        cxx.args(["-c", "-fPIC", OPTIMISATION, "-w", "-fvisibility=default"]);
        cxx.args(["-DLINUX", "-D_GNU_SOURCE", "-D_LARGEFILE64_SOURCE", "-DU_USING_ICU_NAMESPACE=0"]);
        cxx.arg(format!("-DTESTBED_HEAP_MIB={HEAP_MIB}"));
        cxx.arg("-include").arg(self.shims.join("compat.h"));
        let include = self.sysroot.join("usr/include");
        let folders = [
            self.shims.join("include"),
            include.join("android"),
            include.join("android/nativehelper"),
            self.source.join("luni/src/main/native"),
            self.source.join("ojluni/src/main/native"),
        ];
        for folder in folders {
            cxx.arg("-I").arg(folder);
        }
        if self.builder.spec.foreign.is_none() {
            // Debian's libraries of the testbed's release go before those that may be installed.
            let triplet = self.builder.spec.arch.triplet();
            cxx.arg("-isystem").arg(include.join(triplet)).arg("-isystem").arg(include);
        }
        run(cxx.arg(&unit.source).arg("-o").arg(&unit.object))
            .with_context(|| format!("cannot compile {}", unit.source.display()))?;
        Ok(())
    }

    fn link(&self, library: &NativeLibrary, units: &[Unit]) -> Result<()> {
        let mut cxx = self.builder.cxx(self.sysroot);
        cxx.args(["-shared", "-Wl,--no-undefined", "-Wl,-Bsymbolic", "-s"]);
        cxx.arg(format!("-Wl,-soname,{}", library.name));
        cxx.arg(format!("-Wl,--version-script={}", self.shims.join("exports.map").display()));
        cxx.args(units.iter().map(|u| &u.object)).arg("-L").arg(self.lib);
        for folder in unpack::library_folders(self.sysroot, self.builder.spec.arch) {
            cxx.arg("-L").arg(&folder).arg(format!("-Wl,-rpath-link,{}", folder.display()));
        }
        cxx.args(library.link.iter().map(|name| format!("-l:{name}")));
        run(cxx.arg("-o").arg(self.lib.join(&library.name)))
            .map_err(|error| anyhow!("cannot link {}: {error}", library.name))?;
        Ok(())
    }
}

/// Makes libcore 10 fit a newer runtime: compiles its patched classes into `classes.jar`, and their dex code
/// into `patch.jar`. Returns the folder of both; `None` when the testbed has no patches.
pub(crate) fn fit(builder: &Builder<'_>, libcore: &Libcore) -> Result<Option<PathBuf>> {
    let folders = &builder.spec.testbed.patches;
    if folders.is_empty() {
        return Ok(None);
    }
    let has_records = builder.spec.testbed.api_level >= 34;
    let of = if has_records { DexOf::CoreWithRecords } else { DexOf::Core };
    let mut key: Key = builder
        .key("patch")
        .with(&key_of(&libcore.source))
        .with_path(&libcore.classes)?
        .with(&builder.icu4j_sha256)
        .with(&format!("{of:?}"))
        .with(R8::identity());
    for folder in folders {
        key = key.with_path(&builder.spec.folder.join("patches").join(folder))?;
    }
    let result = builder.cache.step("patch", &key, |out| {
        let sources = out.join("sources");
        let mut tree = Tree::over(&libcore.source, &sources);
        for folder in folders {
            tree.apply_folder(&builder.spec.folder.join("patches").join(folder))?;
        }
        let files: Vec<PathBuf> = tree.changed().iter().map(|file| sources.join(file)).collect();
        builder.progress.say(format!(
            "compile {} classes of libcore for ART {}",
            files.len(),
            builder.spec.testbed.art
        ));
        let classes = out.join("classes");
        let boot = [libcore.classes.clone(), builder.icu4j.clone()];
        javac(builder.tools, &files, &Against::Boot(&boot), &classes)?;
        jar::pack(&classes, &out.join("classes.jar"))?;
        loopbox_setup::files::remove(&classes)?;
        d8(&builder.r8, &[out.join("classes.jar")], of, &boot[..1], &out.join("patch.jar"))
    })?;
    Ok(Some(result))
}
