//! The screen of debug builds. The code that keeps and reads reports runs on real ART with real hangs. The
//! notification and the screens run on the compilers' JVM, on replacements of the framework
//! (`tests/integrate/screen`); their classes are those of the archive, compiled against the platform's own
//! API.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result};
use lab_launch::{Launcher, Running, java_below};
use lab_reports::live::running_tree;
use lab_reports::{Frame, LIMIT, read, stacks_of};
use loopbox_android_pack::half;
use loopbox_format::model::{MainState, RecordKind, Report, Uptime};
use loopbox_format::report::encode;
use loopbox_setup::jvm;
use loopbox_setup::workspace::{root, target};
use loopbox_testbed::to_test_on;
use tempfile::{TempDir, tempdir};

/// The classes of the screen that need no views.
const WITHOUT_VIEWS: [&str; 6] = ["Copies", "Decoder", "ReportFile", "ReportText", "Stacks", "Timeline"];

/// The class path of the driver: replacements of the framework, then the archives' classes. Compiled once for
/// all tests.
fn class_path() -> &'static [PathBuf] {
    static COMPILED: LazyLock<(TempDir, Vec<PathBuf>)> = LazyLock::new(|| {
        let work = tempdir().unwrap();
        let compiled = half::compiled().unwrap();
        let sources = java_below(&[root().join("tests/integrate/screen")]).unwrap();
        // The platform's own stubs last: what nothing stands in for is named there, and does nothing.
        let archives = [compiled.screen, compiled.library, compiled.android_jar];
        let driver = work.path().join("driver");
        fs::create_dir(&driver).unwrap();
        jvm::compile(&sources, &archives, &driver).unwrap();
        (work, std::iter::once(driver).chain(archives).collect())
    });
    &COMPILED.1
}

/// An app on a phone.
struct Phone {
    home: TempDir,
}

impl Phone {
    fn new() -> Result<Self> {
        Ok(Self { home: tempdir()? })
    }

    /// What the driver prints in an app that is debuggable and may post notifications.
    fn say(&self, level: u32, what: &[String]) -> Result<Vec<String>> {
        self.say_in([level.to_string(), true.to_string(), true.to_string()], what)
    }

    fn say_in(&self, phone: [String; 3], what: &[String]) -> Result<Vec<String>> {
        let home = self.home.path().display().to_string();
        let arguments = [&phone[..], &[home], what].concat();
        let said = jvm::run_on(class_path(), "io.loopbox.screen.Driven", &arguments)?;
        Ok(said.lines().map(str::to_owned).collect())
    }

    fn copies(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.home.path().join("loopbox-screen"))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }
}

