//! Files of the monitor, from bytes to sums.

use loopbox_monitor::{Summary, html, text, uiperf};
use proptest::prelude::*;

const BASE: &str = r#"{"v":1,"t":"2026-11-21T20:10:02.588+00:00","pid":42,"lost":0,"base":{"os":"10","api":29,"user":"u7"}}"#;

fn stall(day: &str, level: u32, wall_ms: f64, scene: &str, stacks: &str, samples: &str) -> String {
    format!(
        r#"{{"v":1,"t":"{day}T20:10:02.588+00:00","pid":42,"level":{level},"wall_ms":{wall_ms},"cpu_ms":null,"message":"android.os.Handler a.Job: 0","scene":"{scene}","stack_samples":10,"stacks":[{stacks}],"samples":[{samples}],"of a newer version":[1]}}"#
    )
}

const SLEEP: &str = r#"{"n":6,"frames":["java.lang.Thread.sleep(Native Method)","a.Job.run(Job.java:7)","android.os.Handler.handleCallback(Handler.java:900)"]}"#;
const PARSE: &str = r#"{"n":2,"frames":["a.Prices.解析(Prices.java:24)","a.Job.run(Job.java:8)"]}"#;

fn file() -> String {
    let samples = r#"{"at":-500,"proc_cpu":12.0,"free_mb":400},{"at":200,"proc_cpu":80.0},{"at":700,"proc_cpu":100.0},{"at":1210,"proc_cpu":20.0,"free_mb":300}"#;
    [
        BASE.to_owned(),
        stall("2026-11-21", 2, 1_200.0, "Feed", &format!("{SLEEP},{PARSE}"), samples),
        stall("2026-11-22", 1, 150.0, "", "", ""),
        r#"{"v":2,"level":1,"wall_ms":1}"#.to_owned(),
        r#"{"v":1,"t":"2026-11-22T20:10:02.588+0"#.to_owned(),
        stall("2026-11-22", 2, 400.0, "Feed", SLEEP, r#"{"at":-100,"proc_cpu":18.0}"#).replace(
            "\"stack_samples\"",
            r#""display_frames":{"dropped":23,"scene":"Feed","scene_frames":812,"scene_dropped":96,"scene_fps":54.1,"scene_hitch_ms_per_s":12.3},"stack_samples""#,
        ),
    ]
    .join("\n")
        + "\n\n"
}

#[test]
fn stalls_are_summed_up_by_day_scene_and_stack() {
    let mut summary = Summary::default();
    summary.add(file().as_bytes());
    summary.add(BASE.replace("\"lost\":0", "\"lost\":3").as_bytes());
    let view = summary.view();
    assert_eq!((view.files, view.stalls, view.processes, view.users), (2, 3, 2, 1));
    assert_eq!((view.cut_lines, view.lost_lines), (2, 3));
    assert_eq!((view.ms, view.longest_ms), (1_750.0, 1_200.0));
    assert_eq!(view.levels.into_iter().collect::<Vec<_>>(), [(1, 1), (2, 2)]);
    let groups = |groups: &[loopbox_monitor::Group]| -> Vec<(String, u64, f64)> {
        groups.iter().map(|group| (group.name.clone(), group.stalls, group.ms)).collect()
    };
    assert_eq!(groups(&view.days), [("2026-11-21".into(), 1, 1_200.0), ("2026-11-22".into(), 2, 550.0)]);
    assert_eq!(groups(&view.scenes), [("Feed".into(), 2, 1_600.0), (String::new(), 1, 150.0)]);
    // The line of an older writer says nothing of frames, and its stall dropped none that is known.
    assert_eq!((view.dropped_frames, view.scenes[0].dropped_frames), (23, 23));
    assert_eq!(view.days.iter().map(|day| day.dropped_frames).collect::<Vec<_>>(), [0, 23]);
    // Six tenths, two tenths and the rest of the first; six tenths of the third; all of the one without a
    // stack.
    let stacks: Vec<_> =
        view.stacks.iter().map(|stack| (stack.method.as_str(), stack.stalls, stack.ms.round())).collect();
    assert_eq!(stacks, [("a.Job.run", 2, 960.0), ("", 3, 550.0), ("a.Prices.解析", 1, 240.0)]);
    assert_eq!(view.stacks[0].waits_in.as_deref(), Some("java.lang.Thread.sleep"));
    let around = view.around;
    assert_eq!(
        (around.before.stalls, around.before.proc_cpu, around.before.free_mb),
        (2, Some(15.0), Some(400.0))
    );
    assert_eq!((around.during.proc_cpu, around.after.proc_cpu), (Some(90.0), Some(20.0)));
    assert_eq!(around.during.psi_io, None);
}

