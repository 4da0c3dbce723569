//! Other watchers of the main thread, as Maven Central has them, on testbeds (`tests/peers`): what they add
//! to the cost of a message, how often they wake an app that rests, and what they say of hangs.

mod cost;
mod hangs;
mod phone;
mod rating;
mod xcrash;

pub use cost::{Cost, Costs, Woken};
pub use hangs::{HANGS, Hang, SHOW, Said};
pub use rating::{Outcome, Rated, Words, Worth};

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use lab_launch::{App, Build, Launcher, java_below, scripted_classes};
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::jar;
use loopbox_setup::r8::R8;
use loopbox_setup::workspace::{root, target};
use loopbox_testbed::Testbed;

use self::phone::Phone;
use self::xcrash::{Native, PROCESS};
use crate::libraries::coroutines_and_rx;
use crate::real_sdks;

/// The packages of the peers, by their names in `sdks.toml`.
const PACKAGES: [&str; 14] = [
    ANR_WATCHDOG,
    BLOCK_CANARY,
    SENTRY,
    "io.sentry:sentry",
    DATADOG,
    "com.datadoghq:dd-sdk-android-core@aar",
    "com.datadoghq:dd-sdk-android-internal@aar",
    "com.datadoghq:dd-sdk-android-rum-internal@aar",
    "com.bugsnag:bugsnag-android-core@aar",
    "ch.acra:acra-core@aar",
    xcrash::PACKAGE,
    "com.squareup.okhttp3:okhttp",
    "com.squareup.okio:okio-jvm",
    "org.jetbrains.kotlin:kotlin-stdlib",
];
const ANR_WATCHDOG: &str = "com.github.anrwatchdog:anrwatchdog";
const BLOCK_CANARY: &str = "com.github.markzhai:blockcanary-analyzer@aar";
const SENTRY: &str = "io.sentry:sentry-android-core@aar";
const DATADOG: &str = "com.datadoghq:dd-sdk-android-rum@aar";

/// One watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The name of the peer in `peers.Peer`.
    pub name: &'static str,
    /// The name of the peer in published results.
    pub words: &'static str,
    /// How long a hang lasts until the peer reports it, at its defaults.
    pub threshold: &'static str,
    /// The package that gives the peer's version; `None` for Loopbox.
    package: Option<&'static str>,
}

const fn peer(
    name: &'static str,
    words: &'static str,
    threshold: &'static str,
    package: Option<&'static str>,
) -> Peer {
    Peer { name, words, threshold, package }
}

/// Loopbox with each of its hooks, and the other watchers.
pub const PEERS: [Peer; 8] = [
    peer("loopbox-observer", "Loopbox, Observer", "5 s, SIGQUIT", None),
    peer("loopbox-printer", "Loopbox, Printer", "5 s, SIGQUIT", None),
    peer("loopbox-poll", "Loopbox, poll hook", "5 s, SIGQUIT", None),
    peer("anrwatchdog", "ANR-WatchDog", "5 s", Some(ANR_WATCHDOG)),
    peer("sentry", "Sentry, watchdog below API 30", "5 s and the system's word", Some(SENTRY)),
    peer("datadog-anr", "Datadog, ANR detector below API 30", "5 s", Some(DATADOG)),
    peer("datadog-long-task", "Datadog, long tasks", "100 ms, when over", Some(DATADOG)),
    peer("blockcanary", "BlockCanary", "1 s, when over", Some(BLOCK_CANARY)),
];

impl Peer {
    /// The peer of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(name: &str) -> Result<&'static Peer> {
        PEERS.iter().find(|peer| peer.name == name).with_context(|| format!("no peer is called {name}"))
    }

    /// Whether the peer is Loopbox.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.package.is_none()
    }

    /// The name of the peer in published results, with the version of its package. The name of Loopbox is
    /// without a version.
    ///
    /// # Errors
    /// When the list of SDKs cannot be read.
    pub fn title(&self) -> Result<String> {
        let version = self.package.map(real_sdks::version).transpose()?;
        let Some(version) = version else { return Ok(self.words.to_owned()) };
        let (who, what) = self.words.split_once(',').unwrap_or((self.words, ""));
        Ok(if what.is_empty() { format!("{who} {version}") } else { format!("{who} {version},{what}") })
    }
}

/// A testbed with the peers and the apps that they watch.
#[derive(Debug)]
pub struct Bed {
    launcher: Launcher,
    class_path: PathBuf,
    phone: Testbed,
    /// The folder of xCrash's library, when it can be loaded.
    xcrash: Option<PathBuf>,
}

