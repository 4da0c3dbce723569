//! The parts of a report that neither the ring nor the worker's trees hold.

use crate::clock;
use crate::config::Settings;
use loopbox_format::model::{
    DumpReason, Location, MainState, Message, Meta, Method, NamedBy, Process, Report, StackTree, Symbols,
};
use loopbox_format::{looper, stacks};
use loopbox_recorder::Keep;
use std::collections::HashMap;
use std::fs;

/// Who writes.
pub(crate) fn meta(settings: &Settings, annotations: Vec<(String, String)>, installed_ns: u64) -> Meta {
    Meta {
        producer: concat!("loopbox ", env!("CARGO_PKG_VERSION")).to_owned(),
        reason: DumpReason::Requested(String::new()),
        process: Process {
            pid: std::process::id(),
            name: process_name(),
            api_level: settings.api_level,
            abi: ABI.to_owned(),
            app_version: settings.app_version.clone(),
            device: device(),
            installed_ns,
        },
        dumped_at: clock::pair(),
        limits: (&settings.recorder).into(),
        annotations,
    }
}

/// Android's name of the architecture.
const ABI: &str = if cfg!(target_arch = "aarch64") {
    "arm64-v8a"
} else if cfg!(target_arch = "arm") {
    "armeabi-v7a"
} else if cfg!(target_arch = "x86") {
    "x86"
} else {
    "x86_64"
};

fn process_name() -> String {
    let line = fs::read("/proc/self/cmdline").unwrap_or_default();
    let name = line.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(target_os = "android")]
fn device() -> String {
    use std::ffi::{CStr, c_char};
    let property = |name: &CStr| {
        let mut value = [0_u8; 92]; // PROP_VALUE_MAX
        // SAFETY: the buffer has the size that the function demands.
        unsafe { libc::__system_property_get(name.as_ptr(), value.as_mut_ptr().cast::<c_char>()) };
        CStr::from_bytes_until_nul(&value).map(|v| v.to_string_lossy().into_owned()).unwrap_or_default()
    };
    format!("{} {}", property(c"ro.product.manufacturer"), property(c"ro.product.model")).trim().to_owned()
}

#[cfg(not(target_os = "android"))]
fn device() -> String {
    String::new()
}

/// The part of the session's symbols that a report uses.
#[derive(Debug, Default)]
pub(crate) struct Used {
    pub(crate) symbols: Symbols,
    methods: HashMap<u32, u32>,
    locations: HashMap<u32, u32>,
}

impl Used {
    /// The number here of a location of `all`, which is the same table in each call.
    pub(crate) fn number(&mut self, all: &Symbols, location: u32) -> u32 {
        let Self { symbols: used, methods, locations } = self;
        *locations.entry(location).or_insert_with(|| {
            let mut location =
                all.locations.get(location as usize).copied().unwrap_or(Location::Elided { frames: 1 });
            if let Location::Frame { method, .. } = &mut location {
                *method = *methods.entry(*method).or_insert_with(|| {
                    used.methods.extend(all.methods.get(*method as usize).cloned());
                    used.methods.len().saturating_sub(1) as u32
                });
            }
            used.locations.push(location);
            used.locations.len() as u32 - 1
        })
    }
}

/// Leaves out of `symbols` what no tree uses, and renumbers the trees.
pub(crate) fn only_used(symbols: &Symbols, trees: &mut [StackTree]) -> Used {
    let mut used = Used::default();
    for node in trees.iter_mut().flat_map(|tree| &mut tree.nodes) {
        node.location = used.number(symbols, node.location);
    }
    used
}

/// The running message as the line says that Looper printed at its start.
pub(crate) fn named_by_line(text: &str) -> Message {
    let line = looper::dispatch(text);
    Message {
        target: line.target.to_owned(),
        callback: line.callback.to_owned(),
        what: line.what,
        component: looper::component(line.target, line.callback),
        named_by: NamedBy::Printer,
    }
}

/// Names a running message that has no name yet by its last stack, as far as `keep` allows.
pub(crate) fn name_by_stack(report: &mut Report, keep: Keep) {
    let MainState::Running(running) = &mut report.main else { return };
    if running.message.is_none() {
        let tree = report.trees.last().filter(|tree| tree.token == running.token);
        running.message = tree.and_then(|tree| named_by_stack(&report.symbols, tree));
    }
    if keep == Keep::ComponentsOnly {
        running.message = running.message.take().filter(|message| message.component.is_some());
    }
}

