//! The sample app, from its sources to what a device downloads.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use loopbox_android_pack::{ALL, aar};
use loopbox_setup::command::run;
use loopbox_setup::files::{files_below, write_atomically};
use loopbox_setup::jar;
use loopbox_setup::workspace::root;

use crate::apk::{Download, Entry, entries, has_ending};
use crate::chain::Chain;

/// The sample.
const SAMPLE: &str = "jni-glue/sample/app/src/main";
const APPLICATION: &str = "io.loopbox.sample";

/// The configuration for bundletool: native libraries are aligned to 16 KiB and not compressed, as the
/// Android Gradle plug-in packs them for devices that map them from the APK.
const CONFIG: &str =
    r#"{"optimizations":{"uncompressNativeLibraries":{"enabled":true,"alignment":"PAGE_ALIGNMENT_16K"}}}"#;

/// The paths of the compiled baseline profile and its metadata in an APK, and their folder in a bundle.
const PROFILE: &str = "assets/dexopt/baseline.prof";
const PROFILE_METADATA: &str = "assets/dexopt/baseline.profm";
const BUNDLE_PROFILES: &str = "com.android.tools.build.profiles";

/// The name of a library's notices in an app.
const NOTICES: &str = "META-INF/io.loopbox/third-party-notices.txt";

/// An app, built.
#[derive(Debug)]
pub(crate) struct App {
    /// The APK for every device.
    universal: Vec<Entry>,
    /// For each ABI, the APKs for a new device.
    splits: Vec<(&'static str, Vec<Entry>)>,
    /// The merged manifest.
    manifest: String,
    /// The baseline profile.
    profile: Profile,
}

/// A baseline profile, compiled for an app's dex files.
#[derive(Debug)]
struct Profile {
    compiled: PathBuf,
    metadata: PathBuf,
    /// What the profile contains, as lines in the format of profile rules, with the names before R8.
    lines: Vec<String>,
}

impl Profile {
    /// Compiles the rules in the archives.
    fn compile(chain: &Chain, rules: &[PathBuf], mapping: &Path, dex: &Path, work: &Path) -> Result<Self> {
        let mut text = String::new();
        for file in rules {
            text += &fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            text.push('\n');
        }
        let (merged, compiled) = (work.join("baseline-prof.txt"), work.join("baseline.prof"));
        let metadata = work.join("baseline.profm");
        write_atomically(&merged, text)?;
        let mut compile = chain.own("CompileProfile", work)?;
        compile.arg(merged).arg(mapping).arg(&compiled).arg(&metadata);
        for name in jar::names(dex)?.iter().filter(|name| has_ending(name, "dex")) {
            let file = work.join(name);
            write_atomically(&file, jar::read_entry(dex, name)?)?;
            compile.arg(file);
        }
        let lines = run(&mut compile)?.lines().map(str::to_owned).collect();
        Ok(Self { compiled, metadata, lines })
    }

    /// How many methods of the recorder are in the profile.
    fn methods(&self) -> usize {
        let of_recorder = |line: &&String| line.contains("Lio/loopbox/") && line.contains("->");
        self.lines.iter().filter(of_recorder).count()
    }
}

/// An unpacked archive.
struct Archive {
    folder: PathBuf,
}

impl Archive {
    fn unpack(file: &Path, folder: PathBuf) -> Result<Self> {
        for (name, bytes) in aar::unpack(file)? {
            if !name.ends_with('/') {
                write_atomically(&folder.join(name), bytes)?;
            }
        }
        Ok(Self { folder })
    }

    /// The path of a file of the archive; `None` when the archive lacks it.
    fn part(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.join(name)).filter(|path| path.exists())
    }
}

