//! Sampled stacks: methods, locations in them, and trees of calls.

use super::{Token, Uptime};
use bincode::{Decode, Encode};

/// A Java method.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Method {
    /// Class name as Java writes it: `com.example.Outer$Inner`.
    pub class: String,
    /// Method name.
    pub name: String,
    /// Descriptor as the JVM writes it: `(ILjava/lang/String;)V`; empty when unknown.
    pub signature: String,
    /// Source file of the class; empty when it was stripped or is unknown.
    pub source_file: String,
}

/// The number of a method: its index in [`Symbols::methods`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
pub struct MethodId(pub u32);

/// The number of a location: its index in [`Symbols::locations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Encode, Decode)]
pub struct LocationId(pub u32);

/// A place in the code: one stack frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[non_exhaustive]
pub enum Location {
    /// A Java frame.
    Frame {
        /// Which method.
        method: MethodId,
        /// Where in its bytecode; `None` for a native method.
        dex_pc: Option<u32>,
        /// Source line, when the class still has line numbers.
        line: Option<u32>,
    },
    /// Frames left out of the middle of a stack deeper than the sampler's bound.
    Elided {
        /// How many frames were left out.
        frames: u32,
    },
}

/// The tables that stack trees refer to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Symbols {
    /// Distinct methods.
    pub methods: Vec<Method>,
    /// Distinct code locations.
    pub locations: Vec<Location>,
}

impl Symbols {
    /// The method with this number; `None` when the table is shorter.
    pub fn method(&self, id: MethodId) -> Option<&Method> {
        self.methods.get(id.0 as usize)
    }

    /// The location with this number; `None` when the table is shorter.
    pub fn location(&self, id: LocationId) -> Option<&Location> {
        self.locations.get(id.0 as usize)
    }

    /// Adds a method, even one that the table already has, and returns its number.
    pub fn push_method(&mut self, method: Method) -> MethodId {
        self.methods.push(method);
        MethodId(self.methods.len() as u32 - 1)
    }

    /// Adds a location, even one that the table already has, and returns its number.
    pub fn push_location(&mut self, location: Location) -> LocationId {
        self.locations.push(location);
        LocationId(self.locations.len() as u32 - 1)
    }
}

/// How stacks were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum StackSource {
    /// Suspend, walk and resume through ART.
    Art,
    /// `Thread.getStackTrace()`.
    JavaApi,
    /// No recorder took it: a host tool found it in the system's trace.
    SystemTrace,
}

/// A sampling interval that was requested, and the first sample that it applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Phase {
    /// Index of the first sample taken at this interval.
    pub first_sample: u32,
    /// The requested interval.
    pub interval_ns: u64,
}

/// A node of a [`StackTree`], in pre-order.
///
/// It covers `count` consecutive samples. They begin `skip` samples after the end of the previous sibling, or
/// after the start of the parent for a first child; so time order and each single stack can be recovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct TreeNode {
    /// Which frame.
    pub location: LocationId,
    /// How many samples lie between the end of the previous sibling and this node. For a first child, they
    /// are counted from the start of the parent.
    pub skip: u32,
    /// How many consecutive samples have this frame here.
    pub count: u32,
    /// How many of the following nodes are its direct children.
    pub children: u32,
}

/// The sampled stacks of one message, merged in order of time (Qimao's trace tree): equal frames of
/// consecutive samples are one node.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct StackTree {
    /// The token of the message, or of what ran outside of messages; [`Token::NONE`] for stacks of neither.
    pub token: Token,
    /// When the message's dispatch began, uptime.
    pub start_ns: Uptime,
    /// How the stacks were taken.
    pub source: StackSource,
    /// The requested intervals; the first phase begins with sample 0.
    pub phases: Vec<Phase>,
    /// When each sample was taken: nanoseconds since the previous sample; for the first sample, since
    /// `start_ns`.
    pub sample_deltas_ns: Vec<u64>,
    /// The nodes in pre-order; the bottom frames are the roots.
    pub nodes: Vec<TreeNode>,
    /// Samples that were due but could not be taken (suspend time-outs, back-off, a full buffer).
    pub missed_samples: u32,
    /// The longest time that a single sample kept the main thread stopped.
    pub longest_stop_ns: u64,
    /// The time for which all samples together stopped the thread.
    pub total_stop_ns: u64,
}
