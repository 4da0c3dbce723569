//! The archive as an app gets it: unpacked, its classes dexed separately, its library loaded, and an app on
//! top that uses only the public API.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use lab_launch::shrink::{Release, Shrinker, Shrunk};
use lab_launch::{App, Launcher, java_below, wait_for_report};
use lab_reports::{LIMIT, details_of, feature, read, stacks_of};
use loopbox_android_pack::{self as android, Abi, aar};
use loopbox_e2e::links;
use loopbox_e2e::source_lines::{all_stacks, check_lines};
use loopbox_format::model::{DumpReason, Feature, MainState, PendingSource, RecordKind, Report};
use loopbox_format::report::Decoded;
use loopbox_report::Analysis;
use loopbox_report::retrace::Mapping;
use loopbox_setup::command::for_each;
use loopbox_setup::jvm;
use loopbox_setup::workspace::root;
use loopbox_testbed::to_test_on;
use tempfile::{TempDir, tempdir};

const OPEN_BOOK: &str = "com.example.reader.PageActivity$OpenBook";

/// The archive on a testbed.
struct Unpacked {
    launcher: Launcher,
    folder: TempDir,
}

impl Unpacked {
    fn new() -> Result<Self> {
        let folder = tempdir()?;
        let library = android::ensure(Abi::X86_64)?;
        let ships = fs::read(&library.file)?;
        let libraries = aar::Libraries { own: &[library], inhouse: &[], compiler: "rustc" };
        let archive = aar::build(libraries, &folder.path().join("maven"))?;
        let mut entries = aar::unpack(&archive)?;
        let wanted = [
            "AndroidManifest.xml",
            "META-INF/com/android/build/gradle/aar-metadata.properties",
            "R.txt",
            "baseline-prof.txt",
            "classes.jar",
            "jni/x86_64/libloopbox.so",
            "prefab/modules/loopbox/include/loopbox.h",
            "prefab/modules/loopbox/module.json",
            "prefab/prefab.json",
            "proguard.txt",
        ];
        ensure!(entries.keys().eq(&wanted), "the archive has {:?}", entries.keys());
        ensure!(entries["jni/x86_64/libloopbox.so"] == ships, "the archive has another library");
        for (name, bytes) in entries.split_off("classes.jar") {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().context("a file")?)?;
            fs::write(file, bytes)?;
        }
        let launcher = Launcher::shipped("art10")?;
        let part = |name: &str| folder.path().join(name);
        launcher.testbed.dex_classes(&[part("classes.jar")], &part("loopbox.jar"))?;
        let app = root().join("tests/app");
        let sources = java_below(&[app.join("android"), app.join("com/example/reader")])?;
        launcher.testbed.dex(&sources, &[part("classes.jar")], &part("app.jar"))?;
        let mut sources = java_below(&[root().join("jni-glue/sample")])?;
        sources.retain(|file| !file.ends_with("MainActivity.java")); // no widgets there
        sources.push(root().join("tests/integrate/Drive.java"));
        sources.extend(link_sources()?);
        launcher.testbed.dex(&sources, &[part("classes.jar")], &part("drive.jar"))?;
        Ok(Self { launcher, folder })
    }

    /// A program in a separate jar, with the archive's classes and library.
    fn program(&self, jar: &str, class: &str) -> App {
        let part = |name: &str| self.folder.path().join(name);
        let class_path = format!("{}:{}", part("loopbox.jar").display(), part(jar).display());
        let app = self.launcher.app_in(Path::new(&class_path), class);
        app.property("java.library.path", part("jni/x86_64").display())
    }

    /// The app, to run this scenario with `home` as its folder.
    fn app(&self, scenario: &str, home: &Path) -> App {
        let app = self.program("app.jar", "com.example.reader.Main");
        app.argument(scenario).argument(home.display().to_string())
    }

    /// Runs the app in its scenario. Returns what it prints.
    fn run(&self, scenario: &str, home: &Path) -> Result<Vec<String>> {
        lines(self.app(scenario, home))
    }

    /// Runs one of the sample's hangs. Returns the report of it.
    fn drive(&self, what: &str, home: &Path) -> Result<Report> {
        let program = self.program("drive.jar", "integrate.Drive");
        let lines = lines(program.argument(what).argument(home.display().to_string()))?;
        let answers = said(&lines, "reported");
        read(answers.first().with_context(|| format!("{what}: {lines:?}"))?.as_ref())
    }
}

