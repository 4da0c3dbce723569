//! The block monitor and the performance monitor on a real ART: what they report of messages that block, what
//! happens to their files, and that the main thread does nothing for them.

use anyhow::{Context, Result, ensure};
use lab_launch::{App, Running, java_below};
use lab_reports::LIMIT;
use loopbox_e2e::launcher;
use loopbox_e2e::monitor::kill_appending;
use loopbox_e2e::trace::Trace;
use loopbox_setup::jvm;
use loopbox_setup::workspace::root;
use loopbox_testbed::to_test_on;
use serde_json::Value;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::tempdir;

/// Runs `scenario.Monitored` to its end. Returns what it printed.
fn scenario(app: App) -> Result<Vec<String>> {
    let ended = app.start()?.finish(LIMIT)?.success()?;
    Ok(scripted(&ended.lines))
}

fn scripted(lines: &[String]) -> Vec<String> {
    lines.iter().filter_map(|line| line.strip_prefix("SCRIPT ").map(str::to_owned)).collect()
}

fn after<'a>(said: &'a [String], word: &str) -> Vec<&'a str> {
    said.iter().filter_map(|line| line.strip_prefix(word)).collect()
}

fn monitored(testbed: &str, folder: &Path) -> Result<App> {
    let app = launcher(testbed)?.app("scenario.Monitored");
    Ok(app.argument(format!("dir={}", folder.display())))
}

fn json_lines(file: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    ensure!(text.ends_with('\n'), "the last line has an end");
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

/// The example of the uiperf article, except that each block lasts until the monitor has seen enough of it.
#[test]
fn a_block_is_reported_while_it_lasts_and_is_a_line_when_it_is_over() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let said = scenario(monitored(&testbed, folder.path())?)?;
        assert_eq!(after(&said, "started "), ["true true"], "{testbed}: {said:?}");
        assert_eq!(after(&said, "stopped "), ["false"]);
        let blocks = after(&said, "block ");
        assert_eq!(blocks.len(), 3, "{testbed}: one stack of each message: {said:?}");
        for block in blocks {
            let (age, stack) = block.split_once(' ').context("no stack")?;
            assert!(age.parse::<u64>()? >= 200, "{age}");
            check_stack(&stack.trim_end_matches('|').split('|').collect::<Vec<_>>())?;
        }
        let stalls = after(&said, "stall ");
        assert_eq!(stalls.len(), 3);
        assert!(stalls.iter().all(|stall| stall.starts_with("2 true Feed {")), "{stalls:?}");

        let files = after(&said, "file ");
        let [file] = files[..] else { panic!("{testbed}: {files:?}") };
        assert!(file.contains("/monitor/uiperf-20"), "{file}");
        let lines = json_lines(Path::new(file))?;
        check_base(&lines[0]).with_context(|| format!("{testbed}: {}", lines[0]))?;
        ensure!(lines[0]["base"].get("sys_cpu").is_none(), "this kernel says it: {}", lines[0]);
        let ours: Vec<&Value> = lines[1..].iter().filter(|line| is_block(line)).collect();
        assert_eq!(ours.len(), 3);
        for (line, stall) in ours.into_iter().zip(stalls) {
            let heard: Value = serde_json::from_str(stall.trim_start_matches("2 true Feed "))?;
            assert_eq!(*line, heard, "{testbed}: the listener has the same");
            check_line(line).with_context(|| format!("{testbed}: {line}"))?;
            let samples = line["samples"].as_array().context("no samples")?;
            // The kernel counts ticks of 10 ms: two samples may have none between them, and then no share of
            // it either.
            let apart = |pair: &[Value]| pair[1]["at"].as_i64() >= pair[0]["at"].as_i64().map(|at| at + 50);
            let counted = |pair: &[Value]| pair[1]["sys_cpu"].is_number() || !apart(pair);
            ensure!(samples.windows(2).all(counted), "{testbed}: {line}");
        }
    }
    Ok(())
}