fn own(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn golden(name: &str) -> PathBuf {
    root().join("tests/golden").join(name)
}

/// A report that has only the lines that an app reads first.
fn small(folder: &Path, name: &str, [reason, verdict, label]: [&str; 3], time_ms: u64) -> Result<String> {
    let digest = format!("{reason}\nshop\n7\n{time_ms}\nmain runs {name}\n{verdict}\nclosed\n{label}");
    let file = folder.join(format!("{name}.lbx"));
    fs::write(&file, encode(&Report { digest, ..Report::default() })?)?;
    Ok(file.display().to_string())
}

/// A report of an ANR in which main waits in a chain of locks. The lines that this version writes for apps
/// are added to its digest.
fn anr(name: &str) -> Result<Report> {
    let mut report = read(&golden(name))?;
    report.digest.push_str("\nprobable\nclosed\n");
    Ok(report)
}

fn position(lines: &[String], line: &str) -> Result<usize> {
    lines.iter().position(|known| known == line).with_context(|| format!("no {line:?} in {lines:#?}"))
}

/// A frame in the form that Java prints.
fn printed(frame: &Frame) -> String {
    let file = if frame.method.source_file.is_empty() { "Unknown Source" } else { &frame.method.source_file };
    let place = match (frame.line, frame.dex_pc) {
        (Some(line), _) => format!("{file}:{line}"),
        (None, Some(_)) => file.to_owned(),
        (None, None) => "Native method".to_owned(),
    };
    format!("  at {}.{}({place})", frame.method.class, frame.method.name)
}

/// The line with the share of the most frequent stack in all samples, and the frames of that stack.
fn most_frequent(report: &Report) -> Result<(String, Vec<String>)> {
    let stacks = stacks_of(report, running_tree(report).context("no stacks")?)?;
    let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (frames, elided) in &stacks {
        assert!(!elided);
        *seen.entry(frames.iter().map(printed).collect()).or_default() += 1;
    }
    let most = seen.values().copied().max().context("no sample")?;
    let (frames, count) = seen.into_iter().find(|(_, count)| *count == most).context("no sample")?;
    Ok((format!("Main thread in {count} of {} samples", stacks.len()), frames))
}

/// Checks the screen's text of a report against the host reader's result for the same file.
fn check_text(text: &[String], report: &Report) -> Result<()> {
    assert_eq!(Some(text[1].as_str()), report.digest.lines().nth(4));
    let MainState::Running(running) = &report.main else { panic!("{:?}", report.main) };
    let message = running.message.as_ref().context("no name")?;
    let at = position(text, "Main runs")?;
    let name = if message.callback.is_empty() { &message.target } else { &message.callback };
    assert!(text[at + 1].trim().starts_with(name.as_str()), "{}", text[at + 1]);
    let (title, frames) = most_frequent(report)?;
    let at = position(text, &title)?;
    assert_eq!(text[at + 1..=at + frames.len()], frames);
    let mut who = "main".to_owned();
    for wait in &report.locks.waits {
        let holder = wait.holder.as_ref().context("no holder")?;
        let held = format!("{} (tid {})", holder.name, holder.tid);
        let object = if wait.of_class.is_empty() {
            format!("a {}", wait.class)
        } else {
            format!("the class {}", wait.of_class)
        };
        position(text, &format!("  {who} waits for {object}, held by {held}"))?;
        who = held;
    }
    assert!(!report.pending.lines.is_empty());
    position(text, &format!("  {}", report.pending.lines[0].lines().next().unwrap_or_default()))?;
    let shown = text.iter().filter(|line| line.starts_with("  -") && line.contains(" s  ")).count();
    assert_eq!(shown, report.history.len().min(12), "{text:#?}");
    Ok(())
}

/// The text that the app printed between the last two `kept` lines, or before the only one.
fn text_before(app: &Running) -> Vec<String> {
    let all = app.seen();
    let begin = all.iter().rposition(|line| line.contains("SCRIPT kept ")).map_or(0, |at| {
        all[..at].iter().rposition(|line| line.contains("SCRIPT kept ")).map_or(0, |before| before + 1)
    });
    all[begin..].iter().filter_map(|line| line.strip_prefix("SCRIPT text ")).map(str::to_owned).collect()
}

#[test]
fn a_hang_on_art_is_kept_and_read_as_the_host_reads_it() -> Result<()> {
    let screen = root().join("jni-glue/screen/java/io/loopbox/screen");
    let mut sources = WITHOUT_VIEWS.map(|name| screen.join(format!("{name}.java"))).to_vec();
    let tests = root().join("tests");
    let scenario = ["Holders", "Options", "PrintingListener", "Script", "Work"];
    sources.extend(scenario.map(|name| tests.join(format!("app/scenario/{name}.java"))));
    sources.push(tests.join("integrate/Kept.java"));
    let phone = Phone::new()?;
    for testbed in to_test_on(&["art10", "art11"]) {
        let jar = target().join(format!("apps/{testbed}-kept.jar"));
        let launcher = Launcher::of_sources(&testbed, &sources, jar)?;
        let (reports, copies) = (tempdir()?, tempdir()?);
        let gate = reports.path().join("gate");
        let app = launcher.app("io.loopbox.screen.Kept").argument(copies.path().display().to_string());
        let app = app.argument(format!("dir={}", reports.path().display())).argument("mode=chain");
        let app = app.argument("hangMs=1000").argument(format!("gate={}", gate.display()));
        let mut app = app.start()?;
        let first = app.wait_for("SCRIPT kept true ", LIMIT)?;
        let written = app.wait_for("SCRIPT report ", LIMIT)?;
        fs::write(&gate, "")?;
        // The same report once more, with the time that it took in all.
        let again = app.wait_for("SCRIPT kept true ", LIMIT)?;
        assert_eq!(first.split(' ').nth(4), again.split(' ').nth(4), "one copy");
        let copy = PathBuf::from(again.split(' ').nth(4).context("no path")?);
        let text = text_before(&app);
        app.wait_for("SCRIPT report ", LIMIT)?;
        app.kill();
        let original = PathBuf::from(written.split_whitespace().nth(2).context("no path")?);
        assert_eq!(fs::read(&copy)?, fs::read(original)?);
        let report = read(&copy)?;
        assert!(report.anr.ended_after_ns.is_some() && report.locks.waits.len() == 3, "{:?}", report.locks);
        check_text(&text, &report)?;
        assert_eq!(text[0], "Hang: nothing shows that the system noticed");
        assert!(text.iter().any(|line| line.starts_with("  for ") && line.ends_with(" in all")), "{text:#?}");
        let bars: usize = again.split(' ').nth(3).context("no count")?.parse()?;
        let inside = |record: &&loopbox_format::model::Record| record.kind == RecordKind::Group;
        let named = report.history.iter().filter(inside).map(|record| record.details.len()).sum::<usize>();
        assert!(bars >= 1 && bars <= 1 + report.history.len() + named, "{bars}");
        assert_eq!(phone.say(34, &[format!("read {}", copy.display())])?, text, "on the JVM, {testbed}");
    }
    Ok(())
}

#[test]
fn a_hang_is_notified_shown_shared_and_deleted() -> Result<()> {
    let phone = Phone::new()?;
    let folder = tempdir()?;
    let file = folder.path().join("loopbox-20714-5000-sigquit.lbx");
    let report = anr("report-1.0-anr.lbx")?;
    fs::write(&file, encode(&report)?)?;
    let uri = "content://com.example.shop.loopbox.screen/loopbox-20714-5000-sigquit.lbx";
    let step = format!("report {}", file.display());
    let what = [&step, "notifications", &step, "notifications", "tap", "click Share", "shared"];
    let said =
        phone.say(34, &[&own(&what)[..], &[format!("query {uri}"), format!("open {uri} r")]].concat())?;
    let digest = report.digest.lines().nth(4).context("no digest")?;
    let headline = "Probably an ANR: the system sent its signal";
    let shown = [
        // IMPORTANCE_LOW; no sound.
        "channels {io.loopbox.screen=2}".to_owned(),
        format!("notification io.loopbox.screen 1: {headline} | {digest}"),
        "  alerts once true, more text true".to_owned(),
        // FLAG_UPDATE_CURRENT and FLAG_IMMUTABLE.
        format!("  intent flags c000000, at {}", report.meta.dumped_at.unix_ms),
    ];
    assert_eq!(said[..8], [shown.clone(), shown].concat(), "one notification, whatever comes");
    // FLAG_ACTIVITY_NEW_TASK and FLAG_ACTIVITY_CLEAR_TASK.
    let list = position(&said, "starts ReportsActivity with 10008000")?;
    let page = position(&said, "starts ReportActivity with 0")?;
    assert_eq!(list, 8);
    assert_eq!((said[page + 1].as_str(), said[page + 2].as_str()), ("title Hang", headline));
    assert!(said[page + 3].starts_with("com.example.shop, pid 20714, "), "{}", said[page + 3]);
    for words in ["Share", "Delete", "picture: What main did in the last 10.00 s", "Cause: a lock"] {
        position(&said, words)?;
    }
    // What the screen shows of it is shared as text, indented.
    let shared = position(&said, &format!("stream {uri} {uri}"))?;
    assert_eq!(
        said[shared - 1],
        "shared android.intent.action.CHOOSER android.intent.action.SEND application/octet-stream 1"
    );
    position(&said, &format!("android.intent.extra.SUBJECT {headline}"))?;
    let text = position(&said, &format!("android.intent.extra.TEXT {headline}"))?;
    check_shared(&said[text..], &report)?;
    let size = fs::metadata(&file)?.len();
    let copy = phone.home.path().join("loopbox-screen/loopbox-20714-5000-sigquit.lbx");
    let last = [
        format!("[_display_name, _size][[loopbox-20714-5000-sigquit.lbx, {size}]] application/octet-stream"),
        format!("opened {} 10000000", copy.display()),
    ];
    assert_eq!(said[said.len() - 2..], last, "the copy, to be read");
    assert_eq!(fs::read(&copy)?, fs::read(&file)?);
    let said = phone.say(34, &own(&["list", &format!("click {headline}"), "click Delete", "list"]))?;
    position(&said, "finished")?;
    assert_eq!(
        said[said.len() - 3..],
        own(&["title Hangs", "Recorder off: not installed", "No report so far."])
    );
    assert_eq!(phone.copies()?, [""; 0]);
    assert!(file.exists(), "the recorder's own is the app's");
    Ok(())
}

fn check_shared(text: &[String], report: &Report) -> Result<()> {
    let (title, frames) = most_frequent(report)?;
    let at = position(text, &title)?;
    assert_eq!(text[at + 1..=at + frames.len()], frames);
    position(text, "  main waits for a scenario.Holders$Basket, held by holder (tid 20740)")?;
    position(text, "  middle (tid 20739) waits for the class scenario.Holders, held by last (tid 20738)")?;
    Ok(())
}

#[test]
fn nothing_but_the_copies_is_handed_out_and_only_to_be_read() -> Result<()> {
    let phone = Phone::new()?;
    let folder = tempdir()?;
    let file = small(folder.path(), "loopbox-1-2-hang", ["hang", "hang", ""], 5)?;
    fs::write(phone.home.path().join("secret.lbx"), "of the app")?;
    let base = "content://com.example.shop.loopbox.screen/";
    let asked = [
        "loopbox-1-2-hang.lbx rw",
        "loopbox-1-2-hang.lbx w",
        "..%2Fsecret.lbx r",
        "../secret.lbx r",
        "x/../../secret.lbx r",
        "..%2F..%2Fsecret.lbx r",
        "loopbox-1-2-hang.lbx/.. r",
        "%2E%2E/secret.lbx r",
        "secret.lbx r",
        ".lbx r",
        " r",
    ];
    let mut what = vec![format!("report {file}")];
    what.extend(asked.iter().map(|asked| format!("open {base}{asked}")));
    let said = phone.say(34, &what)?;
    assert_eq!(said.len(), asked.len(), "{said:#?}");
    assert!(
        said[..2].iter().all(|line| line.starts_with("refused: java.lang.SecurityException")),
        "{said:#?}"
    );
    let gone = "refused: java.io.FileNotFoundException: no report: ";
    assert!(said[2..].iter().all(|line| line.starts_with(gone)), "{said:#?}");
    Ok(())
}

#[test]
fn older_versions_have_no_channel_and_no_flag_that_they_do_not_know() -> Result<()> {
    let folder = tempdir()?;
    let file = small(folder.path(), "loopbox-1-2-hang", ["hang", "hang", ""], 5)?;
    let step = format!("report {file}");
    for (level, channels, flags) in [
        (21, "{}", "8000000"),
        (23, "{}", "c000000"),
        (25, "{}", "c000000"),
        (26, "{io.loopbox.screen=2}", "c000000"),
    ] {
        let said = Phone::new()?.say(level, &own(&[&step, "notifications"]))?;
        assert_eq!(said[0], format!("channels {channels}"), "{level}");
        assert_eq!(said[3], format!("  intent flags {flags}, at 5"), "{level}");
    }
    Ok(())
}

#[test]
fn without_the_permission_the_log_says_where_the_screen_is() -> Result<()> {
    let phone = Phone::new()?;
    let folder = tempdir()?;
    let step = format!("report {}", small(folder.path(), "loopbox-1-2-hang", ["hang", "hang", ""], 5)?);
    let allowed = ["33", "true", "false"].map(str::to_owned);
    let said = phone.say_in(allowed, &own(&[&step, "notifications", "list"]))?;
    assert_eq!(
        said[..2],
        own(&[
            "LOG no notification of loopbox-1-2-hang.lbx, the app may not post any: open its icon Loopbox, or adb shell am start \
             -n com.example.shop/io.loopbox.screen.Launcher",
            "channels {}",
        ])
    );
    position(&said, "main runs loopbox-1-2-hang")?;
    // A build that is none of a developer's.
    let released = Phone::new()?;
    let said =
        released.say_in(["33", "false", "true"].map(str::to_owned), &own(&[&step, "notifications"]))?;
    assert_eq!(
        said,
        own(&["LOG loopbox-screen is for debug builds, and does nothing in this one", "channels {}"])
    );
    assert!(!released.home.path().join("loopbox-screen").exists());
    Ok(())
}

#[test]
fn what_is_no_hang_is_kept_without_a_notification_and_goes_first() -> Result<()> {
    let phone = Phone::new()?;
    let folder = tempdir()?;
    let mut what = Vec::new();
    let mut say = |name: String, about: [&str; 3], time_ms: u64| -> Result<()> {
        what.push(format!("report {}", small(folder.path(), &name, about, time_ms)?));
        Ok(())
    };
    say("old-hang".to_owned(), ["hang", "hang", ""], 1)?;
    say("old-recovered".to_owned(), ["recovered", "unknown", ""], 2)?;
    for nth in 0..19 {
        say(format!("asked-{nth:02}"), ["requested", "responsive", "shaken"], 10 + nth)?;
    }
    say("of-another-app".to_owned(), ["sigquit", "responsive", ""], 40)?;
    what.push("notifications".to_owned());
    what.push("list".to_owned());
    let said = phone.say(34, &what)?;
    assert_eq!(
        said[1],
        "notification io.loopbox.screen 1: The process was ended in a hang | main runs old-recovered"
    );
    let kept = phone.copies()?;
    assert_eq!(kept.len(), 20);
    assert_eq!(kept[..2], own(&["asked-02.lbx", "asked-03.lbx"]), "the oldest that were asked for are gone");
    for name in ["old-hang.lbx", "old-recovered.lbx", "of-another-app.lbx"] {
        assert!(kept.contains(&name.to_owned()), "{name}");
    }
    let newest = position(&said, "Asked for stacks by the system; main responded")?;
    let asked = position(&said, "Asked for: shaken")?;
    let oldest = position(&said, "Hang: nothing shows that the system noticed")?;
    assert!(newest < asked && asked < oldest, "the newest first");
    Ok(())
}

/// The timeline of the seconds before the report. Its rectangles are compared with the file's records.
#[test]
fn the_timeline_shows_the_records_where_they_were() -> Result<()> {
    let phone = Phone::new()?;
    let folder = tempdir()?;
    let file = folder.path().join("loopbox-28179-1-sigquit.lbx");
    fs::copy(golden("report-1.0.lbx"), &file)?;
    let mut what = own(&["list", "click Asked for stacks", "draw 1000"]);
    what.insert(0, format!("report {}", file.display()));
    let said = phone.say(34, &what)?;
    let report = read(&file)?;
    let MainState::Running(running) = &report.main else { panic!("{:?}", report.main) };
    let begin = running.as_of_ns - 10_000_000_000;
    let place = |at: Uptime| 1_000.0 * (at - begin) as f64 / 1e10;
    let at = position(&said, "view 1000 x 240")?;
    // Top: 16 dp for the time. Foot: 56 dp of bars below it. Two pixels a dp.
    let (top, foot) = (32.0, 144.0);
    let mut wanted = Vec::new();
    let mut rect = |colour: &str, from: Uptime, wall: u64, top: f64, foot: f64| {
        let (left, right) = (place(from), place(from + wall));
        wanted.push((colour.to_owned(), [left, top, right.max(left + 1.0), foot]));
    };
    for record in &report.history {
        let work = record.work_ns as f64 / record.wall_ns as f64;
        let colour = match record.kind {
            RecordKind::Group => "3fa187",
            RecordKind::Single => "d9772b",
            _ => "a0a0a0",
        };
        let worked = top + (foot - top) * (1.0 - work);
        if work < 1.0 {
            rect(&format!("60{colour}"), record.start_ns, record.wall_ns, top, worked);
        }
        rect(&format!("ff{colour}"), record.start_ns, record.wall_ns, worked, foot);
    }
    for detail in report.history.iter().filter(|r| r.kind == RecordKind::Group).flat_map(|r| &r.details) {
        rect("ff1f6f5c", detail.start_ns, detail.wall_ns, top, foot);
    }
    rect("ffd03b3b", running.start_ns, running.as_of_ns - running.start_ns, top, foot);
    let drawn = said[at + 1..].iter().take_while(|line| line.starts_with("rect "));
    let drawn: Vec<(String, Vec<f64>)> = drawn
        .map(|line| {
            let mut words = line.split(' ').skip(1);
            let colour = words.next().unwrap_or_default().to_owned();
            (colour, words.map(|number| number.parse().unwrap()).collect())
        })
        .collect();
    assert_eq!(drawn.len(), wanted.len(), "{said:#?}");
    for ((colour, found), (wanted_colour, wanted)) in drawn.iter().zip(&wanted) {
        let near = found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 0.2);
        assert!(colour == wanted_colour && near, "{colour} {found:?}, not {wanted_colour} {wanted:?}");
    }
    let words: Vec<&str> = said.iter().filter_map(|line| line.strip_prefix("words ")).collect();
    assert!(words[0].ends_with(" -10.00 s") && words[1].ends_with(" now"), "{words:?}");
    for word in ["messages", "one long message", "idle", "frozen", "not seen", "at the report"] {
        assert!(words.iter().any(|line| line.ends_with(&format!(" {word}"))), "{word}: {words:?}");
    }
    Ok(())
}