fn lines(app: App) -> Result<Vec<String>> {
    let ended = app.start()?.finish(LIMIT)?.success()?;
    Ok(ended.lines.iter().filter_map(|line| line.strip_prefix("SCRIPT ")).map(str::to_owned).collect())
}

fn unpacked() -> &'static Unpacked {
    static UNPACKED: LazyLock<Unpacked> = LazyLock::new(|| Unpacked::new().unwrap());
    &UNPACKED
}

/// The rest of each line that begins with this word.
fn said<'a>(lines: &'a [String], word: &str) -> Vec<&'a str> {
    let after = |line: &'a String| line.strip_prefix(word)?.strip_prefix(' ');
    lines.iter().filter_map(after).collect()
}

fn report_in(home: &Path) -> Result<Report> {
    read(&wait_for_report(&home.join("loopbox"), Duration::ZERO)?)
}

fn note<'a>(report: &'a Report, name: &str) -> Option<&'a str> {
    report.meta.annotations.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

#[test]
fn an_app_hangs_and_its_listener_gets_file_reason_and_digest() -> Result<()> {
    let home = tempdir()?;
    let lines = unpacked().run("hang", home.path())?;
    assert_eq!(said(&lines, "dumped"), ["true"]);
    let status = said(&lines, "status");
    let [at_once, later] = status[..] else { panic!("{lines:?}") };
    assert!(at_once.starts_with("on: ["), "{at_once}");
    for part in ["hook on (", "ring on (", "sigquit on", "sampler on ("] {
        assert!(later.contains(part), "{later}");
    }
    let report = report_in(home.path())?;
    assert_eq!(report.meta.reason, DumpReason::Requested("the user shook the phone".into()));
    assert_eq!(report.meta.process.app_version, "2.1 (210)");
    assert_eq!(note(&report, "user"), Some("u-17"));
    assert_eq!(note(&report, "shelf"), Some("*** shelf"));
    assert_eq!(note(&report, "scene"), Some("com.example.reader.PageActivity"));
    assert_eq!(note(&report, "foreground"), Some("yes"));
    for refused in ["card", "broken"] {
        assert_eq!(note(&report, refused), None);
    }
    let answers = said(&lines, "report");
    assert!(answers[0].starts_with("REQUESTED the user shook the phone loopbox-"), "{answers:?}");
    let digest = said(&lines, "digest")[0];
    assert!(digest.contains(&format!("main runs {OPEN_BOOK} for ")), "{digest}");
    assert!(
        digest.contains(&format!("at {OPEN_BOOK}.run:")) || digest.contains(&format!(" < {OPEN_BOOK}.run:"))
    );
    assert!(!digest.contains("scene=") && digest.len() <= 900, "{digest}");
    assert_eq!(report.digest.lines().nth(4), Some(digest));
    Ok(())
}

#[test]
fn what_a_killed_process_left_is_reported_and_taken_at_the_next_launch() -> Result<()> {
    let home = tempdir()?;
    let mut app = unpacked().app("die", home.path()).start()?;
    app.wait_for("hangs", LIMIT)?;
    app.kill();
    let lines = unpacked().run("take", home.path())?;
    let answers = said(&lines, "report");
    assert!(answers.iter().any(|line| line.starts_with("RECOVERED ")), "{lines:?}");
    let pending = said(&lines, "pending");
    let once = ["RECOVERED of another new", "in all 1"];
    assert_eq!(pending, [&once[..], &once[..], &["in all 0"]].concat(), "{lines:?}");
    assert!(said(&lines, "digest").iter().any(|digest| digest.contains(OPEN_BOOK)), "{lines:?}");
    assert_eq!(said(&lines, "deleted"), ["true"]);
    Ok(())
}

