//! Native frames as ART and debuggerd print them.

use crate::load::limits;
use crate::model::sanitize::sanitize;
use crate::model::{NativeFrame, NativeModule, NativeStack, SourceFunction};

/// Parses a line like `native: #00 pc 000000000009b5f8  /apex/…/libc.so (syscall+28) (BuildId: ab12)`, and
/// adds its frame to `stack`.
pub(super) fn add(stack: &mut NativeStack, line: &str) {
    let Some((offset, module, function)) = read(line) else { return };
    if stack.frames.len() >= limits::STACK_DEPTH {
        return;
    }
    let known = stack.modules.iter().position(|known| *known == module);
    let index = known.unwrap_or_else(|| {
        stack.modules.push(module);
        stack.modules.len() - 1
    });
    let function = function.map(|name| SourceFunction { name, file: None, line: None, inlined: false });
    stack.frames.push(NativeFrame {
        // How ART found it, it does not say.
        source: None,
        module: Some(index),
        offset,
        functions: function.into_iter().collect(),
    });
}

fn read(line: &str) -> Option<(u64, NativeModule, Option<String>)> {
    let (_, rest) = line.split_once('#')?.1.split_once(" pc ")?;
    let (offset, rest) = rest.trim_start().split_once(' ')?;
    let offset = u64::from_str_radix(offset.strip_prefix("0x").unwrap_or(offset), 16).ok()?;
    let (path, words) = rest.trim().split_once(" (").unwrap_or((rest.trim(), ""));
    let (words, build_id) = match words.rsplit_once("BuildId: ") {
        Some((words, build_id)) => (words.trim_end_matches([' ', '(']), build_id.trim_end_matches(')')),
        None => (words, ""),
    };
    // An archive's library: `(offset 0x1000) (function+8)`.
    let words = match words.strip_prefix("offset ") {
        Some(after) => after.split_once(" (").map_or("", |(_, words)| words),
        None => words,
    };
    let function = words.strip_suffix(')').unwrap_or(words);
    let function = function
        .rsplit_once('+')
        .filter(|(_, at)| at.trim().bytes().all(|b| b.is_ascii_digit()))
        .map_or(function, |(name, _)| name.trim_end());
    let is_hex =
        build_id.len() <= 2 * limits::BUILD_ID_BYTES && build_id.bytes().all(|b| b.is_ascii_hexdigit());
    let module = NativeModule {
        path: sanitize(path, limits::LINE_CHARS),
        build_id: if is_hex { build_id.to_ascii_lowercase() } else { String::new() },
    };
    let known = !matches!(function, "" | "???");
    Some((offset, module, known.then(|| sanitize(function, limits::NAME_CHARS))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_frame_has_its_module_and_function() {
        let of = |line| {
            let (offset, module, function) = read(line).unwrap();
            (offset, module.path, module.build_id, function.unwrap_or_default())
        };
        let whole = of(
            "native: #01 pc 000000000009b5f8  /apex/com.android.runtime/lib64/bionic/libc.so (syscall+28) (BuildId: 01AB)",
        );
        assert_eq!(
            whole,
            (
                0x9_b5f8,
                "/apex/com.android.runtime/lib64/bionic/libc.so".into(),
                "01ab".into(),
                "syscall".into()
            )
        );
        let host = of("native: #00 pc 00000000000c8d62  /lib/x86_64-linux-gnu/libc.so.6 (???)");
        assert_eq!(host, (0xc_8d62, "/lib/x86_64-linux-gnu/libc.so.6".into(), String::new(), String::new()));
        let nested =
            of("#03 pc 0004e8  /system/lib64/libart.so (art::ConditionVariable::Wait(art::Thread*)+12)");
        assert_eq!(nested.3, "art::ConditionVariable::Wait(art::Thread*)");
        let archive = of("native: #04 pc 10  /data/app/base.apk (offset 0x1000) (Java_a_b+4) (BuildId: cd)");
        assert_eq!(archive, (0x10, "/data/app/base.apk".into(), "cd".into(), "Java_a_b".into()));
        let play = of("#00  pc 0x000000000004a36c  /apex/x/libc.so (syscall + 28) (BuildId: ab)");
        assert_eq!((play.0, play.2.as_str(), play.3.as_str()), (0x4_a36c, "ab", "syscall"));
        let bare = of("#00 pc 0001  <anonymous:7f>");
        assert_eq!((bare.1.as_str(), bare.3.as_str()), ("<anonymous:7f>", ""));
        for none in
            ["native: (backtrace::Unwind failed)", "native: #00 pc zz  /x", "native: #00", "native: #00 pc 1"]
        {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