/// The monitor calls the listener on its own thread. So the monitor's thread is then interrupted.
#[test]
fn a_listener_that_leaves_its_thread_interrupted_does_not_end_the_monitor() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let said = scenario(monitored(&testbed, folder.path())?.argument("interrupts=yes"))?;
        let files = after(&said, "file ");
        let [file] = files[..] else { panic!("{testbed}: {files:?}") };
        let lines = json_lines(Path::new(file))?;
        assert_eq!(lines.iter().filter(|line| is_block(line)).count(), 3, "{testbed}: {lines:?}");
    }
    Ok(())
}

fn is_block(line: &Value) -> bool {
    line["message"].as_str().is_some_and(|message| message.contains("scenario.Monitored$Block"))
}

/// Checks the form of the uiperf article, with the culprit above the Looper.
fn check_stack(stack: &[&str]) -> Result<()> {
    let at = |start: &str| {
        let found = stack.iter().position(|frame| frame.starts_with(start));
        found.with_context(|| format!("no {start}: {stack:#?}"))
    };
    let culprit = at("scenario.Monitored$Block.run(Monitored.java:")?;
    let dispatch = at("android.os.Handler.dispatchMessage(Handler.java:")?;
    let looper = at("android.os.Looper.loop(Looper.java:")?;
    ensure!(culprit < dispatch && dispatch < looper, "top first: {stack:#?}");
    ensure!(stack.iter().all(|frame| frame.contains('(') && frame.ends_with(')')), "{stack:#?}");
    Ok(())
}

fn check_base(line: &Value) -> Result<()> {
    let base = &line["base"];
    ensure!(line["v"] == 1 && line["lost"] == 0, "first of all");
    ensure!(base["user"] == "用户 7", "{base}");
    ensure!(base["api"].as_u64().is_some_and(|api| api >= 29), "{base}");
    for known in ["cores", "disk_mb", "disk_free_mb", "mem_mb"] {
        ensure!(base[known].as_u64().is_some_and(|value| value > 0), "{known}: {base}");
    }
    ensure!(base["started_ms"].as_u64().is_some_and(|ms| ms > 1_700_000_000_000), "{base}");
    let mhz = base.get("cpu_max_mhz");
    ensure!(mhz.is_none_or(|mhz| mhz.as_u64().is_some_and(|mhz| mhz > 0)), "unknown is not zero: {base}");
    ensure!(base["process"].is_string() && base["levels_ms"] == serde_json::json!([100, 300]), "{base}");
    Ok(())
}

fn check_line(line: &Value) -> Result<()> {
    ensure!(
        line["v"] == 1 && line["level"] == 2 && line["scene"] == "Feed" && line["frame"] == false,
        "what it is"
    );
    let wall = line["wall_ms"].as_f64().context("no duration")?;
    ensure!(wall > 200.0 && line["ended"] == "returned", "{wall}");
    // Not known where the record before it was not much shorter.
    let cpu = &line["cpu_ms"];
    ensure!(cpu.is_null() || cpu.as_f64().is_some_and(|cpu| cpu <= wall), "{cpu} of {wall}");
    let stacks = line["stacks"].as_array().context("no stacks")?;
    let frames = |stack: &Value| -> Vec<String> {
        stack["frames"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|f| f.as_str().map(str::to_owned))
            .collect()
    };
    let first = frames(stacks.first().context("no stack was taken")?);
    check_stack(&first.iter().map(String::as_str).collect::<Vec<_>>())?;
    let seen: u64 = stacks.iter().filter_map(|stack| stack["n"].as_u64()).sum();
    ensure!(seen <= line["stack_samples"].as_u64().context("no number")?, "{seen} stacks");
    let samples = line["samples"].as_array().context("no samples")?;
    let at: Vec<f64> = samples.iter().filter_map(|sample| sample["at"].as_f64()).collect();
    ensure!(at[0] < 1.0, "one before: {at:?}");
    ensure!(at.iter().filter(|&&at| at > 0.0 && at < wall).count() >= 2, "two during {wall} ms: {at:?}");
    ensure!(at.last().is_some_and(|&last| last + 1.0 >= wall), "one after {wall} ms: {at:?}");
    for sample in &samples[1..] {
        ensure!(sample["proc_cpu"].is_number() && sample["threads"].is_u64(), "{sample}");
        ensure!(sample["x"]["scenario.samples"].is_u64(), "of the app's sampler: {sample}");
    }
    Ok(())
}

