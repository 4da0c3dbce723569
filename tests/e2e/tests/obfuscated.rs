//! An app as it ships: R8 renames and inlines it, a real Android Runtime runs it, and its mapping restores
//! the source's names in the report. The result is compared with R8's own Retrace for the same mapping.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lab_launch::shrink::{Release, Shrinker, Shrunk};
use lab_launch::{java_below, reports};
use lab_reports::{LIMIT, details_of, feature, read};
use loopbox_e2e::launcher;
use loopbox_e2e::source_lines::check_lines;
use loopbox_format::model::{Feature, MainState, PackedTrace, Report, Token};
use loopbox_format::report::Decoded;
use loopbox_report::retrace::Mapping;
use loopbox_report::{Analysis, Frame};
use loopbox_setup::command::run;
use loopbox_setup::progress::Progress;
use loopbox_setup::r8::{Program, R8};
use loopbox_setup::workspace::root;
use loopbox_testbed::to_test_on;
use tempfile::tempdir;

/// How many frames one trace has: reports cut longer ones.
const MOST_AT_ONCE: usize = 5_000;

/// The scripted apps with the recorder, as one app that is shrunk with only the library's own rules.
fn demo() -> Result<Shrunk> {
    let glue = root().join("jni-glue");
    let sources = java_below(&[
        glue.join("java"),
        glue.join("java-stubs"),
        glue.join("inhouse/java"),
        glue.join("startup/java"),
        root().join("tests/app"),
    ])?;
    let own = fs::read_to_string(glue.join("android/proguard.txt"))?;
    let rules = format!(
        "{own}\n-keep class scenario.Demo {{ public static void main(java.lang.String[]); }}\n-dontwarn **"
    );
    let launcher = launcher("art10")?;
    Release { testbed: &launcher.testbed, sources, libraries: Vec::new(), rules }.shrink(Shrinker::USUAL)
}

fn shop_stacks(a: &Analysis, token: Token) -> Vec<Vec<&Frame>> {
    let Some(tree) = a.tree(token) else { return Vec::new() };
    let stacks = tree.stack_runs().into_iter().map(|run| tree.stack(run.top));
    stacks
        .map(|stack| {
            let frames = stack.into_iter().map(|frame| &a.frames[frame]);
            frames.filter(|frame| frame.class.starts_with("com.example.shop.")).collect()
        })
        .collect()
}

/// The report that the app writes about itself on a testbed.
fn report_of(app: &Shrunk, testbed: &str) -> Result<Report> {
    let files = tempdir()?;
    let app = launcher(testbed)?.app_in(&app.jar, "scenario.Demo");
    let app = app.argument(format!("dir={}", files.path().display()));
    let ended = app.argument("self=2000").start()?.finish(LIMIT)?;
    let file = reports(files.path())?.pop().with_context(|| format!("no report: {:?}", ended.lines))?;
    read(&file)
}

#[test]
fn the_mapping_of_a_shipped_app_puts_its_source_back() -> Result<()> {
    let app = demo()?;
    for testbed in to_test_on(&["art10", "art11"]) {
        is_put_back(&app, report_of(&app, &testbed)?).with_context(|| testbed.clone())?;
    }
    Ok(())
}

fn is_put_back(app: &Shrunk, report: Report) -> Result<()> {
    // The app ships the annotations by which ART takes natives for fast ones.
    let (on, how) = feature(&report, Feature::Sampler);
    ensure!(on && !how.contains("does not make its thread runnable"), "{how}");
    let mut decoded = Decoded { report, damage: Vec::new() };
    let MainState::Running(running) = &decoded.report.main else { panic!("{:?}", decoded.report.main) };
    let token = running.token;
    let raw = Analysis::new(&decoded);
    ensure!(shop_stacks(&raw, token).iter().all(Vec::is_empty), "the app is obfuscated");
    // R8 made one class of the two handlers, and its mapping knows no more than one name of that.
    let handlers = ["com.example.shop.ShopHandler", "com.example.shop.CheckoutActivity"];
    let of_shop =
        |report: &Report| handlers.iter().map(|name| details_of(report, name).count()).sum::<usize>();
    ensure!(of_shop(&decoded.report) == 0, "the app is obfuscated");

    Mapping::parse(fs::read(&app.mapping)?)?.retrace(&mut decoded.report)?;
    ensure!(of_shop(&decoded.report) > 0, "messages have their names");
    let retraced = Analysis::new(&decoded);
    ensure!(retraced.issues.is_empty(), "{:?}", retraced.issues);
    let stacks = shop_stacks(&retraced, token);
    // The shrinker made one method of some; each line that it noted calls the frame above it.
    ensure!(!stacks.is_empty() && stacks.iter().all(|stack| stack.len() >= 4), "{stacks:?}");
    check_lines(&stacks, "com.example.shop.")?;
    let names: Vec<&str> = stacks[0].iter().map(|frame| frame.method.as_str()).collect();
    ensure!(names[..3] == ["handleMessage", "onPay", "total"], "{names:?}");
    Ok(())
}

