//! Collecting the distinct frames of a report.

use super::limits;
use crate::model::class_names::{is_synthetic, source_place};
use crate::model::framework::role_of;
use crate::model::lock_kind::LockKind;
use crate::model::sanitize::sanitize;
use crate::model::{AppPackages, CodeOwner, Frame, FrameId, FrameKind, FrameTable};
use loopbox_format::model::{Location, LocationId, Symbols};
use std::collections::HashMap;

fn unnamed(kind: FrameKind, method: String) -> Frame {
    let none = String::new;
    let owner = CodeOwner::Platform;
    let (signature, file) = (none(), none());
    Frame {
        class: none(),
        method,
        signature,
        file,
        line: None,
        dex_pc: None,
        kind,
        owner,
        synthetic: false,
        role: None,
        lock_kind: None,
    }
}

fn read_frame(symbols: &Symbols, packages: &AppPackages, location: LocationId) -> Frame {
    let unknown = || unnamed(FrameKind::Unknown, format!("[unknown location {}]", location.0));
    match symbols.location(location) {
        Some(&Location::Frame { method, dex_pc, line }) => {
            let Some(m) = symbols.method(method) else { return unknown() };
            let is_java = dex_pc.is_some() || line.is_some();
            let kind = if is_java { FrameKind::Java } else { FrameKind::Native };
            let (file, line) = source_place(&m.source_file, line);
            let (class, method) =
                (sanitize(&m.class, limits::NAME_CHARS), sanitize(&m.name, limits::NAME_CHARS));
            Frame {
                role: role_of(&class, &method, kind),
                lock_kind: LockKind::of_method(&class, &method),
                class,
                method,
                signature: sanitize(&m.signature, limits::NAME_CHARS),
                file: sanitize(file, limits::NAME_CHARS),
                line,
                dex_pc,
                kind,
                owner: packages.owner_in(&m.class, &m.source_file),
                synthetic: is_synthetic(&m.class, &m.name, &m.source_file),
            }
        }
        Some(&Location::Elided { frames }) => {
            unnamed(FrameKind::Elided, format!("[{frames} frames left out]"))
        }
        _ => unknown(),
    }
}

/// The location id of frames that were not read from a location of the file.
pub(crate) const NO_LOCATION: LocationId = LocationId(u32::MAX);

/// Turns locations of a file into frames, each location once.
#[derive(Debug)]
pub(crate) struct FrameCollector<'s> {
    symbols: &'s Symbols,
    packages: &'s AppPackages,
    frames: Vec<Frame>,
    locations: Vec<LocationId>,
    by_location: HashMap<LocationId, FrameId>,
    /// Frames from [`Self::named`], which have no location in the file.
    named: HashMap<Frame, FrameId>,
}

impl<'s> FrameCollector<'s> {
    pub(crate) fn new(symbols: &'s Symbols, packages: &'s AppPackages) -> Self {
        Self {
            symbols,
            packages,
            frames: Vec::new(),
            locations: Vec::new(),
            by_location: HashMap::new(),
            named: HashMap::new(),
        }
    }

    /// The frame of a location; reads it on first use.
    pub(crate) fn frame(&mut self, location: LocationId) -> FrameId {
        *self.by_location.entry(location).or_insert_with(|| {
            self.frames.push(read_frame(self.symbols, self.packages, location));
            self.locations.push(location);
            FrameId::new(self.frames.len() - 1)
        })
    }

    /// A frame that is identified by its names alone.
    pub(crate) fn named(
        &mut self,
        class: &str,
        method: &str,
        file: &str,
        line: Option<u32>,
        kind: FrameKind,
    ) -> FrameId {
        let synthetic = is_synthetic(class, method, file);
        let owner = self.packages.owner_in(class, file);
        let (file, line) = source_place(file, line);
        let (class, method) = (sanitize(class, limits::NAME_CHARS), sanitize(method, limits::NAME_CHARS));
        let frame = Frame {
            role: role_of(&class, &method, kind),
            lock_kind: LockKind::of_method(&class, &method),
            class,
            method,
            signature: String::new(),
            file: sanitize(file, limits::NAME_CHARS),
            line,
            dex_pc: None,
            kind,
            owner,
            synthetic,
        };
        *self.named.entry(frame).or_insert_with_key(|frame| {
            self.frames.push(frame.clone());
            self.locations.push(NO_LOCATION);
            FrameId::new(self.frames.len() - 1)
        })
    }

    /// The frames of a stack, at most [`limits::STACK_DEPTH`] of them.
    pub(crate) fn stack(&mut self, locations: &[LocationId]) -> Vec<FrameId> {
        locations.iter().take(limits::STACK_DEPTH).map(|&location| self.frame(location)).collect()
    }

    /// The location that a frame was read from.
    pub(crate) fn location(&self, frame: FrameId) -> LocationId {
        self.locations[frame.index()]
    }

    pub(crate) fn into_table(self) -> FrameTable {
        self.frames.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::{Method, MethodId};

    #[test]
    fn read_frame_prints_like_a_java_stack_trace_and_never_fails() {
        let method = |class: &str, file: &str| Method {
            class: class.into(),
            name: "run".into(),
            signature: "()V".into(),
            source_file: file.into(),
        };
        let symbols = Symbols {
            methods: vec![method("a.b.C$D", "C.java"), method("E", "")],
            locations: vec![
                Location::Frame { method: MethodId(0), dex_pc: Some(31), line: Some(17) },
                Location::Frame { method: MethodId(1), dex_pc: Some(31), line: None },
                Location::Frame { method: MethodId(1), dex_pc: None, line: None },
                Location::Elided { frames: 40 },
                Location::Frame { method: MethodId(9), dex_pc: None, line: None },
            ],
        };
        let read = |location| read_frame(&symbols, &AppPackages::default(), LocationId(location));
        let got: Vec<_> = (0..6).map(|l| read(l).full()).collect();
        assert_eq!(
            got,
            [
                "a.b.C$D.run(C.java:17)",
                "E.run(dex pc 0x1f)",
                "E.run(Native method)",
                "[40 frames left out]",
                "[unknown location 4]",
                "[unknown location 5]"
            ]
        );
        assert_eq!(read(0).short(), "C$D.run");
    }
}
