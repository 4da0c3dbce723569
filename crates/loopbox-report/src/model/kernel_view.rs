//! What the kernel reported of the main thread, and its native stack.

use loopbox_format::model::Uptime;
pub use loopbox_format::model::{NativeFrameSource, Progress, SystemCall, SystemCallSource};
use schemars::JsonSchema;
use serde::Serialize;

/// The main thread as the kernel sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MainThread {
    /// When the kernel was asked, in uptime.
    pub captured_ns: Uptime,
    /// The state letter of proc(5), `/proc/PID/stat`; `None` when unknown.
    pub state: Option<u8>,
    /// The kernel function that the main thread slept in; empty when unknown.
    pub wchan: String,
    /// The system call that the main thread was in.
    pub system_call: Option<SystemCall>,
    /// What the main thread did between this capture and the completion of the report.
    pub progress: Option<Progress>,
    /// The native stack of the main thread, when a signal stopped it.
    pub native: Option<NativeStack>,
}

/// A native stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeStack {
    /// When the stack was taken, in uptime.
    pub captured_ns: Uptime,
    /// The frames of the stack, innermost first.
    pub frames: Vec<NativeFrame>,
    /// The modules of the frames.
    pub modules: Vec<NativeModule>,
}

/// A place in native code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeFrame {
    /// How the frame was found; `None` for a frame of ART's own trace, which does not say.
    pub source: Option<NativeFrameSource>,
    /// The index of the frame's module; it is valid.
    pub module: Option<usize>,
    /// The address that the module's ELF file uses, or the offset in a module that is no ELF file.
    pub offset: u64,
    /// The functions at that place, by symbols: inlined ones first, the one that they were inlined into last.
    /// Empty without symbols.
    pub functions: Vec<SourceFunction>,
}

/// A function in a source file, as symbols name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceFunction {
    /// The function's name.
    pub name: String,
    /// The source file.
    pub file: Option<String>,
    /// The line in the source file.
    pub line: Option<u32>,
    /// Whether the compiler has inlined the function into the next function of the list.
    pub inlined: bool,
}

/// A file that was mapped as code, or other memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NativeModule {
    /// The path on the device, or the name of the memory.
    pub path: String,
    /// The GNU build id in lower-case hex; empty when the module has none.
    pub build_id: String,
}

impl NativeModule {
    /// The name of the file, without its folders.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

impl NativeFrame {
    /// The address for finding symbols. For a return address this is the byte before it, which is in the
    /// call: the instruction after the call may be in the next line, or even in the next function.
    fn call_site(&self) -> u64 {
        match self.source {
            Some(NativeFrameSource::Pc) | None => self.offset,
            _ => self.offset.saturating_sub(1),
        }
    }

    /// The function that contains the code of the frame. If other functions were inlined there, this is the
    /// one that they were inlined into.
    pub fn function(&self) -> Option<&SourceFunction> {
        self.functions.last()
    }
}

impl NativeStack {
    /// Gives each frame its functions. `functions` gets a module and an address in its ELF file.
    ///
    /// A link register that still points into the function of the program counter was left by an earlier
    /// call. It is not a frame, and is removed.
    pub fn symbolize(&mut self, mut functions: impl FnMut(&NativeModule, u64) -> Vec<SourceFunction>) {
        for frame in &mut self.frames {
            if let Some(module) = frame.module.and_then(|module| self.modules.get(module)) {
                frame.functions = functions(module, frame.call_site());
            }
        }
        let pc = self.frames.iter().find(|frame| frame.source == Some(NativeFrameSource::Pc));
        let Some(current) = pc.and_then(|frame| Some((frame.module, frame.function()?.name.clone()))) else {
            return;
        };
        self.frames.retain(|frame| {
            let function = frame.function().map(|function| (frame.module, function.name.clone()));
            frame.source != Some(NativeFrameSource::Link) || function.as_ref() != Some(&current)
        });
    }
}

/// What a thread was doing, as the kernel reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadState {
    Runs,
    Waits,
    WaitsForTheKernel,
    Stopped,
    Ends,
    Unknown,
}

loopbox_format::names! {
    ThreadState {
        Runs: "runs",
        Waits: "waits",
        WaitsForTheKernel: "waits for the kernel",
        Stopped: "stopped",
        Ends: "ends",
        Unknown: "unknown",
    }
}

impl ThreadState {
    /// The state that a letter of proc(5), `/proc/PID/stat`, stands for.
    pub(crate) fn of(letter: Option<u8>) -> Self {
        match letter.unwrap_or_default() {
            b'R' => Self::Runs,
            b'S' | b'I' => Self::Waits,
            b'D' => Self::WaitsForTheKernel,
            b'T' | b't' => Self::Stopped,
            b'Z' | b'X' | b'x' => Self::Ends,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(frames: &[(NativeFrameSource, u64)]) -> NativeStack {
        let frame = |&(source, offset): &(NativeFrameSource, u64)| NativeFrame {
            source: Some(source),
            module: Some(0),
            offset,
            functions: Vec::new(),
        };
        let module = NativeModule { path: "/x/liba.so".into(), build_id: "ab".into() };
        NativeStack {
            captured_ns: Uptime::ZERO,
            frames: frames.iter().map(frame).collect(),
            modules: vec![module],
        }
    }

    /// One function for each hundred addresses.
    fn name(address: u64) -> Vec<SourceFunction> {
        let name = format!("f{}", address / 100);
        vec![SourceFunction { name, file: None, line: None, inlined: false }]
    }

    fn names(stack: &NativeStack) -> Vec<&str> {
        stack.frames.iter().map(|frame| frame.functions[0].name.as_str()).collect()
    }

    #[test]
    fn symbolize_finds_a_return_address_by_its_call() {
        use NativeFrameSource::{FramePointer, Link, Pc};
        let mut called = stack(&[(Pc, 100), (Link, 300), (FramePointer, 500)]);
        called.symbolize(|module, address| {
            assert_eq!(module.file_name(), "liba.so");
            name(address)
        });
        assert_eq!(names(&called), ["f1", "f2", "f4"]);
    }

    #[test]
    fn symbolize_drops_what_an_earlier_call_left_in_the_link_register() {
        use NativeFrameSource::{FramePointer, Link, Pc};
        let mut stale = stack(&[(Pc, 110), (Link, 150), (FramePointer, 170)]);
        stale.symbolize(|_, address| name(address));
        assert_eq!(names(&stale), ["f1", "f1"], "a recursive call is in the chain, too");
        let mut unnamed = stack(&[(Pc, 110), (Link, 150)]);
        unnamed.symbolize(|_, _| Vec::new());
        assert_eq!(unnamed.frames.len(), 2);
    }
}
