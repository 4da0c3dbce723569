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
    /// The main thread in the eyes of the kernel.
    pub(crate) struct MainThreadView<'a>(a: &'a Analysis, main: &'a MainThread) {
        /// When the kernel was asked, relative to the dump.
        captured_at_ms: f64 = ms_between(main.captured_ns, a.dump_ns),
        /// What it waited in, or did; null when unknown.
        wait: Option<MainWait> = a.main_wait(),
        /// The state of the thread in the kernel.
        doing: Name<ThreadState> = Name(ThreadState::of(main.state)),
        /// The kernel function that it slept in; empty when unknown.
        wchan: &'a str = &main.wchan,
        /// The system call that it was in.
        system_call: Option<SystemCallView<'a>> =
            main.system_call.as_ref().map(|call| SystemCallView::new(call, &a.meta.process.abi)),
        /// What it did until the report was complete.
        progress: Option<ProgressView> = main.progress.map(ProgressView::new),
        /// Its native stack, when a signal stopped it.
        native: Option<NativeStackView<'a>> =
            main.native.as_ref().map(|stack| NativeStackView::new(stack, a.dump_ns)),
    }
}

json_object! {
    /// A system call in progress.
    pub(crate) struct SystemCallView<'a>(call: &'a SystemCall, abi: &str) {
        /// Its name; null when its number is not one of those that are known.
        name: Option<&'static str> =
            call.number.and_then(|number| system_call(abi, number)).map(|(name, _)| name),
        /// Its number on the report's ABI; null when only that there was one is known.
        number: Option<u32> = call.number,
        /// Its arguments in hex; null for one that is not known.
        arguments: Vec<Option<String>> =
            call.arguments.iter().map(|value| value.map(|value| format!("{value:#x}"))).collect(),
        /// What its first argument stands for, if that is a file descriptor.
        descriptor: &'a str = &call.descriptor,
        /// Where it was seen: the signal interrupted it, or it was read from `/proc` a moment later.
        source: Name<SystemCallSource> = Name(call.source),
    }
}

json_object! {
    /// What the main thread did over a time.
    pub(crate) struct ProgressView(progress: Progress) {
        /// The length of that time.
        over_ms: f64 = ms(progress.over_ns),
        /// How long it ran.
        ran_ms: Option<f64> = progress.ran_ns.map(ms),
        /// How long it waited for a processor.
        waited_ms: Option<f64> = progress.waited_ns.map(ms),
        /// CPU time in its own code, in whole clock ticks.
        user_ms: f64 = ms(progress.user_ns),
        /// CPU time in the kernel, in whole clock ticks.
        kernel_ms: f64 = ms(progress.kernel_ns),
        /// Page faults that needed no disk.
        minor_faults: u64 = progress.minor_faults,
        /// Page faults that had to wait for the disk.
        major_faults: u64 = progress.major_faults,
    }
}

json_object! {
    /// A native stack.
    pub struct NativeStackView<'a>(stack: &'a NativeStack, dump_ns: Uptime) {
        /// When it was taken, relative to the dump.
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
        /// How it was found; `unknown` for one of ART's own trace.
        source: NameOrUnknown<NativeFrameSource> = NameOrUnknown(frame.source),
        /// The index of its module.
        module: Option<usize> = frame.module,
        /// The address in the module's ELF file, in hex.
        pc: String = format!("{:#x}", frame.offset),
        /// The functions at that place, inlined ones first; empty without symbols.
        functions: &'a [SourceFunction] = &frame.functions,
    }
}