impl App {
    /// Builds the app in `work` with an archive of the recorder, and with `loopbox-startup` if the archive
    /// supports that.
    pub(crate) fn build(
        chain: &Chain,
        repository: &Path,
        version: &str,
        recorder: &str,
        work: &Path,
    ) -> Result<Self> {
        let own = |name: &str| repository.join(format!("io/loopbox/{name}/{version}/{name}-{version}.aar"));
        // The one without effect does not go with it.
        let with_startup = recorder == "loopbox";
        let mut files = vec![own(recorder)];
        if with_startup {
            files.push(own("loopbox-startup"));
            files.extend(chain.libraries.iter().cloned());
        }
        let unpack = |(number, file): (usize, &PathBuf)| Archive::unpack(file, work.join(number.to_string()));
        let archives = files.iter().enumerate().map(unpack).collect::<Result<Vec<_>>>()?;
        let parts = |name: &str| archives.iter().filter_map(|archive| archive.part(name)).collect::<Vec<_>>();

        let merged = work.join("AndroidManifest.xml");
        let main = root().join(SAMPLE).join("AndroidManifest.xml");
        chain.merge(&main, &parts("AndroidManifest.xml"), APPLICATION, &merged)?;
        chain.link(&merged, &parts("res"), work)?;
        let classes = work.join("classes");
        fs::create_dir_all(&classes)?;
        let mut sources = files_below(&root().join(SAMPLE).join("java"))?;
        sources.extend(files_below(&work.join("gen"))?);
        chain.compile(&sources, &parts("classes.jar"), &classes)?;
        let app = work.join("app.jar");
        jar::pack(&classes, &app)?;
        let (mut rules, mut jars) = (parts("proguard.txt"), parts("classes.jar"));
        rules.push(work.join("keep.txt"));
        jars.push(app);
        let (dex, mapping) = (work.join("dex.zip"), work.join("mapping.txt"));
        chain.shrink(&rules, &jars, &dex, &mapping)?;
        let profile = Profile::compile(chain, &parts("baseline-prof.txt"), &mapping, &dex, work)?;

        let module = work.join("base-module.zip");
        pack_module(&work.join("base.zip"), &dex, &parts("jni"), &module)?;
        Self::bundle(chain, &module, work, fs::read_to_string(&merged)?, profile)
    }

    /// Makes the bundle, and from it what devices download.
    fn bundle(chain: &Chain, module: &Path, work: &Path, manifest: String, profile: Profile) -> Result<Self> {
        let (config, bundle, key) = (work.join("config.json"), work.join("app.aab"), work.join("key"));
        write_atomically(&config, CONFIG)?;
        let mut build = chain.bundletool("build-bundle");
        build.arg(format!("--modules={}", module.display())).arg(format!("--config={}", config.display()));
        for file in [&profile.compiled, &profile.metadata] {
            let name = file.file_name().and_then(|name| name.to_str()).context("no name")?;
            build.arg(format!("--metadata-file={BUNDLE_PROFILES}/{name}:{}", file.display()));
        }
        run(build.arg(format!("--output={}", bundle.display())))?;
        run(chain.bundletool("validate").arg(format!("--bundle={}", bundle.display())))?;
        chain.key(&key)?;
        let apks = |name: &str, argument: String| -> Result<PathBuf> {
            let out = work.join(format!("{name}.apks"));
            let mut build = chain.bundletool("build-apks");
            build.arg(format!("--bundle={}", bundle.display())).arg(argument);
            build.arg(format!("--ks={}", key.display())).args(["--ks-pass=pass:android", "--ks-key-alias=a"]);
            run(build.arg("--aapt2=/usr/bin/aapt2").arg(format!("--output={}", out.display())))?;
            Ok(out)
        };
        let mut verify = chain.own("VerifyApk", work)?;
        let mut signed = |apk: Vec<u8>, name: &str| -> Result<Vec<Entry>> {
            let file = work.join(name);
            write_atomically(&file, &apk)?;
            verify.arg(file);
            entries(&apk)
        };
        let universal = apks("universal", "--mode=universal".to_owned())?;
        let universal = signed(jar::read_entry(&universal, "universal.apk")?, "universal.apk")?;
        let mut splits = Vec::new();
        for abi in ALL {
            let device = work.join(format!("{abi}.json"));
            let text = format!(
                r#"{{"supportedAbis":["{abi}"],"supportedLocales":["en"],"screenDensity":420,"sdkVersion":34}}"#
            );
            write_atomically(&device, text)?;
            let set = apks(abi.name(), format!("--device-spec={}", device.display()))?;
            let mut all = Vec::new();
            for name in jar::names(&set)?.iter().filter(|name| has_ending(name, "apk")) {
                all.extend(signed(
                    jar::read_entry(&set, name)?,
                    &format!("{abi}-{}", name.replace('/', "-")),
                )?);
            }
            splits.push((abi.name(), all));
        }
        run(&mut verify).context("what a device would install")?;
        Ok(Self { universal, splits, manifest, profile })
    }