/// What the kernel of a phone answers to an app since Android 8, simulated here: the app may not read the CPU
/// use of the machine (`/proc/stat`). There are no pressure figures, as with older kernels.
const REFUSALS: &str = r#"
    mount --bind "$0/file" /proc/stat || exit 1
    if [ -d /proc/pressure ]; then mount --bind "$0/folder" /proc/pressure || exit 1; fi
    exec setpriv --bounding-set=-dac_override,-dac_read_search "$@""#;

#[test]
fn what_the_kernel_refuses_is_null_with_why() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let (folder, refused) = (tempdir()?, tempdir()?);
        fs::write(refused.path().join("file"), "")?;
        fs::create_dir(refused.path().join("folder"))?;
        fs::set_permissions(refused.path().join("file"), Permissions::from_mode(0o000))?;
        let refused = refused.path().to_str().context("no text")?;
        let app = monitored(&testbed, folder.path())?;
        let said = scenario(app.started_by("unshare", &["--mount", "sh", "-c", REFUSALS, refused]))?;
        let files = after(&said, "file ");
        let lines = json_lines(Path::new(files.first().with_context(|| format!("{testbed}: {said:?}"))?))?;
        check_base(&lines[0])?;
        let base = lines[0]["base"].as_object().context("no base")?;
        assert_eq!((&base["sys_cpu"], &base["sys_cpu_why"]), (&Value::Null, &"EACCES".into()), "{base:?}");
        assert_eq!((&base["psi"], &base["psi_why"]), (&Value::Null, &"ENOENT".into()), "{base:?}");
        for line in lines[1..].iter().filter(|line| is_block(line)) {
            check_line(line).with_context(|| format!("{testbed}: {line}"))?;
            let samples = line["samples"].as_array().context("no samples")?;
            let names =
                samples.iter().flat_map(|sample| sample.as_object().into_iter().flat_map(|s| s.keys()));
            let refused: Vec<_> =
                names.filter(|name| *name == "sys_cpu" || name.starts_with("psi")).collect();
            assert!(refused.is_empty(), "{testbed}: {line}");
        }
    }
    Ok(())
}

/// Another library has set a Printer, and then ours is set. The other Printer gets its lines while ours is
/// set, and also after ours is removed.
#[test]
fn with_the_printer_hook_another_librarys_printer_stays() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let app = monitored(&testbed, folder.path())?.argument("hook=PRINTER").argument("printer=yes");
        let said = scenario(app.argument("blocks=1"))?;
        assert_eq!(after(&said, "prints "), ["true"], "{testbed}: {said:?}");
        assert_eq!(after(&said, "block ").len(), 1);
        let files = after(&said, "file ");
        let lines = json_lines(Path::new(files.first().context("no file")?))?;
        let line = lines.iter().find(|line| is_block(line)).context("no line")?;
        check_line(line).with_context(|| format!("{testbed}: {line}"))?;
    }
    Ok(())
}

#[test]
fn the_main_thread_has_nothing_to_do_with_files() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        main_has_nothing_to_do_with_files(&testbed).context(testbed)?;
    }
    Ok(())
}

fn main_has_nothing_to_do_with_files(testbed: &str) -> Result<()> {
    let folder = tempdir()?;
    let gate = folder.path().join("gate");
    let home = folder.path().join("home");
    let mut app = monitored(testbed, &home)?.argument(format!("gate={}", gate.display())).start()?;
    app.wait_for("SCRIPT waits", LIMIT)?;
    let trace = Trace::of(app.pid(), folder.path())?;
    fs::write(gate, "")?;
    app.wait_for("SCRIPT stopped", LIMIT)?;
    let is_last = |call: &str| call.contains("SCRIPT stopped");
    let mut calls = trace.wait_for("the scenario is over", is_last)?;
    // What follows is the end of the recorder.
    calls.truncate(calls.iter().position(|(_, call)| is_last(call)).context("it goes on")?);
    let writes = calls.iter().filter(|(_, call)| call.starts_with("write(") && call.contains("/uiperf-"));
    let writers: Vec<u32> = writes.map(|(thread, _)| *thread).collect();
    ensure!(writers.len() >= 4, "the base and three lines, one write each: {calls:#?}");
    ensure!(!writers.contains(&app.pid()), "main writes");
    let opened = calls.iter().filter(|(_, call)| call.contains("/uiperf-") && call.contains("O_APPEND"));
    ensure!(opened.count() >= 4, "each at the end of the file");
    let main: Vec<&str> =
        calls.iter().filter(|(thread, _)| *thread == app.pid()).map(|(_, call)| &call[..]).collect();
    let began = main.iter().position(|call| call.contains("SCRIPT started")).context("not started")?;
    for call in &main[began..] {
        // What it prints, which is the scenario's doing; the line may come in two halves.
        let says = call.starts_with("write(") && call.contains("<pipe:") || call.contains("write resumed");
        ensure!(says || call.starts_with("tgkill"), "main: {call}\n{main:#?}");
    }
    Ok(())
}

