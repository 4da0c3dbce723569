//! Builds the compiler of a runtime, which Debian does not package, from the source package of its libart.
//!
//! libart opens `libart-compiler.so` by that name when the JIT is on. It reads the runtime's own structures,
//! so it must be built from the same sources, with Debian's patches and macros, and linked with the same
//! libart.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::blueprint::codegen_sources;
use crate::builder::Builder;
use crate::patch::Tree;
use crate::spec::Compiler;
use loopbox_setup::cache::Key;
use loopbox_setup::command::{command, for_each, run};
use loopbox_setup::tools::CompilerTools;
use loopbox_setup::unpack;

/// The file name by which libart loads the compiler.
pub(crate) const LIBRARY: &str = "libart-compiler.so";

/// The compiler of the testbed, if it needs one: found in the cache or built in about a minute.
pub(crate) fn build(builder: &Builder<'_>) -> Result<Option<PathBuf>> {
    let Some(spec) = &builder.spec.compiler else { return Ok(None) };
    let tools = CompilerTools::ensure()?;
    let patches = builder.spec.folder.join("compiler/patches");
    let key = key(builder, spec, &tools, "compiler")?.with_path(&patches)?;
    let result = builder.cache.step("compiler", &key, |out| {
        let work = out.join("work");
        let mut build = Build::prepare(builder, spec, &tools, &work, &[])?;
        // It compiles some hundred methods: a quarter less time to build it counts for more than how fast it
        // is.
        build.flags.push("-O0".into());
        Tree::in_place(&build.source).apply_folder(&patches)?;
        build.library(&out.join(LIBRARY))?;
        loopbox_setup::files::remove(&work)
    })?;
    Ok(Some(result.join(LIBRARY)))
}

/// A key that covers what all builds from the runtime's source depend on: tools, flags, headers and
/// libraries.
pub(crate) fn key(builder: &Builder<'_>, spec: &Compiler, tools: &CompilerTools, step: &str) -> Result<Key> {
    let name = |folder: &Path| folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let key = builder.key(step).with(&tools.identity()?).with(&format!("{spec:?}"));
    Ok(key.with(&name(&headers(builder, spec)?)).with(&name(&builder.runtime()?)))
}

fn headers(builder: &Builder<'_>, spec: &Compiler) -> Result<PathBuf> {
    builder.unpacked("headers", &builder.debs(&spec.own.packages.iter().collect::<Vec<_>>()))
}

/// Unpacks the source and applies Debian's patches, as its package build does.
fn unpacked_source(
    builder: &Builder<'_>,
    spec: &Compiler,
    tools: &CompilerTools,
    work: &Path,
    more: &[String],
) -> Result<PathBuf> {
    let source = work.join("source");
    fs::create_dir_all(&source).with_context(|| format!("cannot create {}", source.display()))?;
    let mut archive = spec.own.source.clone();
    archive.unpack.extend_from_slice(more);
    unpack::source(&builder.source(&archive)?, &archive, &source)?;
    let source = source.join(&spec.own.folder);
    unpack::source(&builder.source(&spec.own.packaging)?, &spec.own.packaging, &source)?;
    let patches = source.join("debian/patches");
    let series = fs::read_to_string(patches.join("series")).context("Debian's packaging has no patches")?;
    for patch in series.split_whitespace() {
        let mut apply = command(&tools.patch, ["--strip=1", "--silent", "--batch", "--input"]);
        run(apply.arg(patches.join(patch)).current_dir(&source))
            .with_context(|| format!("Debian's {patch} does not apply"))?;
    }
    Ok(source)
}

/// One build from a runtime's source: the sources, the tools and the flags that its steps share.
pub(crate) struct Build<'a> {
    builder: &'a Builder<'a>,
    spec: &'a Compiler,
    tools: &'a CompilerTools,
    /// The unpacked source.
    pub(crate) source: PathBuf,
    headers: PathBuf,
    runtime: PathBuf,
    generated: PathBuf,
    /// Additional flags for every C++ file.
    pub(crate) flags: Vec<OsString>,
}