#[test]
fn nothing_is_recorded_while_paused_or_in_the_background() -> Result<()> {
    let home = tempdir()?;
    let lines = unpacked().run("background", home.path())?;
    assert!(said(&lines, "status")[1].contains("hook off (paused in the background)"), "{lines:?}");
    let report = report_in(home.path())?;
    assert!(feature(&report, Feature::Hook).0);
    let ms: Vec<u64> = details_of(&report, OPEN_BOOK).map(|detail| detail.wall_ns / 1_000_000).collect();
    assert!(ms.len() == 3 && ms[0] >= 390 && ms[1] >= 590 && ms[2] >= 790, "{ms:?}");
    let unseen = report.history.iter().filter(|record| record.kind == RecordKind::Unseen);
    let ms: Vec<u64> = unseen.map(|record| record.wall_ns / 1_000_000).collect();
    assert!(ms.len() == 2 && ms[0] >= 490 && ms[1] >= 690, "{:#?}", report.history);
    assert_eq!(note(&report, "scene"), None, "that scenario wants no scene of the recorder's making");
    Ok(())
}

#[test]
fn the_background_is_sampled_more_gently() -> Result<()> {
    let home = tempdir()?;
    let mut app = unpacked().app("behind", home.path()).start()?;
    let tree = loop {
        app.wait_for("SCRIPT report", LIMIT)?;
        let report = report_in(home.path())?;
        assert_eq!(note(&report, "foreground"), Some("no"));
        if let Some(tree) = report.trees.into_iter().find(|tree| tree.sample_deltas_ns.len() > 3) {
            break tree;
        }
    };
    // Four times as wide as the 10 ms of an app that is seen.
    assert!(tree.phases.iter().all(|phase| phase.interval_ns >= 40_000_000), "{:?}", tree.phases);
    Ok(())
}

#[test]
fn the_switch_lasts_over_launches_until_it_is_turned_back() -> Result<()> {
    let home = tempdir()?;
    let mut status = Vec::new();
    for scenario in ["off", "on again", "none"] {
        let lines = unpacked().run(scenario, home.path())?;
        status.extend(said(&lines, "status").into_iter().map(str::to_owned));
    }
    assert!(status[0].starts_with("on: "), "{status:?}");
    assert_eq!(status[1], "off: switched off by the app", "at once");
    assert_eq!(status[2], "off: switched off by the app", "the next launch");
    assert_eq!(
        status[3], "off: switched off by the app",
        "turned back on, which counts from the next launch on"
    );
    assert!(status[4].starts_with("on: "), "{status:?}");
    Ok(())
}

#[test]
fn another_process_of_the_app_is_left_alone_when_the_app_wants_that() -> Result<()> {
    let home = tempdir()?;
    let app = unpacked().app("none", home.path()).argument("com.example.reader");
    let ended = app.start()?.finish(LIMIT)?.success()?;
    let status = ended.lines.iter().find(|line| line.contains("status")).context("no status")?;
    assert!(
        status.contains("off: this is the process ") && status.ends_with(", not com.example.reader"),
        "{status}"
    );
    assert!(!home.path().join("loopbox").exists());
    Ok(())
}

#[test]
fn no_misuse_throws_into_the_app() -> Result<()> {
    let home = tempdir()?;
    let lines = unpacked().run("misuse", home.path())?;
    assert_eq!(said(&lines, "nothing:"), ["false true"]);
    assert_eq!(said(&lines, "no folder:"), ["off: the configuration names no directory"]);
    assert_eq!(said(&lines, "before:"), ["off: the configuration names no directory null []"]);
    assert!(said(&lines, "status")[0].starts_with("on: "), "{lines:?}");
    Ok(())
}

/// The app and the archive together, to be shrunk with these rules about the archive.
fn release<'u>(unpacked: &'u Unpacked, main: &str, sources: Vec<PathBuf>, rules: &str) -> Release<'u> {
    let rules = format!("{rules}\n-keep class {main} {{ public static void main(java.lang.String[]); }}");
    let libraries = vec![unpacked.folder.path().join("classes.jar")];
    Release { testbed: &unpacked.launcher.testbed, sources, libraries, rules }
}

fn reader<'u>(unpacked: &'u Unpacked, rules: &str) -> Result<Release<'u>> {
    let app = root().join("tests/app");
    let sources = java_below(&[app.join("android"), app.join("com/example/reader")])?;
    // The reader watches no frames; what an app does that wants JankData.
    let rules =
        format!("{rules}\n-keep class io.loopbox.internal.frames.JankListener {{ static *** add(...); }}");
    Ok(release(unpacked, "com.example.reader.Main", sources, &rules))
}

/// The rules that the archive brings along.
fn own_rules() -> Result<String> {
    Ok(fs::read_to_string(unpacked().folder.path().join("proguard.txt"))?)
}