#[test]
fn levels_the_calendar_lines_and_files_go_by_the_rules() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let full = folder.path().join("full");
        fs::create_dir(&full)?;
        std::os::unix::fs::symlink("/dev/full", full.join("uiperf-2026-11-22.jsonl"))?;
        fs::write(folder.path().join("status"), "Name: a\nThreads: many\nVmRSS:\t 42 kB\n")?;
        let app = launcher(&testbed)?.app("scenario.MonitorRules");
        let said = scenario(app.argument(format!("dir={}", folder.path().display())))?;
        let levels = ["99999 0", "100000 0", "100001 1", "100100 1", "300000 1", "300100 2", "own 2"]
            .map(str::to_owned);
        assert_eq!(after(&said, "level "), levels);
        let days = ["2024-12-30", "2024-12-29", "2024-12-30", "2024-02-29", "2100-03-01", "1969-12-31"];
        assert_eq!(after(&said, "day "), days);
        let stamps = ["2026-11-21T20:10:02.588+00:00", "2026-11-21T16:40:02.588-03:30"];
        assert_eq!(after(&said, "stamp "), stamps);
        check_lines(&after(&said, "line "))?;
        check_files(&said, folder.path())?;
        check_upload(&said);
        // Two processes write into a folder: each says of each file who it is, also where one has packed it.
        let [first, other] = [
            "base of main,main,base of push,push,main,push",
            "base of push,push,base of main,main,push,main",
        ];
        assert_eq!(after(&said, "shared,"), [first, other, first, other]);
        assert_eq!(after(&said, "numbers "), ["null null null 42"], "unknown is not zero");
        assert_eq!(after(&said, "ticks "), ["[27, 117]", "[-1, -1]", "23", "-1"]);
    }
    Ok(())
}

fn check_lines(lines: &[&str]) -> Result<()> {
    let [large, unknown, small] = lines else { panic!("{lines:?}") };
    ensure!((2_500..4_096).contains(&large.len()), "as much as fits: {}", large.len());
    let large: Value = serde_json::from_str(large)?;
    assert_eq!(large["t"], "2026-11-21T20:10:02.588+00:00");
    assert_eq!(large["end"], "2026-11-21T20:10:03.319+00:00");
    assert_eq!(
        (&large["wall_ms"], &large["cpu_ms"], &large["wait_ms"]),
        (&731.2.into(), &206.0.into(), &12.0.into())
    );
    assert_eq!(large["message"], "a.卡顿Handler b.C: 0");
    let frames = r#"{"dropped":43,"scene":"Feed","scene_frames":83,"scene_dropped":54,"scene_fps":54.1,"scene_hitch_ms_per_s":119.4}"#;
    assert_eq!(large["display_frames"], serde_json::from_str::<Value>(frames)?);
    let unknown: Value = serde_json::from_str(unknown)?;
    let frames = &unknown["display_frames"];
    assert_eq!((&frames["dropped"], &frames["scene_fps"]), (&Value::Null, &Value::Null));
    let stack = &large["stacks"][0];
    let frames = stack["frames"].as_array().context("no frames")?;
    assert_eq!(frames[0], "com.example.购物.Cart.load\"\\\u{1}(Cart.java:1)");
    assert_eq!(frames.len() as u64 + stack["cut"].as_u64().context("no cut")?, 100);
    assert_eq!((&stack["n"], &stack["from"], &stack["to"]), (&20.into(), &50.into(), &700.into()));
    let small: Value = serde_json::from_str(small)?;
    assert_eq!(
        (&small["cpu_ms"], &small["wait_ms"], &small["message"]),
        (&Value::Null, &Value::Null, &"".into())
    );
    assert!(small.get("display_frames").is_none(), "no frames are recorded: {small}");
    assert_eq!((&small["ended"], &small["wall_ms"]), (&"threw".into(), &100.1.into()));
    Ok(())
}

