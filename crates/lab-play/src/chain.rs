//! The tools of a build, each as a command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use loopbox_android_pack::half;
use loopbox_setup::apt;
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::command::{command, path_list, run};
use loopbox_setup::jar;
use loopbox_setup::package::read_toml;
use loopbox_setup::progress::Progress;
use loopbox_setup::r8::{Program, R8};
use loopbox_setup::registry::{Artifact, Pinned};
use loopbox_setup::tools::Tools;
use loopbox_setup::workspace::{root, set_up};
use serde::Deserialize;

use crate::apk::has_ending;

/// `artifacts.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Artifacts {
    tool: Vec<Artifact>,
    library: Vec<Artifact>,
    sdk: Vec<Artifact>,
}

/// Classes that the platform has but an SDK's `android.jar` does not. The app is built without them, because
/// R8 treats unknown classes in another way than those of the SDK.
const NOT_IN_THE_SDK: [&str; 2] = ["android/os/Looper$Observer", "android/view/SurfaceControl$OnJankData"];

/// The tools, and the SDK that every app is built against.
#[derive(Debug)]
pub(crate) struct Chain {
    tools: Tools,
    r8: R8,
    jars: Vec<PathBuf>,
    /// Archives that `loopbox-startup` depends on.
    pub(crate) libraries: Vec<PathBuf>,
    /// The platform's classes, as an SDK has them.
    pub(crate) sdk: PathBuf,
    /// The platform's resources.
    resources: PathBuf,
}

impl Chain {
    pub(crate) fn ensure() -> Result<Self> {
        let progress = Progress::new("play");
        let list: Artifacts = read_toml(&root().join("crates/lab-play/artifacts.toml"))?;
        let all = |list: &[Artifact]| {
            let pinned: Vec<Pinned<'_>> = list.iter().map(Artifact::pinned).collect();
            Pinned::ensure_all(&pinned, &progress)
        };
        let (jars, libraries, platform) = (all(&list.tool)?, all(&list.library)?, all(&list.sdk)?);
        if run(&mut command("aapt2", ["version"])).is_err() {
            apt::install(&["aapt"])?;
        }
        let platform = platform.first().context("artifacts.toml names no SDK")?;
        let key = list.sdk.iter().fold(Key::new("play-sdk", 1), |key, sdk| key.with(&sdk.sha256));
        let sdk = Cache::open(&set_up().join("tools"))?.step("play-sdk", &key, |out| {
            let names = jar::names(platform)?;
            let is_known = |name: &&String| {
                has_ending(name, "class") && !NOT_IN_THE_SDK.iter().any(|hidden| name.starts_with(hidden))
            };
            let known: Vec<&String> = names.iter().filter(is_known).collect();
            jar::write(&out.join("sdk.jar"), &jar::read_entries(platform, &known)?)
        })?;
        Ok(Self {
            tools: Tools::ensure()?,
            r8: R8::ensure(&progress)?,
            jars,
            libraries,
            sdk: sdk.join("sdk.jar"),
            resources: half::compiled()?.android_jar,
        })
    }

    /// The command that runs the program `class` of the jars.
    fn of_jars(&self, class: &str) -> Command {
        let mut java = self.tools.java();
        java.arg("-cp").arg(path_list(&self.jars)).arg(class);
        java
    }

    /// Merges the manifest of an app with those of its libraries, as Android's build does.
    pub(crate) fn merge(
        &self,
        main: &Path,
        libraries: &[PathBuf],
        application: &str,
        out: &Path,
    ) -> Result<()> {
        let mut merger = self.of_jars("com.android.manifmerger.Merger");
        merger.arg("--main").arg(main).arg("--libs").arg(path_list(libraries)).arg("--out").arg(out);
        let properties = [
            ("PACKAGE", application),
            ("MIN_SDK_VERSION", "21"),
            ("TARGET_SDK_VERSION", "36"),
            ("VERSION_CODE", "1"),
            ("VERSION_NAME", "1"),
        ];
        for (name, value) in properties {
            merger.arg("--property").arg(format!("{name}={value}"));
        }
        run(&mut merger)?;
        // It says that it failed in words alone.
        fs::metadata(out).map(drop).context("the manifests cannot be merged")
    }