/// The running message as its last stack shows it: what `Handler.dispatchMessage` called. The message's `what` does
/// not show there, nor a callback's target.
fn named_by_stack(symbols: &Symbols, tree: &StackTree) -> Option<Message> {
    let last = stacks::stacks(tree).ok()?.last()?;
    let method = |location: &u32| match symbols.locations.get(*location as usize)? {
        Location::Frame { method, .. } => symbols.methods.get(*method as usize),
        _ => None,
    };
    let methods: Vec<&Method> = last.iter().filter_map(method).collect();
    // Bottom first: the last dispatch is the innermost one.
    let dispatch = methods.iter().rposition(|method| method.name == "dispatchMessage")?;
    let called = methods.get(dispatch + 1)?;
    let (target, callback) = match methods.get(dispatch + 2) {
        Some(runnable) if called.name == "handleCallback" => ("", runnable.class.as_str()),
        _ => (called.class.as_str(), ""),
    };
    Some(Message {
        target: target.to_owned(),
        callback: callback.to_owned(),
        what: 0,
        component: looper::component(target, callback),
        named_by: NamedBy::Stack,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::{Phase, StackSource, TreeNode};

    fn symbols(names: &[&str]) -> Symbols {
        let method = |name: &&str| {
            let (class, name) = name.rsplit_once('.').unwrap();
            Method {
                class: class.into(),
                name: name.into(),
                signature: String::new(),
                source_file: String::new(),
            }
        };
        let frame = |method| Location::Frame { method, dex_pc: Some(1), line: None };
        Symbols {
            methods: names.iter().map(method).collect(),
            locations: (0..names.len() as u32).map(frame).collect(),
        }
    }

    fn chain(locations: &[u32]) -> StackTree {
        let last = locations.len() - 1;
        let node = |(at, &location): (usize, &u32)| TreeNode {
            location,
            skip: 0,
            count: 1,
            children: u32::from(at < last),
        };
        StackTree {
            token: 1,
            start_ns: 0,
            source: StackSource::Art,
            phases: vec![Phase { first_sample: 0, interval_ns: 1 }],
            sample_deltas_ns: vec![1],
            nodes: locations.iter().enumerate().map(node).collect(),
            missed_samples: 0,
            longest_stop_ns: 0,
            total_stop_ns: 0,
        }
    }

    #[test]
    fn a_stack_names_its_message() {
        const LOOP: &str = "android.os.Looper.loop";
        const DISPATCH: &str = "android.os.Handler.dispatchMessage";
        const CALLBACK: &str = "android.os.Handler.handleCallback";
        let named = |names: &[&str]| {
            let all: Vec<u32> = (0..names.len() as u32).collect();
            named_by_stack(&symbols(names), &chain(&all)).map(|m| (m.target, m.callback))
        };
        assert_eq!(
            named(&["a.Main.main", LOOP, DISPATCH, "a.H.handleMessage", "a.H.work"]),
            Some(("a.H".into(), String::new()))
        );
        assert_eq!(
            named(&[LOOP, DISPATCH, CALLBACK, "a.R.run", "a.R.work"]),
            Some((String::new(), "a.R".into()))
        );
        let nested = [LOOP, DISPATCH, "a.H.handleMessage", LOOP, DISPATCH, CALLBACK, "a.R.run"];
        assert_eq!(named(&nested), Some((String::new(), "a.R".into())));
        assert_eq!(named(&["a.Main.main", "android.os.MessageQueue.next"]), None);
        assert_eq!(named(&[LOOP, DISPATCH]), None);
    }

    #[test]
    fn only_what_trees_use_is_kept() {
        let all = symbols(&["a.A.a", "a.B.b", "a.C.c"]);
        let mut trees = [chain(&[2, 0]), chain(&[2])];
        let mut used = only_used(&all, &mut trees);
        assert_eq!((used.number(&all, 0), used.number(&all, 1)), (1, 2), "more may follow");
        let used = used.symbols;
        let names: Vec<_> = used.methods.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["c", "a", "b"]);
        assert_eq!(trees[0].nodes.iter().map(|n| n.location).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(trees[1].nodes[0].location, 0);
        assert_eq!(used.locations[1], Location::Frame { method: 1, dex_pc: Some(1), line: None });
    }
}