fn check_files(said: &[String], folder: &Path) -> Result<()> {
    let day = |name: &str| -> PathBuf { folder.join(format!("{name}.jsonl")) };
    assert_eq!(after(said, "days "), ["uiperf-2024-12-30.jsonl uiperf-2024-12-31.jsonl"]);
    let text = fs::read_to_string(day("days/uiperf-2024-12-30"))?;
    let (whole, torn): (Vec<Value>, Vec<&str>) = {
        let read = |line: &str| serde_json::from_str::<Value>(line).ok();
        (text.lines().filter_map(read).collect(), text.lines().filter(|line| read(line).is_none()).collect())
    };
    let numbers: Vec<_> = whole.iter().filter_map(|line| line["n"].as_u64()).collect();
    assert_eq!(numbers, [1, 3, 5], "the torn line has cost itself alone: {text}");
    assert_eq!(torn.len(), 1);
    assert!(whole.iter().filter(|line| !line["n"].is_null()).all(|line| line["message"] == "主线程卡顿"));
    assert_eq!(whole[0]["base"]["device"], "设备");
    let later = json_lines(&day("days/uiperf-2024-12-31"))?;
    assert_eq!(later.iter().filter_map(|line| line["n"].as_u64()).collect::<Vec<_>>(), [4, 6]);
    assert_eq!(after(said, "gone "), ["true"]);
    let again = json_lines(&day("days/gone/uiperf-2026-11-22"))?;
    assert_eq!((again.len(), &again[1]["n"]), (2, &2.into()), "with its base again");
    assert_eq!(after(said, "nowhere "), ["false []"]);

    assert_eq!(
        after(said, "kept "),
        ["uiperf-2026-11-01.jsonl uiperf-2026-11-02.jsonl uiperf-2026-11-03.jsonl"]
    );
    let files =
        |days: &[&str]| days.iter().map(|day| format!("uiperf-{day}.jsonl")).collect::<Vec<_>>().join(" ");
    let before = ["1970-01-01", "1970-01-02", "2020-01-01"];
    assert_eq!(after(said, "unset "), [files(&[&before[..], &["2026-10-31", "2026-11-01"]].concat())]);
    assert_eq!(after(said, "set "), [files(&[&before[..], &["2026-11-01", "2026-11-03"]].concat())]);
    assert_eq!(after(said, "seen "), ["true"]);
    assert_eq!(after(said, "later "), [files(&[&before[1..], &["2026-11-03", "2026-11-04"]].concat())]);
    assert_eq!(after(said, "written "), ["60"; 5]);
    let left = (2..=5).map(|day| format!("uiperf-2026-11-0{day}.jsonl")).collect::<Vec<_>>().join(" ");
    assert_eq!(after(said, "left "), [left]);
    assert_eq!(
        after(said, "full true "),
        ["uiperf-2026-11-06.jsonl"],
        "the running day stays, and ends there"
    );

    assert_eq!(after(said, "full disk "), ["false false"]);
    assert_eq!(after(said, "room "), ["true"]);
    let room = json_lines(&day("full/uiperf-2026-11-22"))?;
    assert_eq!((&room[0]["lost"], &room[1]["n"]), (&2.into(), &3.into()), "what was lost is counted");
    Ok(())
}

