//! The lines of a trace in ART's form. Mail, trackers and web pages change the lines; this module restores
//! them.

/// The names of states in Crashlytics, each with ART's.
const STATES: [(&str, &str); 9] = [
    ("timed waiting", "TimedWaiting"),
    ("timed_waiting", "TimedWaiting"),
    ("waiting", "Waiting"),
    ("blocked", "Blocked"),
    ("native", "Native"),
    ("runnable", "Runnable"),
    ("sleeping", "Sleeping"),
    ("suspended", "Suspended"),
    ("starting", "Starting"),
];

/// The lines of a text, each as ART would have written it. A blank line between two lines of one stack, as
/// web pages put it there, is left out.
pub(super) fn canonical(text: &str) -> impl Iterator<Item = String> {
    let mut blank = false;
    // Ends of lines of each system.
    let lines = text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'));
    lines.flat_map(move |line| {
        let line = unquoted(line);
        if line.is_empty() {
            blank = true;
            return Vec::new();
        }
        let before = std::mem::take(&mut blank) && !is_part_of_stack(line);
        let blank = before.then(String::new);
        match header_of_crashlytics(line) {
            Some(header) => blank.into_iter().chain(header).collect(),
            None => blank.into_iter().chain([indented(line)]).collect(),
        }
    })
}

/// The line without `>` quote marks and without blanks at both ends.
fn unquoted(line: &str) -> &str {
    let is_blank = |c: char| c.is_whitespace() || matches!(c, '\u{FEFF}' | '\u{200B}');
    let mut line = line.trim_matches(is_blank);
    while let Some(rest) = line.strip_prefix('>') {
        line = rest.trim_start_matches(is_blank);
    }
    line
}

fn is_part_of_stack(line: &str) -> bool {
    ["at ", "- ", "| ", "native: ", "#"].iter().any(|start| line.starts_with(start))
}

/// The line with the blanks that ART writes before it.
fn indented(line: &str) -> String {
    let indent = match line {
        _ if line.starts_with('#') => "    ",
        _ if is_part_of_stack(line) => "  ",
        _ => "",
    };
    format!("{indent}{line}")
}

/// Converts a line like `main (timed waiting):tid=1 systid=4321` to the two lines that ART writes instead.
fn header_of_crashlytics(line: &str) -> Option<Vec<String>> {
    let (thread, numbers) = line.rsplit_once("):tid=")?;
    let (name, state) = thread.rsplit_once(" (")?;
    let (tid, sys_tid) = numbers.split_once(' ').map_or((numbers, None), |(tid, rest)| {
        (tid, rest.trim().strip_prefix("systid=").and_then(|sys_tid| sys_tid.parse::<u32>().ok()))
    });
    let tid: u32 = tid.parse().ok()?;
    let lower = state.to_ascii_lowercase();
    let state = STATES.iter().find(|(theirs, _)| *theirs == lower).map_or(state, |(_, state)| state);
    let attributes = sys_tid.map(|sys_tid| format!("  | sysTid={sys_tid}"));
    Some([format!("\"{name}\" tid={tid} {state}")].into_iter().chain(attributes).collect())
}
