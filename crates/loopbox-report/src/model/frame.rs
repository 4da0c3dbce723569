//! Stack frames with their names.

use super::class_names::CodeOwner;
use super::lock_kind::LockKind;
use super::role::Role;
use loopbox_format::code::Owner;
use loopbox_format::problem::Method;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::{Deref, Index};

/// The index of a frame among those of its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct FrameId(u32);

impl FrameId {
    pub(crate) fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// The index as a number, as JSON has it.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The distinct frames of all stacks of a report. Every [`FrameId`] of the report is the index of a frame in
/// this table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameTable(Vec<Frame>);

impl From<Vec<Frame>> for FrameTable {
    fn from(frames: Vec<Frame>) -> Self {
        Self(frames)
    }
}

impl Deref for FrameTable {
    type Target = [Frame];

    fn deref(&self) -> &[Frame] {
        &self.0
    }
}

impl FrameTable {
    /// The first candidate that is the app's own code, or else the first that the app ships; `id` gives the
    /// frame of a candidate. Code that a compiler made is taken only where there is nothing else. A helper,
    /// whose name says less than its caller's, is taken only where there is no other code of the app.
    pub(crate) fn first_own<T: Copy>(
        &self,
        candidates: impl Iterator<Item = T> + Clone,
        id: impl Fn(T) -> FrameId,
    ) -> Option<T> {
        let find = |is: fn(&Frame) -> bool| candidates.clone().find(|&candidate| is(&self[id(candidate)]));
        find(|frame| frame.is_of_app() && !frame.synthetic && !frame.is_helper())
            .or_else(|| find(|frame| frame.is_of_app() && !frame.synthetic))
            .or_else(|| find(|frame| frame.is_shipped() && !frame.synthetic))
            .or_else(|| find(Frame::is_of_app))
            .or_else(|| find(Frame::is_shipped))
    }
}

impl Index<FrameId> for FrameTable {
    type Output = Frame;

    fn index(&self, id: FrameId) -> &Frame {
        &self.0[id.index()]
    }
}

/// Names of methods that show how time is spent, but not for what.
const HELPERS: [&str; 10] = [
    "burn",
    "busy",
    "busyWait",
    "delay",
    "exec",
    "safeSleep",
    "sleep",
    "sleepQuietly",
    "sleepUninterruptibly",
    "spin",
];
/// The ends of class names whose methods all show how time is spent, but not for what.
const HELPER_CLASSES: [&str; 2] = ["Util", "Utils"];

/// A place in the code.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Frame {
    /// The class name as Java writes it; empty for elided frames.
    pub class: String,
    /// The method name; for elided frames their number in words.
    pub method: String,
    /// The descriptor of the method; empty when unknown.
    pub signature: String,
    /// The source file; empty when unknown.
    pub file: String,
    /// The source line.
    pub line: Option<u32>,
    /// The dex pc; `None` for a native method.
    pub dex_pc: Option<u32>,
    /// The kind of frame.
    pub kind: FrameKind,
    /// Whose code the frame is.
    pub owner: CodeOwner,
    /// Whether a compiler made the method, to call a method of the source.
    #[serde(skip)]
    pub synthetic: bool,
    /// The role of the frame for the main thread.
    #[serde(skip)]
    pub(crate) role: Option<Role>,
    /// What main waits for while this frame is on main's stack, if the frame's method waits until another
    /// thread acts. `None` for other methods.
    #[serde(skip)]
    pub(crate) lock_kind: Option<LockKind>,
}

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// A method with bytecode.
    Java,
    /// A native method.
    Native,
    /// Frames that were left out in the middle of a stack deeper than the sampler's limit.
    Elided,
    /// The file refers to a method or location that it does not contain.
    Unknown,
}

impl Frame {
    /// The role of the frame for the main thread; `None` for most frames.
    pub(crate) fn role(&self) -> Option<Role> {
        self.role
    }

    /// The full name: `com.example.Outer$Inner.method`.
    pub fn qualified(&self) -> String {
        if self.class.is_empty() { self.method.clone() } else { format!("{}.{}", self.class, self.method) }
    }

    /// The name without the package: `Outer$Inner.method`.
    pub fn short(&self) -> String {
        let class = self.class.rsplit('.').next().unwrap_or_default();
        if class.is_empty() { self.method.clone() } else { format!("{class}.{}", self.method) }
    }

    /// The place in the source as Java prints it: `Main.java:17`, `Native method`, `dex pc 0x1f`.
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

    /// Whether the frame is of a helper, such as `Threads.sleep` or `StringUtils.join`. The frame's caller
    /// then describes better where the time went.
    fn is_helper(&self) -> bool {
        let outer = self.class.split('$').next().unwrap_or_default();
        HELPERS.contains(&self.method.as_str()) || HELPER_CLASSES.iter().any(|end| outer.ends_with(end))
    }

    /// The frame's method, in the form in which problems are compared.
    pub(crate) fn as_method(&self) -> Method<'_> {
        let owner = match self.owner {
            CodeOwner::App => Owner::App,
            CodeOwner::Library => Owner::Library,
            CodeOwner::Platform => Owner::Platform,
        };
        Method { class: &self.class, name: &self.method, owner }
    }

    /// Whether the frame is the app's own code.
    pub(crate) fn is_of_app(&self) -> bool {
        self.owner == CodeOwner::App && matches!(self.kind, FrameKind::Java | FrameKind::Native)
    }

    /// Whether the frame is code that the app ships, its own or a library's.
    pub(crate) fn is_shipped(&self) -> bool {
        self.owner != CodeOwner::Platform && matches!(self.kind, FrameKind::Java | FrameKind::Native)
    }
}