impl Bed {
    /// Compiles the peers and the apps for the testbed.
    ///
    /// # Errors
    /// When a part cannot be had or compiled.
    pub fn ensure(testbed: &str, build: Build) -> Result<Self> {
        let launcher = Launcher::new(testbed, build)?;
        let mut key = Key::new("peers", 3).with(R8::identity());
        for package in PACKAGES {
            key = key.with(package).with(&real_sdks::version(package)?);
        }
        let cache = Cache::open(&target().join("apps/cache"))?;
        let dexed = cache.step("peers", &key, |out| {
            let mut parts = real_sdks::class_files(&PACKAGES, out)?;
            let canary = PACKAGES.iter().position(|package| *package == BLOCK_CANARY).context("no canary")?;
            parts[canary] = without_dates(&parts[canary], &out.join("blockcanary.jar"))?;
            parts.extend(coroutines_and_rx(out)?);
            launcher.testbed.dex_classes(&parts, &out.join("sdks.jar"))
        })?;
        let phone = Phone::ensure(&launcher.testbed)?;
        let work = tempfile::tempdir()?;
        let mut against = scripted_classes(&launcher.testbed)?;
        against.extend(real_sdks::class_files(&PACKAGES, work.path())?);
        against.extend(coroutines_and_rx(work.path())?);
        // The last, so that the classes that the testbed has are its own.
        against.push(phone.classes);
        let app = target().join(format!("apps/{testbed}-peers.jar"));
        let sources = ["tests/peers", "jni-glue/integrations/xcrash/java"].map(|part| root().join(part));
        launcher.testbed.dex(&java_below(&sources)?, &against, &app)?;
        let scripted = launcher.class_path().last().context("no apps")?.clone();
        let all = [scripted, dexed.join("sdks.jar"), app].map(|jar| jar.display().to_string());
        Ok(Self { launcher, class_path: all.join(":").into(), phone: phone.testbed, xcrash: None })
    }

    /// Changes the testbed to one that also has the classes of a phone. Bugsnag, ACRA and OkHttp need these
    /// classes.
    #[must_use]
    pub fn with_phone(mut self) -> Self {
        self.launcher.testbed = self.phone.clone();
        self
    }

    /// Adds xCrash's native library to the testbed. The library needs the classes of a phone.
    ///
    /// # Errors
    /// When the library cannot be had, or imports something that has no substitute.
    pub fn with_xcrash(mut self) -> Result<Self> {
        let native = Native::ensure(&self.launcher.testbed)?;
        self.launcher.testbed = native.testbed;
        self.xcrash = Some(native.folder);
        Ok(self)
    }

    /// A process that will run `main` of a class, and leave our reports in `folder`.
    #[must_use]
    pub fn app(&self, class: &str, folder: &Path) -> App {
        let app = self.launcher.app_in(&self.class_path, class);
        let app = app.property("loopbox.dir", folder.display()).property("java.io.tmpdir", folder.display());
        let Some(xcrash) = &self.xcrash else { return app };
        let ours = self.launcher.library();
        let libraries =
            ours.parent().into_iter().chain([xcrash.as_path()]).map(|dir| dir.display().to_string());
        let app = app.property("java.library.path", libraries.collect::<Vec<_>>().join(":"));
        app.property("xcrash.libraries", xcrash.display()).option("--process-name").option(PROCESS)
    }
}

/// Copies BlockCanary's jar to `made`. In the copy, the classes use `peers.PlainDateFormatOfBed` in place of
/// SimpleDateFormat, which needs ICU: no testbed has that. The names of the two classes have the same length,
/// so one can be written over the other.
fn without_dates(jar: &Path, made: &Path) -> Result<PathBuf> {
    const FROM: &[u8] = b"java/text/SimpleDateFormat";
    const TO: &[u8; 26] = b"peers/PlainDateFormatOfBed";
    let names = jar::names(jar)?;
    let files: Vec<&String> = names.iter().filter(|name| !name.ends_with('/')).collect();
    let mut entries = jar::read_entries(jar, &files)?;
    let mut replaced = 0;
    for (_, bytes) in &mut entries {
        let found: Vec<usize> =
            bytes.windows(FROM.len()).enumerate().filter(|(_, at)| *at == FROM).map(|(at, _)| at).collect();
        replaced += found.len();
        for at in found {
            bytes[at..at + TO.len()].copy_from_slice(TO);
        }
    }
    ensure!(replaced > 0, "BlockCanary has no date format any more");
    jar::write(made, &entries)?;
    Ok(made.to_owned())
}

/// The machine's load, as the kernel says it: averages of 1, 5 and 15 minutes.
///
/// # Errors
/// When it cannot be read.
pub fn load() -> Result<String> {
    let text = fs::read_to_string("/proc/loadavg").context("no /proc/loadavg")?;
    Ok(text.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
}
