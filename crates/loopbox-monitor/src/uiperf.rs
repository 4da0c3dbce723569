//! The text log of the article that the monitor is based on: each entry is a box of stars with the time and
//! the findings. Lines end with a carriage return, as in that article.

use crate::line::{Line, Stall, read_line};
use std::fmt::Write as _;

const STARS: &str = "/**************************************/";

/// The stalls of an unpacked file, as text.
pub fn uiperf(file: &[u8]) -> String {
    let mut out = String::new();
    for line in file.split(|&byte| byte == b'\n') {
        if let Some(Line::Stall(stall)) = read_line(line) {
            entry(&mut out, &stall);
        }
    }
    out
}

fn entry(out: &mut String, stall: &Stall) {
    // `2026-11-21T20:10:02.588+00:00` as `2026-11-21 20:10:02`.
    let time = stall.t.get(..19).unwrap_or(&stall.t).replace('T', " ");
    let _ = write!(out, "{STARS}\r\n{}\r\n{STARS}\r\n", one_line(&time));
    let _ = write!(out, "level {}, {:.1} ms", stall.level, stall.wall_ms);
    if let Some(cpu_ms) = stall.cpu_ms {
        let _ = write!(out, ", {cpu_ms:.1} ms of a processor");
    }
    if let Some(dropped) = stall.dropped_frames() {
        let _ = write!(out, ", {dropped} frames dropped");
    }
    for (word, text) in [("message", &stall.message), ("scene", &stall.scene)] {
        if !text.is_empty() {
            let _ = write!(out, "\r\n{word} {}", one_line(text));
        }
    }
    out.push_str("\r\n");
    for stack in &stall.stacks {
        let _ = write!(out, "{} of {} stacks:\r\n", stack.n, stall.stack_samples);
        for frame in &stack.frames {
            let _ = write!(out, "    {}\r\n", one_line(frame));
        }
    }
}

/// The text without characters that would begin another line.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