/// The rules without one of them.
fn rules_without(rule: &str) -> Result<String> {
    let rules = own_rules()?;
    let broken = rules.replace(rule, "");
    ensure!(broken != rules, "the rules have no {rule}");
    Ok(broken)
}

/// Runs the shrunk app with these arguments. Returns what it prints.
fn run_shrunk(launcher: &Launcher, app: &Shrunk, arguments: &[&str]) -> Result<Vec<String>> {
    let mut app = launcher.app_in(&app.jar, "com.example.reader.Main");
    app = app.property("java.library.path", unpacked().folder.path().join("jni/x86_64").display());
    for argument in arguments {
        app = app.argument(*argument);
    }
    lines(app)
}

/// Uses the rules from the archive, and no other rules for the library.
#[test]
fn the_archives_own_rules_keep_what_is_called_by_name_whoever_shrinks() -> Result<()> {
    let rules = own_rules()?;
    for_each(&Shrinker::ALL, |&how| {
        let of_app = if how == Shrinker::ProGuard { FOR_PROGUARD } else { "" };
        let app = reader(unpacked(), &format!("{rules}\n{of_app}"))?
            .shrink(how)
            .with_context(|| how.to_string())?;
        let mapping = fs::read_to_string(&app.mapping)?;
        ensure!(mapping.contains(" -> onJankDataAvailable\n"), "{how}: no callback of JankData");
        for testbed in to_test_on(&["art10", "art11"]) {
            hangs(&testbed, &app).with_context(|| format!("{how}, on {testbed}"))?;
        }
        Ok(())
    })
}

/// Checks that all of the recorder works in the shrunk app, and that the mapping restores the source's lines.
fn hangs(testbed: &str, app: &Shrunk) -> Result<()> {
    let home = tempdir()?;
    let launcher = Launcher::shipped(testbed)?;
    let lines = run_shrunk(&launcher, app, &["hang", &home.path().display().to_string()])?;
    ensure!(said(&lines, "dumped") == ["true"], "{lines:?}");
    ensure!(said(&lines, "report").len() == 1, "the listener was called: {lines:?}");
    let mut report = report_in(home.path())?;
    for part in [Feature::Hook, Feature::Sampler, Feature::Ring, Feature::SigQuit] {
        ensure!(feature(&report, part).0, "{part:?}: {}", feature(&report, part).1);
    }
    let hook = if testbed == "art10" { "Observer by reflection, class" } else { "Printer" };
    ensure!(feature(&report, Feature::Hook).1 == hook, "{:?}", report.features);
    let sampler = feature(&report, Feature::Sampler).1;
    ensure!(!sampler.contains("does not make its thread runnable"), "{sampler}");
    ensure!(report.history.len() + report.pending.lines.len() > 0, "no messages");
    let hidden = report.symbols.methods.iter().any(|method| method.class == OPEN_BOOK);
    ensure!(!hidden, "nothing was renamed");
    Mapping::parse(fs::read(&app.mapping)?)?.retrace(&mut report)?;
    let decoded = Decoded { report, damage: Vec::new() };
    let analysis = Analysis::new(&decoded);
    ensure!(check_lines(&all_stacks(&analysis), "com.example.reader.")? > 0, "no stack of the app");
    let MainState::Running(running) = &decoded.report.main else { bail!("{:?}", decoded.report.main) };
    let callback = running.message.as_ref().map(|message| message.callback.as_str());
    ensure!(callback == Some(OPEN_BOOK), "{callback:?}");
    Ok(())
}