    /// Checks that a device gets everything in the archives exactly once, and in a form that it can map.
    pub(crate) fn ensure_is_whole(&self) -> Result<()> {
        let count = |name: &str| self.universal.iter().filter(|entry| entry.name == name).count();
        for abi in ALL {
            let name = format!("lib/{abi}/libloopbox.so");
            ensure!(count(&name) == 1, "the APK has {} times {name}", count(&name));
        }
        ensure!(count(NOTICES) == 1, "the APK has {} times {NOTICES}", count(NOTICES));
        let libraries = self.universal.iter().filter(|entry| entry.name.starts_with("lib/")).count();
        ensure!(libraries == ALL.len(), "the APK has {libraries} libraries");
        for (abi, entries) in &self.splits {
            let name = format!("lib/{abi}/libloopbox.so");
            let library = entries.iter().find(|entry| entry.name == name);
            let library = library.with_context(|| format!("a device with {abi} gets no library"))?;
            ensure!(library.is_mappable(), "{name} is not stored at a multiple of 16 KiB: {library:?}");
            let foreign = entries.iter().find(|entry| entry.name.starts_with("lib/") && entry.name != name);
            ensure!(foreign.is_none(), "a device with {abi} gets {foreign:?}");
        }
        ensure!(
            self.profile_methods() > 0,
            "the baseline profile has nothing of the recorder: {:?}",
            self.profile
        );
        for (abi, entries) in &self.splits {
            for name in [PROFILE, PROFILE_METADATA] {
                let count = entries.iter().filter(|entry| entry.name == name).count();
                ensure!(count == 1, "a device with {abi} gets {count} times {name}");
            }
        }
        let providers = self.manifest.matches("androidx.startup.InitializationProvider").count();
        let initializers = self.manifest.matches("io.loopbox.startup.LoopboxInitializer").count();
        ensure!((providers, initializers) == (1, 1), "the merged manifest: {}", self.manifest);
        ensure!(self.manifest.contains(&format!("{APPLICATION}.androidx-startup")), "another authority");
        Ok(())
    }

    /// The number of the recorder's methods in the baseline profile of the installed app.
    pub(crate) fn profile_methods(&self) -> usize {
        self.profile.methods()
    }

    /// What a device with an ABI downloads.
    pub(crate) fn download_bytes(&self, abi: &str) -> Result<Download> {
        let split = self.splits.iter().find(|(name, _)| *name == abi);
        Download::of(&split.with_context(|| format!("no APK for {abi}"))?.1)
    }
}

/// Packs the files of a bundle's module into `module`, in the layout that a bundle needs.
fn pack_module(linked: &Path, dex: &Path, libraries: &[PathBuf], module: &Path) -> Result<()> {
    let mut parts = Vec::new();
    for name in jar::names(linked)? {
        let place = if name == "AndroidManifest.xml" { format!("manifest/{name}") } else { name.clone() };
        parts.push((place, jar::read_entry(linked, &name)?));
    }
    for name in jar::names(dex)? {
        let place = if has_ending(&name, "dex") { "dex" } else { "root" };
        parts.push((format!("{place}/{name}"), jar::read_entry(dex, &name)?));
    }
    for folder in libraries {
        for file in files_below(folder)? {
            let name = file.strip_prefix(folder)?.to_string_lossy().into_owned();
            parts.push((format!("lib/{name}"), fs::read(&file)?));
        }
    }
    jar::write(module, &parts)
}
