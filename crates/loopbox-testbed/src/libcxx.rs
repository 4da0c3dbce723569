//! Builds a runtime from Debian's source package, with LLVM's C++ library, as on phones, in place of GNU's.
//!
//! Functions of libart, and of the libraries that it calls, take strings, lists and streams, whose layouts
//! and mangled names depend on the C++ library. So these libraries and the C++ library are linked into
//! libart, where nothing else sees them. The testbed's other libraries use Debian's builds, with GNU's
//! library.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use loopbox_setup::command::run;
use loopbox_setup::files::{files_below, remove};
use loopbox_setup::tools::CompilerTools;
use loopbox_setup::unpack;

use crate::builder::Builder;
use crate::compiler::{Build, key};
use crate::makefile;
use crate::patch::Tree;
use crate::spec::{Generated, Libcxx};

/// The runtime of the testbed, if it must be built: found in the cache, or built in some ten minutes of
/// processor time.
pub(crate) fn build(builder: &Builder<'_>) -> Result<Option<PathBuf>> {
    let Some(spec) = &builder.spec.libcxx else { return Ok(None) };
    let tools = CompilerTools::ensure()?;
    let patches = builder.spec.folder.join("libcxx/patches");
    let stubs = builder.spec.folder.join("compiler/aot/include");
    let sysroot = builder.sysroot()?;
    let library = builder.unpacked("libcxx", &builder.debs(&spec.own.packages.iter().collect::<Vec<_>>()))?;
    let key = key(builder, &spec.compiler, &tools, "libcxx-runtime")?.with(&format!("{:?}", spec.own));
    let key = key.with_path(&patches)?.with_path(&stubs)?;
    let key = key.with(&library.display().to_string()).with(&sysroot.display().to_string());
    let libart = &builder.spec.testbed.libart;
    let result = builder.cache.step("libcxx-runtime", &key, |out| {
        let work = out.join("work");
        let mut build = Build::prepare(builder, &spec.compiler, &tools, &work, &[])?;
        Tree::in_place(&build.source).apply_folder(&patches)?;
        build.flags = vec!["-nostdinc++".into(), "-isystem".into()];
        build.flags.push(library.join("usr/lib/llvm-14/include/c++/v1").into());
        // As Debian builds it: a call inside of libart does not search another library's function of that
        // name.
        build.flags.push("-fvisibility=protected".into());
        build.flags.extend(spec.own.defines.iter().map(|define| format!("-D{define}").into()));
        // zlib's headers are there, after all others.
        build.flags.extend(["-idirafter".into(), sysroot.join("usr/include").into()]);
        build.flags.extend(["-idirafter".into(), stubs.clone().into()]);
        // The few files first: what is wrong with the tools shows in seconds.
        let mut objects = callees(builder, spec, &build, &work)?;
        objects.extend(runtime(builder, spec, &build)?);
        link(spec, &build, &library, &objects, libart, &out.join(libart))?;
        remove(&work)
    })?;
    Ok(Some(result.join(libart)))
}

/// Compiles what Debian's makefile lists.
fn runtime(builder: &Builder<'_>, spec: &Libcxx, build: &Build<'_>) -> Result<Vec<PathBuf>> {
    let file = build.source.join(&spec.own.makefile);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut sources = Vec::new();
    for (list, folder) in &spec.own.lists {
        let listed = makefile::list(&text, list)?;
        sources.extend(listed.iter().map(|file| build.source.join(folder).join(file)));
    }
    sources.extend(spec.own.extra.iter().map(|file| build.source.join(file)));
    build.asm_defines()?;
    sources.push(build.operators("", &spec.own.operators)?);
    let (mut assembly, sources): (Vec<_>, Vec<_>) =
        sources.into_iter().partition(|file| file.extension() == Some(OsStr::new("S")));
    for generated in &spec.own.generated {
        assembly.push(generate(build, generated)?);
    }
    let art = &builder.spec.testbed.art;
    builder.progress.say(format!(
        "compile ART {art} with libc++: {} files, some ten minutes of processor time",
        sources.len() + assembly.len()
    ));
    let begun = Instant::now();
    let headers = build.precompiled(&spec.own.precompiled)?;
    let mut objects = build.objects("objects", sources, &["-include-pch".as_ref(), headers.as_os_str()])?;
    objects.extend(build.objects("assembly", assembly, &[])?);
    builder.progress.say(format!("compiled in {} s", begun.elapsed().as_secs()));
    Ok(objects)
}

/// Runs a program of the source that generates an assembly file from other assembly files: the named ones,
/// and those in the named folders, sorted by name.
fn generate(build: &Build<'_>, generated: &Generated) -> Result<PathBuf> {
    let mut inputs = Vec::new();
    for path in &generated.of {
        inputs.extend(files_below(&build.source.join(path))?);
    }
    inputs.retain(|file| file.extension() == Some(OsStr::new("S")));
    build.generate(&generated.program, &generated.file, &inputs)
}

/// Compiles the libraries to which libart passes strings and streams. Their functions must be hidden, because
/// the other libraries of the testbed call functions of the same names in Debian's builds.
fn callees(builder: &Builder<'_>, spec: &Libcxx, build: &Build<'_>, work: &Path) -> Result<Vec<PathBuf>> {
    let archive = builder.source(&spec.own.source)?;
    let folder = work.join("callees");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    unpack::source(&archive, &spec.own.source, &folder)?;
    let include: Vec<PathBuf> = spec.own.include.iter().map(|path| folder.join(path)).collect();
    let mut flags: Vec<&OsStr> = vec!["-fvisibility=hidden".as_ref(), "-DZLIB_CONST".as_ref()];
    flags.extend(include.iter().flat_map(|path| [OsStr::new("-I"), path.as_os_str()]));
    let sources = spec.own.sources.iter().map(|file| folder.join(file)).collect();
    build.objects("callees", sources, &flags)
}

fn link(
    spec: &Libcxx,
    build: &Build<'_>,
    library: &Path,
    objects: &[PathBuf],
    name: &str,
    out: &Path,
) -> Result<()> {
    let mut link = build.link();
    link.args(["-shared", "-s", "-nostdlib++", "-Wl,--no-undefined", "-Wl,--exclude-libs,ALL"]);
    link.arg(format!("-Wl,-soname,{name}")).args(objects);
    let archives = library.join("usr/lib/llvm-14/lib");
    link.arg(archives.join("libc++.a")).arg(archives.join("libc++abi.a"));
    link.args(spec.own.libraries.iter().map(|file| format!("-l:{file}")));
    run(link.arg("-o").arg(out)).with_context(|| format!("cannot link {name}"))?;
    Ok(())
}