/// A process has a line in the file of each day, where lines were lost, and where another process has packed
/// its file.
#[test]
fn a_process_counts_once_however_many_lines_are_about_it() {
    let line = |pid: u32, lost: u32, started_ms: &str| {
        format!("{{\"v\":1,\"pid\":{pid},\"lost\":{lost},\"base\":{{{started_ms}}}}}\n")
    };
    let processes = |files: &[String]| {
        let mut summary = Summary::default();
        files.iter().for_each(|file| summary.add(file.as_bytes()));
        summary.view().processes
    };
    let (began, later) = ("\"started_ms\":1795263002588", "\"started_ms\":1795349402588");
    // It lost lines before its first one, has its line twice, and runs past midnight.
    let days = [line(42, 3, began) + &line(42, 0, began) + &line(7, 0, began), line(42, 0, began)];
    assert_eq!(processes(&days), 2);
    // The number of a process that has ended is given again.
    assert_eq!(processes(&[line(42, 0, began), line(42, 0, later)]), 2);
    assert_eq!(processes(&[line(42, 0, began) + &line(42, 0, later)]), 2);
    // An older recorder's lines do not say when it started: files of two days may be of two devices.
    let days = [line(42, 3, "") + &line(42, 0, "") + &line(7, 0, ""), line(42, 0, "")];
    assert_eq!(processes(&days), 3);
    assert_eq!(processes(&[line(42, 0, "\"started_ms\":null"), line(7, 2, "")]), 2);
}

#[test]
fn the_sums_are_shown_as_text_and_as_a_page() {
    let mut summary = Summary::default();
    summary.add(file().replace("Feed", "<Feed>").as_bytes());
    let view = summary.view();
    let plain = anstream::adapter::strip_str(&text(&view, 1)).to_string();
    for part in [
        "3 stalls, 1.75 s in all, longest 1.20 s, 23 frames dropped; 1 process, 1 user; 2 lines cut off",
        "2026-11-21",
        "1.60 s in 2 stalls    longest   1.20 s, 2 of level 2, 23 frames dropped  <Feed>",
        "960 ms in 2 stalls    a.Job.run, in java.lang.Thread.sleep",
        "java.lang.Thread.sleep(Native Method)",
        "and 2 more",
        "before  process 15.0 %, free memory 400 MiB",
    ] {
        assert!(plain.contains(part), "{part} is missing in {plain}");
    }
    let page = html(&view, 20);
    assert!(page.starts_with("<!doctype html>") && page.contains("&lt;Feed&gt;") && !page.contains("<Feed>"));
    assert!(page.contains("2 of level 2, 23 frames dropped</small>"));
    assert!(page.contains("a.Prices.解析") && !page.contains("http"));
}

#[test]
fn the_articles_text_log_has_an_entry_for_each_stall() {
    let log = uiperf(file().as_bytes());
    assert_eq!(log.matches("/**************************************/\r\n").count(), 6);
    let first = "/**************************************/\r\n2026-11-21 20:10:02\r\n/**************************************/\r\nlevel 2, 1200.0 ms\r\nmessage android.os.Handler a.Job: 0\r\nscene Feed\r\n6 of 10 stacks:\r\n    java.lang.Thread.sleep(Native Method)\r\n";
    assert!(log.starts_with(first), "{log}");
    assert!(log.contains("a.Prices.解析(Prices.java:24)\r\n"));
    assert!(log.contains("level 2, 400.0 ms, 23 frames dropped\r\n"));
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut summary = Summary::default();
        summary.add(&bytes);
        let _ = (text(&summary.view(), 3), html(&summary.view(), 3), uiperf(&bytes));
    }

    #[test]
    fn a_file_that_is_cut_anywhere_costs_one_line_at_most(at in 0..3_000_usize) {
        let file = file();
        let cut = &file.as_bytes()[..at.min(file.len())];
        let mut summary = Summary::default();
        summary.add(cut);
        let whole = cut.split(|&byte| byte == b'\n').count() - 1;
        let read = summary.view();
        prop_assert!(read.stalls + read.processes + read.cut_lines >= whole.min(6) as u64);
    }

    #[test]
    fn a_stalls_time_is_shared_out_and_neither_lost_nor_made(
        wall_ms in 101.0..5_000.0_f64,
        samples in 0..40_u32,
        times in prop::collection::vec(0..9_u32, 0..5),
    ) {
        let stacks: Vec<String> =
            times.iter().enumerate().map(|(at, n)| format!(r#"{{"n":{n},"frames":["a.B.m{}(B.java:1)"]}}"#, at % 3)).collect();
        let line = format!(r#"{{"v":1,"level":1,"wall_ms":{wall_ms},"stack_samples":{samples},"stacks":[{}]}}"#, stacks.join(","));
        let mut summary = Summary::default();
        summary.add(line.as_bytes());
        let view = summary.view();
        prop_assert_eq!(view.stalls, 1);
        let shared: f64 = view.stacks.iter().map(|stack| stack.ms).sum();
        prop_assert!((shared - wall_ms).abs() < 1e-6, "{} of {}", shared, wall_ms);
    }
}
