//! What the kernel reported of the main thread, sanitised and bounded.

use super::limits;
use crate::model::sanitize::sanitize;
use crate::model::{MainThread, NativeFrame, NativeModule, NativeStack, SystemCall};
use loopbox_format::model as file;
use std::fmt::Write;

/// The kernel's view of the main thread, sanitised; `None` when the kernel was not asked.
pub(super) fn read(main: &file::MainThread) -> Option<MainThread> {
    if *main == file::MainThread::default() {
        return None;
    }
    Some(MainThread {
        captured_ns: main.captured_ns,
        state: main.state,
        wchan: sanitize(&main.wchan, limits::NAME_CHARS),
        system_call: main.system_call.as_ref().map(system_call),
        progress: main.progress,
        native: main.native.as_ref().map(native_stack),
    })
}

fn system_call(call: &SystemCall) -> SystemCall {
    SystemCall {
        arguments: call.arguments.iter().take(limits::CALL_ARGUMENTS).copied().collect(),
        descriptor: sanitize(&call.descriptor, limits::NAME_CHARS),
        ..*call
    }
}

fn native_stack(stack: &file::NativeStack) -> NativeStack {
    let modules = stack.modules.iter().take(limits::NATIVE_MODULES).map(|module| NativeModule {
        path: sanitize(&module.path, limits::LINE_CHARS),
        build_id: module.build_id.iter().take(limits::BUILD_ID_BYTES).fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        }),
    });
    let modules: Vec<NativeModule> = modules.collect();
    let frames = stack.frames.iter().take(limits::STACK_DEPTH).map(|frame| NativeFrame {
        source: Some(frame.source),
        module: frame.module.map(|module| module as usize).filter(|module| *module < modules.len()),
        offset: frame.offset,
        functions: Vec::new(),
    });
    NativeStack { captured_ns: stack.captured_ns, frames: frames.collect(), modules }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_format::model::{NativeFrameSource, SystemCallSource, Uptime};

    #[test]
    fn read_bounds_everything_and_keeps_indices_valid() {
        let frame = file::NativeFrame { source: NativeFrameSource::Pc, module: Some(900), offset: u64::MAX };
        let module = file::NativeModule { path: "/\u{1b}[2Jx".into(), build_id: vec![0xAB; 500] };
        let main = file::MainThread {
            captured_ns: Uptime(1),
            wchan: "w".repeat(5_000),
            system_call: Some(SystemCall {
                number: Some(7),
                arguments: vec![None; 300],
                descriptor: "\n".into(),
                source: SystemCallSource::Proc,
            }),
            native: Some(file::NativeStack {
                captured_ns: Uptime(1),
                frames: vec![frame; 5_000],
                modules: vec![module; 5_000],
            }),
            ..file::MainThread::default()
        };
        let read = read(&main).unwrap();
        let native = read.native.unwrap();
        assert_eq!(native.frames.len(), limits::STACK_DEPTH);
        assert_eq!(native.modules.len(), limits::NATIVE_MODULES);
        assert_eq!(native.frames[0].module, None, "there is no such module");
        assert_eq!(native.modules[0].path, "/\u{FFFD}[2Jx");
        assert_eq!(native.modules[0].build_id, "ab".repeat(limits::BUILD_ID_BYTES));
        let call = read.system_call.unwrap();
        assert_eq!((call.arguments.len(), call.descriptor.as_str()), (limits::CALL_ARGUMENTS, " "));
        assert!(read.wchan.chars().count() <= limits::NAME_CHARS);
    }

    #[test]
    fn read_is_none_when_the_kernel_was_not_asked() {
        assert_eq!(read(&file::MainThread::default()), None);
    }
}
