//! A native frame as the tools for tombstones read it.

use crate::model::{NativeFrame, NativeStack};

/// A line like `#00 pc 000000000009c2c4  /path/libc.so (syscall) (BuildId: ab12)`. `number` is the frame's
/// place in its stack.
pub(crate) fn tombstone_line(stack: &NativeStack, number: usize, frame: &NativeFrame) -> String {
    let module = frame.module.and_then(|module| stack.modules.get(module));
    let path = module.map_or("<unknown>", |module| &module.path);
    let function = frame.function().map(|function| format!(" ({})", function.name)).unwrap_or_default();
    let build_id = module.filter(|module| !module.build_id.is_empty());
    let build_id = build_id.map(|module| format!(" (BuildId: {})", module.build_id)).unwrap_or_default();
    format!("#{number:02} pc {:016x}  {path}{function}{build_id}", frame.offset)
}
