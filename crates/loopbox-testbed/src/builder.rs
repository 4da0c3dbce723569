//! What the steps of a build share: the specification, the downloads, the compilers and the cache.

use std::path::{Path, PathBuf};
use std::{fs, process};

use anyhow::{Context, Result};
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::fetch::{Deb, Fetcher};
use loopbox_setup::package::{Package, Source, Use};
use loopbox_setup::progress::Progress;
use loopbox_setup::r8::R8;
use loopbox_setup::tools::{CompilerTools, Tools};
use loopbox_setup::unpack;

use crate::paths;
use crate::spec::{Spec, StubLibrary};

/// The version of the steps' code. It is increased when a change of this code changes the results of a step.
pub(crate) const VERSION: u32 = 3;

/// `-Xmx` of a testbed.
pub(crate) const HEAP_MIB: u32 = 64;

/// What all steps share. [`Self::new`] has downloaded the packages, the source archives and R8. The jar of an
/// API level is downloaded by the step that needs it.
pub(crate) struct Builder<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) tools: &'a Tools,
    pub(crate) progress: &'a Progress,
    pub(crate) cache: Cache,
    pub(crate) r8: R8,
    pub(crate) icu4j: PathBuf,
    pub(crate) icu4j_sha256: String,
    /// What identifies the cross compiler's version, for a testbed of another architecture.
    pub(crate) cross_identity: String,
    cross: Option<CompilerTools>,
    identity: String,
    packages: Vec<(&'a Package, Deb)>,
    sources: Vec<Deb>,
}

impl<'a> Builder<'a> {
    /// Downloads what is missing.
    pub(crate) fn new(spec: &'a Spec, tools: &'a Tools, progress: &'a Progress) -> Result<Self> {
        let testbeds = paths::testbeds();
        let packages = spec.packages();
        let of_compiler = spec.source_build().into_iter().flat_map(|c| [&c.own.source, &c.own.packaging]);
        let of_libcxx = spec.libcxx.iter().map(|libcxx| &libcxx.own.source);
        let sources: Vec<&Source> = [&spec.common.libcore.source, &spec.common.framework.source]
            .into_iter()
            .chain(of_compiler)
            .chain(of_libcxx)
            .collect();
        let (debs, sources) = Fetcher::new(progress)?.all(&packages, &sources)?;
        let cross = spec.foreign.as_ref().map(|_| CompilerTools::ensure()).transpose()?;
        let mut builder = Self {
            spec,
            tools,
            progress,
            cache: Cache::open(&testbeds.join("cache"))?,
            r8: R8::ensure(progress)?,
            icu4j: PathBuf::new(),
            icu4j_sha256: String::new(),
            cross_identity: cross.as_ref().map_or(Ok(String::new()), CompilerTools::identity)?,
            cross,
            identity: tools.identity()?,
            packages: packages.into_iter().zip(debs).collect(),
            sources,
        };
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
        // A cross compiler takes everything from there, also through links that are meant for the root of a
        // machine.
        let key = debs.iter().fold(Key::new("whole-sysroot", VERSION), |key, deb| key.with(&deb.sha256));
        self.cache.step("whole-sysroot", &key, |out| {
            unpack::packages(&debs, out)?;
            unpack::keep_links_inside(out)
        })
    }

    /// The C++ compiler for the testbed's architecture; `sysroot` is what [`Self::sysroot`] gave.
    pub(crate) fn cxx(&self, sysroot: &Path) -> process::Command {
        match &self.cross {
            None => process::Command::new(&self.tools.cxx),
            Some(tools) => tools.for_arch(self.spec.arch, sysroot),
        }
    }

    /// The libraries that only have to exist, or that replace something of the machine.
    pub(crate) fn native_stubs(&self) -> impl Iterator<Item = &StubLibrary> + std::fmt::Debug {
        let of_foreign: &[StubLibrary] = self.spec.foreign.as_ref().map_or(&[], |foreign| &foreign.stubs);
        self.spec.common.libcore.stubs.iter().chain(of_foreign)
    }

    /// The runtime and the libraries that it needs, from Debian's packages.
    pub(crate) fn runtime(&self) -> Result<PathBuf> {
        self.unpacked("runtime", &self.debs(&self.spec.runtime()))
    }
}
