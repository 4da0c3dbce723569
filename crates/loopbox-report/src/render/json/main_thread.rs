//! What the kernel reported of the main thread, and its native stack.

use crate::model::main_wait::{MainWait, main_wait};
use crate::model::system_calls::system_call;
use crate::model::time::{ms, ms_between};
use crate::model::{
    Analysis, MainThread, NativeFrame, NativeFrameSource, NativeStack, Progress, SourceFunction, SystemCall,
    SystemCallSource, state_name,
};
use loopbox_format::model::Uptime;
use serde::Serialize;

/// The main thread in the eyes of the kernel.
#[derive(Debug, Clone, Serialize)]
pub struct MainThreadView {
    /// When the kernel was asked, relative to the dump.
    pub captured_at_ms: f64,
    /// What it waited in, or did; `None` when unknown.
    pub wait: Option<MainWait>,
    /// The state of the thread in the kernel, in the words of `ThreadView::doing`.
    pub doing: &'static str,
    /// The kernel function that it slept in; empty when unknown.
    pub wchan: String,
    /// The system call that it was in.
    pub system_call: Option<SystemCallView>,
    /// What it did until the report was complete.
    pub progress: Option<ProgressView>,
    /// Its native stack, when a signal stopped it.
    pub native: Option<NativeStackView>,
}

/// A system call in progress.
#[derive(Debug, Clone, Serialize)]
pub struct SystemCallView {
    /// Its name; `None` when its number is not one of those that are known.
    pub name: Option<&'static str>,
    /// Its number on the report's ABI; `None` when only that there was one is known.
    pub number: Option<u32>,
    /// Its arguments in hex; `None` for one that is not known.
    pub arguments: Vec<Option<String>>,
    /// What its first argument stands for, if that is a file descriptor.
    pub descriptor: String,
    /// `registers` (the signal interrupted it), `proc` (it was seen a moment later) or `unknown`.
    pub source: &'static str,
}

/// What the main thread did over a time.
#[derive(Debug, Clone, Serialize)]
pub struct ProgressView {
    /// The length of that time.
    pub over_ms: f64,
    /// How long it ran.
    pub ran_ms: Option<f64>,
    /// How long it waited for a processor.
    pub waited_ms: Option<f64>,
    /// CPU time in its own code, in whole clock ticks.
    pub user_ms: f64,
    /// CPU time in the kernel, in whole clock ticks.
    pub kernel_ms: f64,
    /// Page faults that needed no disk.
    pub minor_faults: u64,
    /// Page faults that had to wait for the disk.
    pub major_faults: u64,
}

/// A native stack.
#[derive(Debug, Clone, Serialize)]
pub struct NativeStackView {
    /// When it was taken, relative to the dump.
    pub captured_at_ms: f64,
    /// The frames, innermost first.
    pub frames: Vec<NativeFrameView>,
    /// The modules of the frames.
    pub modules: Vec<NativeModuleView>,
}

/// A place in native code.
#[derive(Debug, Clone, Serialize)]
pub struct NativeFrameView {
    /// The frame as a line of a tombstone.
    pub text: String,
    /// `pc`, `link`, `frame_pointer` or `unknown`.
    pub source: &'static str,
    /// The index of its module.
    pub module: Option<usize>,
    /// The address in the module's ELF file, in hex.
    pub pc: String,
    /// The functions at that place, inlined ones first; empty without symbols.
    pub functions: Vec<SourceFunction>,
}

/// A file that was mapped as code.
#[derive(Debug, Clone, Serialize)]
pub struct NativeModuleView {
    /// Its path on the device.
    pub path: String,
    /// Its GNU build id; empty when it has none.
    pub build_id: String,
}

impl MainThreadView {
    pub(super) fn new(a: &Analysis) -> Option<Self> {
        let main: &MainThread = a.main_thread.as_ref()?;
        let abi = &a.meta.process.abi;
        Some(Self {
            captured_at_ms: ms_between(main.captured_ns, a.dump_ns),
            wait: main_wait(main, abi),
            doing: state_name(main.state),
            wchan: main.wchan.clone(),
            system_call: main.system_call.as_ref().map(|call| SystemCallView::new(call, abi)),
            progress: main.progress.map(ProgressView::new),
            native: main.native.as_ref().map(|stack| NativeStackView::new(stack, a.dump_ns)),
        })
    }
}

impl SystemCallView {
    fn new(call: &SystemCall, abi: &str) -> Self {
        Self {
            name: call.number.and_then(|number| system_call(abi, number)).map(|(name, _)| name),
            number: call.number,
            arguments: call.arguments.iter().map(|value| value.map(|value| format!("{value:#x}"))).collect(),
            descriptor: call.descriptor.clone(),
            source: match call.source {
                Some(SystemCallSource::Registers) => "registers",
                Some(SystemCallSource::Proc) => "proc",
                _ => "unknown",
            },
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

impl NativeStackView {
    fn new(stack: &NativeStack, dump_ns: Uptime) -> Self {
        let frames = stack.frames.iter().enumerate().map(|(number, frame)| NativeFrameView {
            text: tombstone_line(stack, number, frame),
            source: match frame.source {
                Some(NativeFrameSource::Pc) => "pc",
                Some(NativeFrameSource::Link) => "link",
                Some(NativeFrameSource::FramePointer) => "frame_pointer",
                _ => "unknown",
            },
            module: frame.module,
            pc: format!("{:#x}", frame.offset),
            functions: frame.functions.clone(),
        });
        let modules = stack
            .modules
            .iter()
            .map(|module| NativeModuleView { path: module.path.clone(), build_id: module.build_id.clone() });
        Self {
            captured_at_ms: ms_between(stack.captured_ns, dump_ns),
            frames: frames.collect(),
            modules: modules.collect(),
        }
    }
}

/// `#00 pc 000000000009c2c4  /path/libc.so (syscall) (BuildId: ab12)`, which the tools for tombstones read.
fn tombstone_line(stack: &NativeStack, number: usize, frame: &NativeFrame) -> String {
    let module = frame.module.and_then(|module| stack.modules.get(module));
    let path = module.map_or("<unknown>", |module| &module.path);
    let function = frame.function().map(|function| format!(" ({})", function.name)).unwrap_or_default();
    let build_id = module.filter(|module| !module.build_id.is_empty());
    let build_id = build_id.map(|module| format!(" (BuildId: {})", module.build_id)).unwrap_or_default();
    format!("#{number:02} pc {:016x}  {path}{function}{build_id}", frame.offset)
}