/// The frames to retrace, as `class.method(file:line)`: for each method, one frame without a line, and one
/// for the first and the last line of each range in the mapping. For calls of outlined code the mapping has
/// line numbers that no frame has, because they only translate positions of that code. These numbers are left
/// out.
fn frames_of(mapping: &str) -> Vec<String> {
    let (mut class, mut method) = ("", "");
    let mut positions = BTreeMap::<(&str, &str), BTreeSet<&str>>::new();
    let mut outlined = BTreeSet::new();
    for line in mapping.lines() {
        if let Some((_, json)) = line.split_once("outlineCallsite\",\"positions\":{") {
            let numbers = json.split_once('}').map_or("", |(numbers, _)| numbers).split(',');
            outlined.extend(numbers.filter_map(|pair| Some((class, method, pair.split_once(':')?.1))));
        } else if let Some((_, name)) = line.split_once(" -> ").filter(|_| !line.starts_with(['#', ' '])) {
            class = name.trim_end_matches(':');
        } else if let Some((member, name)) = line.split_once(" -> ").filter(|_| line.contains('(')) {
            method = name;
            let of = positions.entry((class, method)).or_default();
            let numbers: Vec<&str> = member.trim_start().splitn(3, ':').collect();
            if let [from, to, _] = numbers[..] {
                of.extend([from, to].into_iter().filter(|text| text.bytes().all(|b| b.is_ascii_digit())));
            }
        }
    }
    let mut frames = Vec::new();
    for ((class, method), numbers) in positions {
        frames.push(format!("{class}.{method}(SourceFile)"));
        let seen = numbers.into_iter().filter(|number| !outlined.contains(&(class, method, *number)));
        frames.extend(seen.map(|number| format!("{class}.{method}(SourceFile:{number})")));
    }
    frames
}

/// The result of R8's own program for each frame.
fn by_r8(mapping: &Path, frames: &[String]) -> Result<Vec<Vec<String>>> {
    let folder = tempdir()?;
    let text = folder.path().join("frames.txt");
    fs::write(
        &text,
        frames.iter().fold(String::new(), |text, frame| text + "java.lang.Error\n\tat " + frame + "\n"),
    )?;
    let r8 = R8::ensure(&Progress::new("R8"))?;
    let retraced = run(r8.command(Program::Retrace).arg(mapping).arg(&text))?;
    let mut found: Vec<Vec<String>> = Vec::new();
    for line in retraced.lines() {
        if line.starts_with("java.lang.Error") {
            found.push(Vec::new());
        } else if let Some(last) = found.last_mut() {
            last.push(line.trim().replacen("at ", "", 1));
        }
    }
    Ok(found)
}

/// The product's result for each frame, printed as ART prints a stack.
fn by_us(mapping: &Path, mut report: Report, frames: &[String]) -> Result<Vec<Vec<String>>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mapping = Mapping::parse(fs::read(mapping)?)?;
    for frames in frames.chunks(MOST_AT_ONCE) {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        for frame in frames {
            write!(packed, "  | next\n  at {frame}\n")?;
        }
        report.system_trace = PackedTrace { gzip: packed.finish()?, offset: 0 };
        let mut retraced = report.clone();
        mapping.retrace(&mut retraced)?;
        let mut text = String::new();
        GzDecoder::new(&*retraced.system_trace.gzip).read_to_string(&mut text)?;
        for line in text.lines() {
            if line == "  | next" {
                found.push(Vec::new());
            } else if let Some(last) = found.last_mut() {
                last.push(line.replacen("  at ", "", 1).replace(":-1)", ")"));
            }
        }
    }
    Ok(found)
}

/// Within ranges the product agrees with R8's own Retrace. For a frame without a line the product may give
/// more: all methods that the frame may be, and the line of a method that has only one line. R8 also leaves
/// out a frame when the outermost of its methods does not exist in the source.
#[test]
fn frames_are_retraced_as_by_r8() -> Result<()> {
    let app = demo()?;
    let report = report_of(&app, "art10")?;
    let frames = frames_of(&fs::read_to_string(&app.mapping)?);
    let (r8, us) = (by_r8(&app.mapping, &frames)?, by_us(&app.mapping, report, &frames)?);
    ensure!(
        r8.len() == frames.len() && us.len() == frames.len(),
        "{} {} {}",
        frames.len(),
        r8.len(),
        us.len()
    );
    let (mut equal, mut others) = (0, Vec::new());
    for ((frame, r8), us) in frames.iter().zip(&r8).zip(&us) {
        let without_line = |frame: &String| frame.split([':', ')']).next().unwrap_or_default().to_owned();
        // R8 names the first of several methods that were merged into one.
        let is_one_of =
            us.iter().any(|line| line.contains(" or ")) || r8.iter().any(|line| line.contains("<OR>"));
        let same = if frame.contains(':') {
            r8 == us || r8.is_empty()
        } else {
            r8.is_empty() || is_one_of || r8.iter().map(without_line).eq(us.iter().map(without_line))
        };
        if r8 == us {
            equal += 1;
        }
        if !same {
            others.push(format!("{frame}\n  R8: {r8:?}\n  us: {us:?}"));
        }
    }
    println!("{} frames, {equal} of them word for word", frames.len());
    assert!(others.is_empty(), "{}", others.join("\n"));
    assert!(frames.len() > 1_000 && equal * 10 > frames.len() * 8, "{equal} of {}", frames.len());
    Ok(())
}
