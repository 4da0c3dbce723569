//! What the kernel reported of the main thread, and its native stack.

use crate::derive::tombstone_line;
use crate::model::name::{Name, NameOrUnknown};
use crate::model::system_calls::system_call;
use crate::model::time::{ms, ms_between};
use crate::model::{
    Analysis, MainThread, MainWait, NativeFrameSource, NativeModule, NativeStack, Progress, SourceFunction,
    SystemCall, SystemCallSource, ThreadState,
};
use schemars::JsonSchema;
use serde::Serialize;

/// The main thread in the eyes of the kernel.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MainThreadView<'a> {
    /// When the kernel was asked, relative to the dump.
    captured_at_ms: f64,
    /// What it waited in, or did; null when unknown.
    wait: Option<MainWait>,
    /// The state of the thread in the kernel, in the words of `ThreadView::doing`.
    doing: Name<ThreadState>,
    /// The kernel function that it slept in; empty when unknown.
    wchan: &'a str,
    /// The system call that it was in.
    system_call: Option<SystemCallView<'a>>,
    /// What it did until the report was complete.
    progress: Option<ProgressView>,
    /// Its native stack, when a signal stopped it.
    native: Option<NativeStackView<'a>>,
}

/// A system call in progress.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SystemCallView<'a> {
    /// Its name; null when its number is not one of those that are known.
    name: Option<&'static str>,
    /// Its number on the report's ABI; null when only that there was one is known.
    number: Option<u32>,
    /// Its arguments in hex; null for one that is not known.
    arguments: Vec<Option<String>>,
    /// What its first argument stands for, if that is a file descriptor.
    descriptor: &'a str,
    /// Where it was seen: the signal interrupted it, or it was read from `/proc` a moment later.
    source: NameOrUnknown<SystemCallSource>,
}

/// What the main thread did over a time.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProgressView {
    /// The length of that time.
    over_ms: f64,
    /// How long it ran.
    ran_ms: Option<f64>,
    /// How long it waited for a processor.
    waited_ms: Option<f64>,
    /// CPU time in its own code, in whole clock ticks.
    user_ms: f64,
    /// CPU time in the kernel, in whole clock ticks.
    kernel_ms: f64,
    /// Page faults that needed no disk.
    minor_faults: u64,
    /// Page faults that had to wait for the disk.
    major_faults: u64,
}

/// A native stack.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NativeStackView<'a> {
    /// When it was taken, relative to the dump.
    captured_at_ms: f64,
    /// The frames, innermost first.
    frames: Vec<NativeFrameView<'a>>,
    /// The modules of the frames.
    modules: &'a [NativeModule],
}

/// A place in native code.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NativeFrameView<'a> {
    /// The frame as a line of a tombstone.
    text: String,
    /// How it was found; `unknown` for one of ART's own trace.
    source: NameOrUnknown<NativeFrameSource>,
    /// The index of its module.
    module: Option<usize>,
    /// The address in the module's ELF file, in hex.
    pc: String,
    /// The functions at that place, inlined ones first; empty without symbols.
    functions: &'a [SourceFunction],
}

impl<'a> MainThreadView<'a> {
    pub(crate) fn new(a: &'a Analysis, main: &'a MainThread) -> Self {
        let abi = &a.meta.process.abi;
        Self {
            captured_at_ms: ms_between(main.captured_ns, a.dump_ns),
            wait: a.main_wait(),
            doing: Name(ThreadState::of(main.state)),
            wchan: &main.wchan,
            system_call: main.system_call.as_ref().map(|call| SystemCallView::new(call, abi)),
            progress: main.progress.map(ProgressView::new),
            native: main.native.as_ref().map(|stack| NativeStackView::new(a, stack)),
        }
    }
}

impl<'a> SystemCallView<'a> {
    fn new(call: &'a SystemCall, abi: &str) -> Self {
        let hex = |value: &Option<u64>| value.map(|value| format!("{value:#x}"));
        Self {
            name: call.number.and_then(|number| system_call(abi, number)).map(|(name, _)| name),
            number: call.number,
            arguments: call.arguments.iter().map(hex).collect(),
            descriptor: &call.descriptor,
            source: NameOrUnknown(call.source),
        }
    }
}

impl ProgressView {
    fn new(progress: Progress) -> Self {
        Self {
            over_ms: ms(progress.over_ns),
            ran_ms: progress.ran_ns.map(ms),
            waited_ms: progress.waited_ns.map(ms),
            user_ms: ms(progress.user_ns),
            kernel_ms: ms(progress.kernel_ns),
            minor_faults: progress.minor_faults,
            major_faults: progress.major_faults,
        }
    }
}

impl<'a> NativeStackView<'a> {
    /// The native stack of the main thread; `None` when no signal stopped it.
    pub fn of(a: &'a Analysis) -> Option<Self> {
        let native = a.main_thread.as_ref()?.native.as_ref()?;
        Some(Self::new(a, native))
    }

    fn new(a: &Analysis, stack: &'a NativeStack) -> Self {
        let frames = stack.frames.iter().enumerate().map(|(number, frame)| NativeFrameView {
            text: tombstone_line(stack, number, frame),
            source: NameOrUnknown(frame.source),
            module: frame.module,
            pc: format!("{:#x}", frame.offset),
            functions: &frame.functions,
        });
        Self {
            captured_at_ms: ms_between(stack.captured_ns, a.dump_ns),
            frames: frames.collect(),
            modules: &stack.modules,
        }
    }
}