impl<'a> Build<'a> {
    /// Unpacks the source into `work`. `more` names files of the archive that are needed in addition to those
    /// of the compiler.
    pub(crate) fn prepare(
        builder: &'a Builder<'a>,
        spec: &'a Compiler,
        tools: &'a CompilerTools,
        work: &Path,
        more: &[String],
    ) -> Result<Self> {
        let source = unpacked_source(builder, spec, tools, work, more)?;
        let generated = work.join("generated");
        fs::create_dir_all(&generated).with_context(|| format!("cannot create {}", generated.display()))?;
        let (headers, runtime) = (headers(builder, spec)?, builder.runtime()?);
        Ok(Self { builder, spec, tools, source, headers, runtime, generated, flags: Vec::new() })
    }

    fn library(&self, out: &Path) -> Result<()> {
        let blueprint = self.source.join("compiler/Android.bp");
        let text =
            fs::read_to_string(&blueprint).with_context(|| format!("cannot read {}", blueprint.display()))?;
        // The generator of 64-bit code uses parts of the 32-bit one.
        let listed = codegen_sources(&text, "libart-compiler-defaults", &["x86_64", "x86"])?;
        let mut sources: Vec<PathBuf> =
            listed.iter().map(|file| self.source.join("compiler").join(file)).collect();
        sources.extend(self.spec.common.extra.iter().map(|file| self.source.join(file)));
        self.asm_defines()?;
        sources.push(self.operators("compiler", &self.spec.common.operators)?);
        let art = &self.builder.spec.testbed.art;
        self.builder
            .progress
            .say(format!("compile the compiler of ART {art}: {} files, about half a minute", sources.len()));
        let headers = self.precompiled(&self.spec.common.precompiled)?;
        let sources = self.joined(sources)?;
        let objects = self.objects("objects", sources, &["-include-pch".as_ref(), headers.as_os_str()])?;
        let mut link = self.link();
        link.args(["-shared", "-s"]).arg(format!("-Wl,-soname,{LIBRARY}")).args(objects);
        link.arg(format!("-l:{}", self.builder.spec.testbed.libart)).arg("-l:libbase.so.0");
        run(link.arg("-o").arg(out)).with_context(|| format!("cannot link {LIBRARY}"))?;
        Ok(())
    }

    /// Writes sources that each include some of these sources: the compilation of such a source takes hardly
    /// longer than that of a single one. Only sources of one folder fit together.
    fn joined(&self, sources: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
        const TOGETHER: usize = 12;
        let alone: Vec<PathBuf> = self.spec.common.alone.iter().map(|file| self.source.join(file)).collect();
        let is_joined = |file: &PathBuf| file.extension().is_some_and(|e| e == "cc") && !alone.contains(file);
        let (mut together, mut joined): (Vec<PathBuf>, Vec<PathBuf>) =
            sources.into_iter().partition(is_joined);
        together.sort();
        let of_folders = together.chunk_by(|one, next| one.parent() == next.parent());
        for (number, group) in of_folders.flat_map(|folder| folder.chunks(TOGETHER)).enumerate() {
            let file = self.generated.join(format!("joined{number}.cc"));
            let lines = group.iter().map(|source| format!("#include \"{}\"\n", source.display()));
            fs::write(&file, lines.collect::<String>())
                .with_context(|| format!("cannot write {}", file.display()))?;
            joined.push(file);
        }
        Ok(joined)
    }

    /// The headers that most of the sources include, precompiled: parsing them takes three quarters of the
    /// time.
    pub(crate) fn precompiled(&self, headers: &[String]) -> Result<PathBuf> {
        let list = self.generated.join("precompiled.h");
        let lines: Vec<String> = headers.iter().map(|file| format!("#include \"{file}\"\n")).collect();
        fs::write(&list, lines.concat()).with_context(|| format!("cannot write {}", list.display()))?;
        let precompiled = list.with_extension("pch");
        let mut clang = self.clang();
        clang
            .args(["-fpch-instantiate-templates", "-x", "c++-header"])
            .arg(&list)
            .arg("-o")
            .arg(&precompiled);
        run(&mut clang).context("cannot compile the headers that are read once")?;
        Ok(precompiled)
    }

