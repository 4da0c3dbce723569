//! What the kernel reported of the main thread, and its native stack.

use crate::derive::tombstone_line;
use crate::model::name::{Name, NameOrUnknown};
use crate::model::system_calls::system_call;
use crate::model::time::{ms, ms_between};
use crate::model::{
    Analysis, MainThread, MainWait, NativeFrame, NativeFrameSource, NativeModule, NativeStack, Progress,
    SourceFunction, SystemCall, SystemCallSource, ThreadState,
};
use loopbox_format::model::Uptime;

json_object! {
    /// The main thread as the kernel reports it.
    pub(crate) struct MainThreadView<'a>(a: &'a Analysis, main: &'a MainThread) {
        /// When the kernel was asked, relative to the dump.
        captured_at_ms: f64 = ms_between(main.captured_ns, a.dump_ns),
        /// What the main thread waited in, or did; null when unknown.
        wait: Option<MainWait> = a.main_wait(),
        /// The state of the thread in the kernel.
        doing: Name<ThreadState> = Name(ThreadState::of(main.state)),
        /// The kernel function that the main thread slept in; empty when unknown.
        wchan: &'a str = &main.wchan,
        /// The system call that the main thread was in.
        system_call: Option<SystemCallView<'a>> =
            main.system_call.as_ref().map(|call| SystemCallView::new(call, &a.meta.process.abi)),
        /// What the main thread did from this capture until the report was complete.
        progress: Option<ProgressView> = main.progress.map(ProgressView::new),
        /// The native stack of the main thread, when a signal stopped it.
        native: Option<NativeStackView<'a>> =
            main.native.as_ref().map(|stack| NativeStackView::new(stack, a.dump_ns)),
    }
}

json_object! {
    /// A system call in progress.
    pub(crate) struct SystemCallView<'a>(call: &'a SystemCall, abi: &str) {
        /// The name of the system call; null when the number is unknown, or is of a call that this tool does
        /// not know.
        name: Option<&'static str> =
            call.number.and_then(|number| system_call(abi, number)).map(|(name, _)| name),
        /// The number of the system call on the report's ABI; null when it is only known that the thread was
        /// in a call.
        number: Option<u32> = call.number,
        /// The arguments of the system call in hex; null for an argument that is not known.
        arguments: Vec<Option<String>> =
            call.arguments.iter().map(|value| value.map(|value| format!("{value:#x}"))).collect(),
        /// What the first argument stands for, if that is a file descriptor.
        descriptor: &'a str = &call.descriptor,
        /// How the system call was seen: the signal interrupted it, or it was read from `/proc` a moment
        /// later.
        source: Name<SystemCallSource> = Name(call.source),
    }
}

json_object! {
    /// What the main thread did over a time.
    pub(crate) struct ProgressView(progress: Progress) {
        /// The length of the time in which the main thread was observed.
        over_ms: f64 = ms(progress.over_ns),
        /// How long the main thread ran.
        ran_ms: Option<f64> = progress.ran_ns.map(ms),
        /// How long the main thread waited for a processor.
        waited_ms: Option<f64> = progress.waited_ns.map(ms),
        /// The CPU time of the main thread outside of the kernel, in whole clock ticks.
        user_ms: f64 = ms(progress.user_ns),
        /// The CPU time of the main thread in the kernel, in whole clock ticks.
        kernel_ms: f64 = ms(progress.kernel_ns),
        /// The number of page faults that needed no disk.
        minor_faults: u64 = progress.minor_faults,
        /// The number of page faults that had to wait for the disk.
        major_faults: u64 = progress.major_faults,
    }
}

json_object! {
    /// A native stack.
    pub struct NativeStackView<'a>(stack: &'a NativeStack, dump_ns: Uptime) {
        /// When the stack was taken, relative to the dump.
        captured_at_ms: f64 = ms_between(stack.captured_ns, dump_ns),
        /// The frames, innermost first.
        frames: Vec<NativeFrameView<'a>> =
            stack.frames.iter().enumerate().map(|(number, frame)| NativeFrameView::new(stack, number, frame))
                .collect(),
        /// The modules of the frames.
        modules: &'a [NativeModule] = &stack.modules,
    }
}

json_object! {
    /// A place in native code.
    pub(crate) struct NativeFrameView<'a>(stack: &NativeStack, number: usize, frame: &'a NativeFrame) {
        /// The frame as a line of a tombstone.
        text: String = tombstone_line(stack, number, frame),
        /// How the frame was found; `unknown` for a frame of ART's own trace.
        source: NameOrUnknown<NativeFrameSource> = NameOrUnknown(frame.source),
        /// The index of the frame's module.
        module: Option<usize> = frame.module,
        /// The address in the module's ELF file, in hex.
        pc: String = format!("{:#x}", frame.offset),
        /// The functions at that place, inlined ones first; empty without symbols.
        functions: &'a [SourceFunction] = &frame.functions,
    }
}