fn check_upload(said: &[String]) {
    let uploads = [
        "uiperf-2026-11-21.1.jsonl.gz of 2026-11-21: 2 lines, no",
        "uiperf-2026-11-21.1.jsonl.gz of 2026-11-21: 2 lines, throws",
        "uiperf-2026-11-21.1.jsonl.gz of 2026-11-21: 2 lines, yes",
        "uiperf-2026-11-22.1.jsonl.gz of 2026-11-22: 2 lines, yes",
        "uiperf-2026-11-22.2.jsonl.gz of 2026-11-22: 2 lines, yes",
        "uiperf-2026-11-22.3.jsonl.gz of 2026-11-22: 2 lines, yes",
    ];
    assert_eq!(after(said, "upload "), uploads);
    let waiting = after(said, "waiting ");
    assert_eq!(
        waiting[0],
        "uiperf-2026-11-21.1.jsonl.gz uiperf-2026-11-22.1.jsonl.gz uiperf-2026-11-22.jsonl"
    );
    assert_eq!(said.iter().filter(|line| *line == "sent").count(), 1, "and nothing is left");
}

/// An app whose processes all upload.
#[test]
fn a_file_is_sent_by_one_process() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let gate = folder.path().join("gate");
        let files = folder.path().join("monitor");
        fs::create_dir(&files)?;
        fs::write(files.join("uiperf-2026-11-21.jsonl"), "{}\n")?;
        fs::write(files.join("uiperf-2026-11-22.jsonl"), "{}\n")?;
        let start = || -> Result<Running> {
            let app = launcher(&testbed)?.app("scenario.MonitorSends");
            app.argument(format!("dir={}", files.display()))
                .argument(format!("gate={}", gate.display()))
                .start()
        };
        let mut first = start()?;
        first.wait_for("SCRIPT sends", LIMIT)?;
        let mut other = start()?;
        other.wait_for("SCRIPT tried 5", LIMIT)?;
        fs::write(&gate, "")?;
        let mut sent = Vec::new();
        for app in [first, other] {
            let ended = app.finish(LIMIT)?.success()?;
            sent.extend(after(&scripted(&ended.lines), "sends ").into_iter().map(str::to_owned));
        }
        sent.sort();
        assert_eq!(sent, ["uiperf-2026-11-21.1.jsonl.gz", "uiperf-2026-11-22.1.jsonl.gz"], "{testbed}");
        assert_eq!(fs::read_dir(&files)?.count(), 1, "{testbed}: the lock alone is left");
    }
    Ok(())
}

/// The program `monitor_kill` repeats this more often.
#[test]
fn a_killed_process_loses_no_line_but_the_one_in_flight() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let folder = tempdir()?;
        let appended = kill_appending(&testbed, folder.path(), 10)?;
        println!("{testbed}: {appended:?}");
        assert_eq!(appended.runs, 10);
        assert!(appended.announced >= 10 * 5);
    }
    Ok(())
}

/// What a server received of one file: its name, its day, and its lines.
#[derive(Debug, PartialEq, Eq)]
struct Posted {
    name: String,
    day: String,
    lines: Vec<String>,
}