    /// Compiles sources into the folder `folder` of generated files. `more` has additional arguments for C++;
    /// assembly code only gets the macros and the folders of headers.
    pub(crate) fn objects(
        &self,
        folder: &str,
        sources: Vec<PathBuf>,
        more: &[&OsStr],
    ) -> Result<Vec<PathBuf>> {
        let objects = self.generated.join(folder);
        fs::create_dir_all(&objects).with_context(|| format!("cannot create {}", objects.display()))?;
        let units: Vec<(PathBuf, PathBuf)> = sources
            .into_iter()
            .enumerate()
            .map(|(number, source)| (source, objects.join(format!("{number}.o"))))
            .collect();
        for_each(&units, |(source, object)| {
            let mut clang = if source.extension().is_some_and(|ending| ending == "S") {
                let mut clang = command(&self.tools.clang, ["-x", "assembler-with-cpp", "-fPIC"]);
                self.add_macros_and_headers(&mut clang);
                clang
            } else {
                let mut clang = self.clang();
                clang.args(more);
                clang
            };
            run(clang.arg("-c").arg(source).arg("-o").arg(object))
                .with_context(|| format!("cannot compile {}", source.display()))
                .map(drop)
        })?;
        Ok(units.into_iter().map(|(_, object)| object).collect())
    }

    /// The linker, which knows where the runtime's libraries are.
    pub(crate) fn link(&self) -> std::process::Command {
        let mut link = command(&self.tools.clang, ["-fuse-ld=lld"]);
        for folder in unpack::library_folders(&self.runtime, self.builder.spec.arch) {
            link.arg("-L").arg(folder);
        }
        link
    }

    /// Generates the header of offsets for assembly code, which some other headers include too.
    pub(crate) fn asm_defines(&self) -> Result<()> {
        let tool = self.source.join("tools/cpp-define-generator");
        let assembly = self.generated.join("asm_defines.s");
        run(self.clang().arg("-S").arg(tool.join("asm_defines.cc")).arg("-o").arg(&assembly))
            .context("cannot compile asm_defines.cc")?;
        let text = run(command(&self.tools.python, [tool.join("make_header.py")]).arg(assembly))?;
        fs::write(self.generated.join("asm_defines.h"), text).context("cannot write asm_defines.h")
    }

    /// Runs `program`, a Python program of the source that generates `file` from `inputs`. Returns the file's
    /// path.
    pub(crate) fn generate(&self, program: &str, file: &str, inputs: &[PathBuf]) -> Result<PathBuf> {
        let out = self.generated.join(file);
        run(command(&self.tools.python, [self.source.join(program)]).arg(&out).args(inputs))
            .with_context(|| format!("cannot generate {file}"))?;
        Ok(out)
    }

    /// Generates the code that prints the enumerations of some headers in a folder of the source.
    pub(crate) fn operators(&self, folder: &str, headers: &[String]) -> Result<PathBuf> {
        let folder = self.source.join(folder);
        let headers = headers.iter().map(|header| folder.join(header));
        let mut generate = command(&self.tools.python, [self.source.join("tools/generate_operator_out.py")]);
        let text = run(generate.arg(&folder).args(headers))?;
        let file = self.generated.join("operator_out.cc");
        fs::write(&file, text).context("cannot write operator_out.cc")?;
        Ok(file)
    }

    fn clang(&self) -> std::process::Command {
        // Quickly built before fast: it is used for minutes.
        let flags =
            ["-O1", "-fPIC", "-std=gnu++17", "-fno-omit-frame-pointer", "-fno-rtti", "-fno-exceptions"];
        let mut clang = command(&self.tools.clang, flags);
        // libc++ brings these functions in along the way, libstdc++ does not.
        clang.args(["-fstrict-aliasing", "-w", "-include", "cmath"]).args(&self.flags);
        self.add_macros_and_headers(&mut clang);
        clang
    }

    fn add_macros_and_headers(&self, clang: &mut std::process::Command) {
        clang.args(self.spec.common.defines.iter().chain(&self.spec.own.defines).map(|d| format!("-D{d}")));
        clang.arg("-I").arg(&self.generated);
        for folder in &self.spec.common.include {
            clang.arg("-I").arg(self.source.join(folder));
        }
        let android = self.headers.join("usr/include/android");
        clang.arg("-I").arg(&android).arg("-I").arg(android.join("nativehelper"));
    }
}
