//! Stack frames by name.

use crate::{bounds, clean::clean};
use loopbox_format::model::{Location, Symbols};
use serde::Serialize;
use std::collections::HashMap;

/// A place in the code, ready to show.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Frame {
    /// Class name as Java writes it; empty for frames that were left out.
    pub class: String,
    /// Method name; for frames that were left out, how many.
    pub method: String,
    /// Descriptor of the method; empty when unknown.
    pub signature: String,
    /// Source file; empty when unknown.
    pub file: String,
    /// Source line.
    pub line: Option<u32>,
    /// Where in the method's bytecode; `None` for a native method.
    pub dex_pc: Option<u32>,
    /// What the frame is.
    pub kind: FrameKind,
}

/// What a [`Frame`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// A method with bytecode.
    Java,
    /// A native method.
    Native,
    /// Frames left out of the middle of a stack deeper than the sampler's bound.
    Elided,
    /// The file refers to a method or location that it does not have.
    Unknown,
}

impl Frame {
    fn without_name(kind: FrameKind, method: String) -> Self {
        let none = String::new;
        Self { class: none(), method, signature: none(), file: none(), line: None, dex_pc: None, kind }
    }

    fn read(symbols: &Symbols, location: u32) -> Self {
        let unknown = || Self::without_name(FrameKind::Unknown, format!("[unknown location {location}]"));
        match symbols.locations.get(location as usize) {
            Some(&Location::Frame { method, dex_pc, line }) => {
                let Some(m) = symbols.methods.get(method as usize) else { return unknown() };
                Self {
                    class: clean(&m.class, bounds::NAME),
                    method: clean(&m.name, bounds::NAME),
                    signature: clean(&m.signature, bounds::NAME),
                    file: clean(&m.source_file, bounds::NAME),
                    line,
                    dex_pc,
                    kind: if dex_pc.is_some() || line.is_some() {
                        FrameKind::Java
                    } else {
                        FrameKind::Native
                    },
                }
            }
            Some(&Location::Elided { frames }) => {
                Self::without_name(FrameKind::Elided, format!("[{frames} frames left out]"))
            }
            _ => unknown(),
        }
    }

    /// `com.example.Outer$Inner.method`.
    pub fn qualified(&self) -> String {
        if self.class.is_empty() { self.method.clone() } else { format!("{}.{}", self.class, self.method) }
    }

    /// `Outer$Inner.method`: without the package.
    pub fn short(&self) -> String {
        let class = self.class.rsplit('.').next().unwrap_or_default();
        if class.is_empty() { self.method.clone() } else { format!("{class}.{}", self.method) }
    }

    /// Where in the source, as Java prints it: `Main.java:17`, `Native method`, `dex pc 0x1f`.
    pub fn place(&self) -> String {
        match (self.kind, self.line, self.dex_pc) {
            (FrameKind::Native, ..) => "Native method".into(),
            (FrameKind::Java, Some(line), _) if self.file.is_empty() => format!("line {line}"),
            (FrameKind::Java, Some(line), _) => format!("{}:{line}", self.file),
            (FrameKind::Java, None, Some(pc)) => format!("dex pc {pc:#x}"),
            _ => String::new(),
        }
    }

    /// The frame as a line of a Java stack trace: `com.example.Main.run(Main.java:17)`.
    pub fn full(&self) -> String {
        let place = self.place();
        if place.is_empty() { self.qualified() } else { format!("{}({place})", self.qualified()) }
    }

    /// Whether it is this method of this class.
    pub(crate) fn is(&self, class: &str, method: &str) -> bool {
        self.class == class && self.method == method
    }
}

/// The distinct frames of all trees of a report.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    pub(crate) list: Vec<Frame>,
    by_location: HashMap<u32, u32>,
}

impl Frames {
    /// The index of a location's frame; reads it on first use.
    pub(crate) fn index(&mut self, symbols: &Symbols, location: u32) -> u32 {
        *self.by_location.entry(location).or_insert_with(|| {
            self.list.push(Frame::read(symbols, location));
            (self.list.len() - 1) as u32
        })
    }

    /// The location that each frame was read from.
    pub(crate) fn locations(&self) -> Vec<u32> {
        let mut locations = vec![0; self.list.len()];
        self.by_location.iter().for_each(|(&location, &frame)| locations[frame as usize] = location);
        locations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::Method;

    #[test]
    fn frames_read_like_java_and_never_fail() {
        let method = |class: &str, file: &str| Method {
            class: class.into(),
            name: "run".into(),
            signature: "()V".into(),
            source_file: file.into(),
        };
        let symbols = Symbols {
            methods: vec![method("a.b.C$D", "C.java"), method("E", "")],
            locations: vec![
                Location::Frame { method: 0, dex_pc: Some(31), line: Some(17) },
                Location::Frame { method: 1, dex_pc: Some(31), line: None },
                Location::Frame { method: 1, dex_pc: None, line: None },
                Location::Elided { frames: 40 },
                Location::Frame { method: 9, dex_pc: None, line: None },
            ],
        };
        let got: Vec<_> = (0..6).map(|l| Frame::read(&symbols, l).full()).collect();
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
        assert_eq!(Frame::read(&symbols, 0).short(), "C$D.run");
    }
}