/// A build without one of the rules: what is missing is reported when the library is loaded, and the app runs
/// on without the recorder.
#[test]
fn a_rule_that_is_missing_shows_in_the_first_status() -> Result<()> {
    let home = tempdir()?;
    let rules = rules_without("static java.lang.String runningLine();")?;
    let app = reader(unpacked(), &rules)?.shrink(Shrinker::USUAL)?;
    let home = home.path().display().to_string();
    let lines = run_shrunk(&unpacked().launcher, &app, &["background", &home])?;
    let status = said(&lines, "status");
    assert!(status[0].starts_with("off: ") && status[0].contains("runningLine"), "{lines:?}");
    assert_eq!(status[1], status[0], "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("done"), "{lines:?}");
    Ok(())
}

/// Only the rule shows a shrinker that the Looper calls the observer's methods. Without the rule, each
/// message would end in an AbstractMethodError.
#[test]
fn an_observer_that_lost_its_rule_is_not_hooked_in() -> Result<()> {
    let rules = own_rules()?;
    let at =
        rules.find("-keepclassmembers class io.loopbox.internal.hook.DirectObserver").context("no rule")?;
    let rule = rules[at..].split_inclusive('}').next().context("no end")?;
    let app = reader(unpacked(), &rules_without(rule)?)?.shrink(Shrinker::USUAL)?;
    let why = "no Observer by reflection: java.lang.NoSuchMethodException: messageDispatchStarting is \
               missing in DirectObserver: a shrinker did not have the library's rules";
    let home = tempdir()?;
    let lines = run_shrunk(&unpacked().launcher, &app, &["background", &home.path().display().to_string()])?;
    let status = said(&lines, "status");
    assert!(status[0].starts_with("on: "), "{lines:?}");
    let report = report_in(home.path())?;
    assert_eq!(feature(&report, Feature::Hook), (true, &*format!("Printer, {why}")));
    assert!(details_of(&report, OPEN_BOOK).count() + details_of(&report, "android.os.Handler").count() > 0);
    // An app that wants nothing else goes without.
    let home = tempdir()?;
    let lines = run_shrunk(&unpacked().launcher, &app, &["observer", &home.path().display().to_string()])?;
    assert_eq!(said(&lines, "status"), [format!("off: the Observer hook is refused: {why}")], "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("done"), "{lines:?}");
    Ok(())
}

/// The rule that an app shrunk by ProGuard adds. It is not in the archive, because R8 keeps these annotations
/// on methods by itself. With the rule, R8 would also keep all other annotations of the app.
const FOR_PROGUARD: &str = "-keepattributes RuntimeInvisibleAnnotations";

/// ProGuard removes the annotations by which ART recognises fast natives; then no stack is taken through ART.
#[test]
fn proguard_needs_a_rule_about_annotations_that_the_archive_does_not_bring() -> Result<()> {
    let home = tempdir()?;
    let rules = own_rules()?;
    ensure!(!rules.contains("-keepattributes"), "a rule for the whole app");
    let app = reader(unpacked(), &rules)?.shrink(Shrinker::ProGuard)?;
    run_shrunk(&unpacked().launcher, &app, &["hang", &home.path().display().to_string()])?;
    let report = report_in(home.path())?;
    let (on, why) = feature(&report, Feature::Sampler);
    assert!(why.contains("does not make its thread runnable"), "{on}: {why}");
    Ok(())
}

/// Checks the native library. The Java half is checked by another test, in the package that compiles it.
#[test]
fn the_library_that_goes_into_stores_does_not_know_the_hidden_field() -> Result<()> {
    let library = fs::read(unpacked().folder.path().join("jni/x86_64/libloopbox.so"))?;
    for text in ["sObserver", "Looper$Observer", "loopbox-observer"] {
        assert!(!library.windows(text.len()).any(|window| window == text.as_bytes()), "{text}");
    }
    Ok(())
}

/// A tool that shrinks the archive together with an app also shrinks the links.
#[test]
fn the_links_to_crash_sdks_work_shrunk_and_unshrunk() -> Result<()> {
    let unpacked = unpacked();
    let jar =
        release(unpacked, "integrate.Links", link_sources()?, &own_rules()?).shrink(Shrinker::USUAL)?.jar;
    let part = |name: &str| unpacked.folder.path().join(name).display().to_string();
    let unshrunk = PathBuf::from(format!("{}:{}", part("loopbox.jar"), part("drive.jar")));
    for testbed in to_test_on(&["art10", "art11"]) {
        let launcher = Launcher::shipped(&testbed)?;
        for (how, class_path) in [("as it is", &unshrunk), ("shrunk", &jar)] {
            let start = || {
                let app = launcher.app_in(class_path, "integrate.Links");
                app.property("java.library.path", part("jni/x86_64"))
            };
            links::check(&start, testbed != "art10").with_context(|| format!("{how}, on {testbed}"))?;
        }
    }
    Ok(())
}

/// The sources of the links, of what they are compiled against, and of their driver.
fn link_sources() -> Result<Vec<PathBuf>> {
    let tests = root().join("tests");
    let glue = root().join("jni-glue");
    let parts = ["integrations", "inhouse/java", "java-stubs/androidx"].map(|part| glue.join(part));
    let mut sources = java_below(&parts)?;
    sources.extend(java_below(&[tests.join("app/android")])?);
    sources.extend(
        ["Links", "LogRecords", "SentryClient"].map(|name| tests.join(format!("integrate/{name}.java"))),
    );
    let scenario = ["Options", "Phone", "PrintingListener", "Script"];
    sources.extend(scenario.map(|name| tests.join(format!("app/scenario/{name}.java"))));
    Ok(sources)
}

/// Checks what the report shows for each button of the sample.
#[test]
fn the_samples_hangs_are_seen_for_what_they_are() -> Result<()> {
    let kinds = [
        ("BUSY", "Hangs$Busy.run"),
        ("LOCK", "Hangs$WaitForShelf.run"),
        ("DISK", "Hangs$SaveAll.run"),
        ("SLEEP", "Hangs$TryAgain.run"),
        ("DEADLOCK", "Hangs$Embrace.run"),
    ];
    for (kind, frame) in kinds {
        let home = tempdir()?;
        let report = unpacked().drive(kind, home.path())?;
        let tree = report.trees.last().with_context(|| format!("{kind}: no stacks"))?;
        let stacks = stacks_of(&report, tree)?;
        let seen = stacks.iter().filter(|(frames, _)| frames.iter().any(|f| f.short() == frame)).count();
        assert!(seen * 10 > stacks.len() * 9, "{kind}: {seen} of {} stacks", stacks.len());
        // On the stack: for Loopbox, its own sample is no app whose frame the line would name.
        let frame = frame.replace('.', "\t");
        assert!(report.digest.contains(&frame), "{kind}: {}", report.digest);
    }
    let home = tempdir()?;
    let report = unpacked().drive("FLOOD", home.path())?;
    // The sample has the default limit of 200 ms, which a busy machine may use up before the first line.
    let flooded = report.pending.lines.iter().any(|line| line.contains("Hangs$Busy"));
    let unavailable = PendingSource::Unavailable("not complete within 200 ms".into());
    assert!(flooded || report.pending.source == unavailable, "{:?}", report.pending);
    Ok(())
}

/// A server that accepts the first file, calls the second one too large and fails at the third.
#[test]
fn an_upload_deletes_what_is_taken_and_keeps_the_rest() -> Result<()> {
    let folder = tempdir()?;
    let files: Vec<PathBuf> = (0..5).map(|n| folder.path().join(format!("{n}.lbx"))).collect();
    for (n, file) in files.iter().enumerate() {
        fs::write(file, vec![n as u8; if n == 4 { 5_000 } else { 1_000 }])?;
    }
    let server = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/reports", server.local_addr()?);
    let answers = ["200 OK", "413 Too Large", "503 Busy"];
    let serve = std::thread::spawn(move || -> Result<Vec<String>> {
        let mut names = Vec::new();
        for answer in answers {
            let mut stream = BufReader::new(server.accept()?.0);
            let (mut length, mut line) = (0, String::new());
            while stream.read_line(&mut line)? > 2 {
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    length = value.trim().parse()?;
                } else if let Some(value) = line.strip_prefix("X-Report-Name: ") {
                    names.push(value.trim().to_owned());
                }
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body)?;
            let head = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.get_mut().write_all(head.as_bytes())?;
        }
        Ok(names)
    });
    let upload = "jni-glue/integrations/upload/java/io/loopbox/integration/upload";
    let own = ["FilePost", "Uploader"].map(|name| root().join(format!("{upload}/{name}.java")));
    let sources = [&own[..], &[root().join("tests/integrate/Upload.java")]].concat();
    let mut arguments = vec![url, "4000".to_owned()];
    arguments.extend(files.iter().map(|file| file.display().to_string()));
    let said = jvm::run_main(&sources, "integrate.Upload", &arguments)?;
    assert_eq!(said.trim(), "failed: the server answered 503");
    assert_eq!(
        serve.join().unwrap()?,
        ["3.lbx", "2.lbx", "1.lbx"],
        "newest first, without the one that is too large"
    );
    let left: Vec<bool> = files.iter().map(|file| file.exists()).collect();
    assert_eq!(left, [true, true, false, false, true]);
    Ok(())
}
