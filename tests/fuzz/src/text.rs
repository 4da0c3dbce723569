//! Inputs that are lines of text.

/// The parser of `loopbox-art`, which is not public there.
#[allow(dead_code, reason = "its own crate uses the rest")]
#[path = "../../../crates/loopbox-art/src/sys/maps.rs"]
mod maps_file;

use loopbox_format::looper::{
    CUSTOM, PendingBody, class_name, dispatch, duration_ms, parse_queue, without_object,
};
use loopbox_format::model::{Pending, PendingSource, StackTree, Uptime};
use loopbox_format::{stacks, tree_text as format};
use std::borrow::Cow;

fn text(input: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(input)
}

pub(crate) fn looper(input: &[u8]) -> bool {
    let text = text(input);
    let pending = |lines: Vec<String>| Pending {
        source: PendingSource::LooperDump,
        captured_ns: Uptime(100_000_000_000),
        lines,
        dropped_lines: 0,
    };
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for line in &lines {
        let started = dispatch(line);
        let known = |name: &str| name.is_empty() || name == CUSTOM || line.contains(name);
        assert!(known(started.target) && known(started.callback), "{started:?}");
        let _ = (class_name(line), duration_ms(line));
    }
    let bare = lines.iter().map(|line| without_object(line).into_owned()).collect();
    let queue = parse_queue(&pending(lines));
    assert!(queue.messages.iter().zip(0..).all(|(message, place)| message.position == place));
    for message in parse_queue(&pending(bare)).messages {
        let PendingBody::Message { object, .. } = message.body else { continue };
        assert!(object.as_deref().is_none_or(is_kept), "what a message carries was left in: {object:?}");
    }
    !queue.messages.is_empty()
}

/// Whether a printed `obj` contains only what may leave the app. It may be `…`, or the name of a platform
/// object with a state in braces. That state may be `…`, or one class name: the class of the component that
/// the object describes.
fn is_kept(object: &str) -> bool {
    let Some((_, state)) = object.split_once('{') else { return object == "…" };
    // A line that was cut ends with it, and its brace counts as the message's.
    let state = state.strip_suffix('}').unwrap_or(state);
    let class = state.strip_prefix("className=").or_else(|| state.strip_prefix("component="));
    state == "…" || class.is_some_and(|class| !class.contains(char::is_whitespace))
}

pub(crate) fn maps(input: &[u8]) -> bool {
    let text = text(input);
    let mappings = maps_file::parse(&text);
    for mapping in &mappings {
        assert!(mapping.start <= mapping.end && mapping.path.len() <= text.len());
        assert!(!mapping.contains(mapping.end));
    }
    !mappings.is_empty()
}

pub(crate) fn offsets(input: &[u8]) -> bool {
    let Ok(generation) = loopbox_art_tables::parse(&text(input)) else { return false };
    assert!(!generation.rows.is_empty());
    for row in &generation.rows {
        assert!((4..=8).contains(&row.slots()));
    }
    true
}

pub(crate) fn tree_text(input: &[u8]) -> bool {
    let Ok((tree, symbols)) = format::parse(&text(input)) else { return false };
    // Writing takes each sample's stack apart; the samples that a text claims cost it nothing.
    if tree.sample_deltas_ns.len() * tree.nodes.len() > 1 << 20 {
        return true;
    }
    let written = format::write(&tree, &symbols).expect("what was read can be written");
    let (again, _) = format::parse(&written).expect("what was written can be read");
    // Names change on the way: they are put as Java writes them.
    assert_eq!(depths(&tree), depths(&again));
    true
}

/// How deep each sample's stack is.
fn depths(tree: &StackTree) -> Vec<usize> {
    stacks::stacks(tree).expect("a tree").map(|stack| stack.len()).collect()
}