/// Takes one POST of a packed file.
fn take_post(server: &TcpListener, answer: &str) -> Result<Posted> {
    let mut stream = BufReader::new(server.accept()?.0);
    let (mut length, mut line) = (0, String::new());
    let mut posted = Posted { name: String::new(), day: String::new(), lines: Vec::new() };
    while stream.read_line(&mut line)? > 2 {
        if let Some((header, value)) = line.trim_end().split_once(": ") {
            match header {
                "Content-Length" => length = value.parse()?,
                "X-Monitor-File" => value.clone_into(&mut posted.name),
                "X-Monitor-Day" => value.clone_into(&mut posted.day),
                "Content-Encoding" => ensure!(value == "gzip", "{value}"),
                _ => {}
            }
        }
        line.clear();
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let folder = tempdir()?;
    let packed = folder.path().join("body.gz");
    fs::write(&packed, body)?;
    let unpacked = Command::new("gzip").arg("-dc").arg(packed).output()?;
    ensure!(unpacked.status.success(), "not packed by gzip");
    posted.lines = String::from_utf8(unpacked.stdout)?.lines().map(str::to_owned).collect();
    let head = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.get_mut().write_all(head.as_bytes())?;
    Ok(posted)
}

/// A server that is busy at first, then accepts the first file, and answers that the second one is too large,
/// so that it is not sent again.
#[test]
fn the_sample_uploader_speaks_http() -> Result<()> {
    let folder = tempdir()?;
    let server = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/uiperf", server.local_addr()?);
    let serve = std::thread::spawn(move || -> Result<Vec<Posted>> {
        ["503 Busy", "200 OK", "413 Too Large"].iter().map(|answer| take_post(&server, answer)).collect()
    });
    let glue = root().join("jni-glue");
    let own = [
        "platform/FileAge",
        "platform/JsonLine",
        "platform/LocalTime",
        "monitor/MonitorFiles",
        "recording/MonitorSettings",
        "monitor/MonitorUpload",
        "monitor/SendLock",
        "platform/OwnFile",
        "platform/RecorderLog",
        "platform/Tag",
    ];
    let own = own.map(|name| format!("java/io/loopbox/internal/{name}.java"));
    let public = ["Logger", "MonitorListener", "MonitorUploader", "Stall"]
        .map(|name| format!("java/io/loopbox/{name}.java"));
    let post = ["FilePost", "MonitorPost"]
        .map(|name| format!("integrations/upload/java/io/loopbox/integration/upload/{name}.java"));
    let mut sources: Vec<PathBuf> =
        own.iter().chain(&public).chain(&post).map(|name| glue.join(name)).collect();
    let tests = root().join("tests/integrate");
    sources.extend(java_below(&[glue.join("java-stubs/androidx/annotation"), tests.join("jvm")])?);
    sources.push(tests.join("MonitorUploads.java"));
    let arguments = [url, folder.path().display().to_string()];
    let said = jvm::run_main(&sources, "integrate.MonitorUploads", &arguments)?;
    assert_eq!(said, "wrote true\nwrote true\nall sent\n");
    let posted = |day: &str| Posted {
        name: format!("uiperf-{day}.1.jsonl.gz"),
        day: day.to_owned(),
        lines: vec![r#"{"base":{}}"#.to_owned(), format!(r#"{{"day":"{day}"}}"#)],
    };
    assert_eq!(serve.join().unwrap()?, [posted("2026-11-21"), posted("2026-11-21"), posted("2026-11-22")]);
    assert_eq!(fs::read_dir(folder.path())?.count(), 1, "the lock alone is left");
    Ok(())
}

/// `LoopboxTrace`, the integration for debug builds, writes sections of the system's trace. In this test a
/// class that prints the sections replaces `android.os.Trace`.
#[test]
fn a_message_that_blocks_is_a_section_of_the_systems_trace_until_it_ends() -> Result<()> {
    let (glue, tests) = (root().join("jni-glue"), root().join("tests/integrate"));
    let public = ["java/io/loopbox/MonitorListener.java", "java/io/loopbox/Stall.java"];
    let mut sources: Vec<PathBuf> = public.map(|name| glue.join(name)).to_vec();
    sources.push(glue.join("integrations/debug/java/io/loopbox/integration/debug/LoopboxTrace.java"));
    let annotations = glue.join("java-stubs/androidx/annotation");
    sources.extend(java_below(&[annotations, tests.join("trace")])?);
    sources.push(tests.join("Traced.java"));
    let said = jvm::run_main(&sources, "io.loopbox.Traced", &["29".to_owned()])?;
    let cut = format!("main blocks, after 200 ms: {}", "n".repeat(100));
    let wanted = format!(
        "1 begins: main blocks, after 201 ms: com.example.Feed.load(Feed.java:7)
2 begins: main took 120 ms: Handler com.example.Ad 1
2 ends: main took 120 ms: Handler com.example.Ad 1
1 ends: main blocks, after 201 ms: com.example.Feed.load(Feed.java:7)
3 begins: main took 131 ms: Handler com.example.Ad 2
3 ends: main took 131 ms: Handler com.example.Ad 2
4 begins: main blocks, after 200 ms: a.A.a
4 ends: main blocks, after 200 ms: a.A.a
5 begins: main blocks, after 200 ms: b.B.b
5 ends: main blocks, after 200 ms: b.B.b
6 begins: {cut}
"
    );
    assert_eq!(said, wanted);
    assert_eq!(jvm::run_main(&sources, "io.loopbox.Traced", &["28".to_owned()])?, "", "no such sections");
    Ok(())
}