/// A process may be ended while it writes, and a disk may fail.
#[test]
fn a_damaged_file_costs_what_is_damaged() -> Result<()> {
    let phone = Phone::new()?;
    for name in ["report-1.0-anr.lbx", "report-1.0-lost.lbx", "report-1.0-frames.lbx"] {
        let said = phone.say(34, &[format!("cuts {}", golden(name).display())])?;
        // Nothing of it is refused but what does not begin as a report: three cuts and two changes.
        let length = fs::metadata(golden(name))?.len().div_ceil(7);
        assert_eq!(said, [format!("refused 5 of {}", 2 * length)], "{name}");
    }
    let folder = tempdir()?;
    let file = folder.path().join("loopbox-1-1-sigquit.lbx");
    let whole = encode(&anr("report-1.0-anr.lbx")?)?;
    let history = whole.windows(4).position(|tag| tag == b"HIST").context("no history")?;
    fs::write(&file, &whole[..history])?;
    let said =
        phone.say(34, &own(&[&format!("report {}", file.display()), "list", "click Probably an ANR"]))?;
    position(&said, "picture: What main did in the last 10.00 s")?;
    position(&said, "Main runs")?;
    assert!(!said.iter().any(|line| line.starts_with("Main thread in ")), "{said:#?}");
    Ok(())
}