    /// Compiles resources and the merged manifest. Writes into `out`: the package `base.zip`, the rules for
    /// R8 `keep.txt`, and the sources of the classes `R` in `gen`.
    pub(crate) fn link(&self, manifest: &Path, resources: &[PathBuf], out: &Path) -> Result<()> {
        let mut link = command("aapt2", ["link", "--proto-format", "--extra-packages", "androidx.startup"]);
        link.arg("-I").arg(&self.resources).arg("--manifest").arg(manifest);
        link.arg("-o").arg(out.join("base.zip")).arg("--proguard").arg(out.join("keep.txt"));
        link.arg("--java").arg(out.join("gen"));
        for (number, folder) in resources.iter().enumerate() {
            let compiled = out.join(format!("{number}.flata"));
            run(command("aapt2", ["compile", "--dir"]).arg(folder).arg("-o").arg(&compiled))?;
            link.arg(compiled);
        }
        run(&mut link).map(drop)
    }

    /// Compiles Java.
    pub(crate) fn compile(&self, sources: &[PathBuf], class_path: &[PathBuf], out: &Path) -> Result<()> {
        let mut javac = self.tools.javac();
        javac.args(["-nowarn", "-Xlint:none", "-source", "8", "-target", "8", "-encoding", "UTF-8", "-cp"]);
        javac.arg(path_list(class_path.iter().chain([&self.sdk]))).arg("-d").arg(out);
        run(javac.args(sources)).map(drop)
    }

    /// Shrinks the app with R8, as for a release, and writes the mapping of names.
    pub(crate) fn shrink(
        &self,
        rules: &[PathBuf],
        jars: &[PathBuf],
        out: &Path,
        mapping: &Path,
    ) -> Result<()> {
        let mut shrink = self.r8.command(Program::R8);
        shrink
            .args(["--release", "--min-api", "21", "--lib"])
            .arg(self.tools.jdk()?)
            .arg("--lib")
            .arg(&self.sdk);
        for file in rules {
            shrink.arg("--pg-conf").arg(file);
        }
        // In an SDK nothing refers to these.
        let hidden = out.with_extension("hidden.txt");
        let rule = |name: &str| ["-dontwarn ", &name.replace('/', "."), "**\n"].concat();
        let rules = NOT_IN_THE_SDK.map(rule).concat();
        fs::write(&hidden, rules).with_context(|| format!("cannot write {}", hidden.display()))?;
        shrink.arg("--pg-conf").arg(hidden).arg("--pg-map-output").arg(mapping);
        run(shrink.arg("--output").arg(out).args(jars)).map(drop)
    }

    /// The command that runs a program of the folder `java`. The program is compiled into `work` first.
    pub(crate) fn own(&self, class: &str, work: &Path) -> Result<Command> {
        let source = root().join(format!("crates/lab-play/java/{class}.java"));
        let mut javac = self.tools.javac();
        javac.args(["-encoding", "UTF-8", "-cp"]).arg(path_list(&self.jars)).arg("-d").arg(work);
        run(javac.arg(source))?;
        let mut java = self.tools.java();
        java.arg("-cp").arg(path_list(self.jars.iter().map(PathBuf::as_path).chain([work]))).arg(class);
        Ok(java)
    }

    /// The command that runs one of bundletool's commands.
    pub(crate) fn bundletool(&self, command: &str) -> Command {
        let mut bundletool = self.of_jars("com.android.tools.build.bundletool.BundleToolMain");
        bundletool.arg(command);
        bundletool
    }

    /// Makes a signing key that is used only for this app.
    pub(crate) fn key(&self, file: &Path) -> Result<()> {
        let mut keytool = self.tools.of_jdk("keytool");
        keytool.args([
            "-genkeypair",
            "-storepass",
            "android",
            "-keypass",
            "android",
            "-alias",
            "a",
            "-keyalg",
            "RSA",
        ]);
        run(keytool.args(["-dname", "CN=test", "-validity", "10", "-keystore"]).arg(file)).map(drop)
    }
}
