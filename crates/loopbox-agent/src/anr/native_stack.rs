//! The main thread's registers and return addresses at a SIGQUIT. The signal's handler writes them, in the
//! middle of whatever main does; the worker reads them.
//!
//! The handler allocates nothing and takes no lock, and all it calls is the clock. It follows the chain of
//! frame pointers: on arm64 the compilers of Android keep them by default, and on x86-64 much code has them,
//! so the native code above the first Java method is captured. On armv7 there is no common layout of frames
//! (Thumb code uses r7, ARM code r11, and neither is kept by default), and on x86 the default is to keep
//! none. On these two only the registers are captured.

use crate::sys::clock;
use loopbox_format::model::{NativeFrameSource, Uptime};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};

/// How many return addresses are kept: native code above the first Java method is seldom deeper than twenty.
const MAX_FRAMES: usize = 62;
/// How many words come before the return addresses: the registers, and the time in two halves, because a word
/// may have 32 bits.
const HEAD: usize = 12;
/// The kernel maps nothing but the main stack within this many bytes below the end of that stack (`MIN_GAP`
/// of `arch/*/mm/mmap.c` and `mm/util.c`). So a stack pointer in that range is in the main stack. A main
/// thread that runs on another stack, as a coroutine does, is not followed.
const MAX_STACK: usize = 128 << 20;
/// The size of a word in bytes. Frames are aligned to words.
const WORD: usize = size_of::<usize>();

/// The end of the main thread's stack; 0 while it is not known.
static STACK_END: AtomicUsize = AtomicUsize::new(0);
static LAST: Capture = Capture::new();

/// The registers that show where a thread was, and its system call if it was in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Registers {
    pub(crate) pc: usize,
    /// The stack pointer. Not part of a capture.
    pub(crate) sp: usize,
    /// The frame pointer; 0 where there is no chain to follow. Not part of a capture.
    pub(crate) frame: usize,
    /// The return address of a function that has no frame yet; 0 when it is unknown.
    pub(crate) link: usize,
    /// The number of a system call in progress.
    pub(crate) call: usize,
    /// Where the kernel puts a call's result.
    pub(crate) result: usize,
    /// A call's arguments.
    pub(crate) arguments: [usize; 6],
}

/// What the handler captured at one signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NativeCapture {
    /// Changes with each capture.
    pub(crate) version: u32,
    /// When it was taken, uptime.
    pub(crate) at_ns: Uptime,
    pub(crate) registers: Registers,
    /// The return addresses of the chain, innermost first.
    pub(crate) returns: Vec<usize>,
}

impl NativeCapture {
    /// All addresses, innermost first, and how each was found.
    pub(crate) fn addresses(&self) -> Vec<(NativeFrameSource, usize)> {
        let Registers { pc, link, .. } = self.registers;
        let mut all = vec![(NativeFrameSource::Pc, pc)];
        // Of a function that has its frame already the chain begins with the same address.
        if link != 0 && self.returns.first() != Some(&link) {
            all.push((NativeFrameSource::Link, link));
        }
        all.extend(self.returns.iter().map(|address| (NativeFrameSource::FramePointer, *address)));
        all
    }
}

/// Finds where the main thread's stack ends: takes the address that `AT_RANDOM` gives as the end. That
/// address is above the first frame, where the kernel puts all data for a new program (`create_elf_tables` of
/// `fs/binfmt_elf.c`). An app has the stack of the zygote that it was forked from. Opens no file. Before this
/// call only registers are captured.
pub(super) fn find_stack_end() {
    // SAFETY: no pointers; 0 for what the kernel has not given.
    let above = unsafe { libc::getauxval(libc::AT_RANDOM) };
    STACK_END.store(above as usize, Ordering::Relaxed);
}

/// The version of the last capture; 0 before the first.
pub(crate) fn version() -> u32 {
    LAST.read().map_or(0, |capture| capture.version)
}

/// Captures the interrupted thread. In a signal handler on the main thread only.
///
/// # Safety
/// `context` is null or the third argument of that handler.
pub(super) unsafe fn capture(context: *mut libc::c_void) {
    // SAFETY: by the caller's promise; the kernel aligns it.
    let Some(context) = (unsafe { context.cast::<libc::ucontext_t>().as_ref() }) else { return };
    let mut registers = registers(context);
    let stack = stack_of(registers.sp, STACK_END.load(Ordering::Relaxed));
    // SAFETY: `follow` and `top_of` ask for words within `stack` only. It goes from the stack pointer of this
    // very thread to the end of its stack, all of which is mapped and readable, and the thread does not run
    // while its signal is handled.
    let read = |at: usize| unsafe { ptr::read(at as *const usize) };
    if cfg!(target_arch = "x86_64") && word_is_in(&stack, registers.sp) {
        registers.link = read(registers.sp);
    }
    LAST.write(clock::now_ns(), &registers, &stack, read);
}

/// The last capture, unless it has this version.
pub(crate) fn newer_than(version: u32) -> Option<NativeCapture> {
    LAST.read().filter(|capture| capture.version != version)
}

/// The used part of the main stack: from the stack pointer to the end of the stack. Empty when the thread
/// runs on another stack.
fn stack_of(sp: usize, end: usize) -> Range<usize> {
    if sp < end && end - sp <= MAX_STACK { sp..end } else { 0..0 }
}

fn word_is_in(stack: &Range<usize>, at: usize) -> bool {
    at.is_multiple_of(WORD) && at >= stack.start && stack.end.checked_sub(at).is_some_and(|left| left >= WORD)
}

/// Follows a chain of frame records. Each has the frame pointer of the caller and a return address into it.
/// Passes the return addresses to `found` until that returns false. Each record must be aligned, within
/// `stack`, and above the one before: so the chain ends, whatever the memory holds. It often ends where code
/// uses the frame pointer for other things, as Java code does.
fn follow(
    mut frame: usize,
    stack: &Range<usize>,
    read: impl Fn(usize) -> usize,
    mut found: impl FnMut(usize) -> bool,
) {
    let mut above = stack.start;
    while frame >= above && word_is_in(stack, frame) && word_is_in(stack, frame.wrapping_add(WORD)) {
        let (next, address) = (read(frame), read(frame + WORD));
        // The stack has no code, even where it can be executed.
        if address == 0 || stack.contains(&address) || !found(address) {
            return;
        }
        above = frame + 2 * WORD;
        frame = next;
    }
}

/// A capture, written by one thread and read by another: a seqlock like `loopbox_store::Pair`, but over more
/// words.
struct Capture {
    /// Odd while the words change.
    version: AtomicU32,
    len: AtomicUsize,
    words: [AtomicUsize; HEAD + MAX_FRAMES],
}

impl Capture {
    const fn new() -> Self {
        Self {
            version: AtomicU32::new(0),
            len: AtomicUsize::new(0),
            words: [const { AtomicUsize::new(0) }; HEAD + MAX_FRAMES],
        }
    }

    /// Writes a capture. To be called by one thread at a time; a write that interrupts another one on the
    /// same thread changes nothing.
    fn write(
        &self,
        at_ns: Uptime,
        registers: &Registers,
        stack: &Range<usize>,
        read: impl Fn(usize) -> usize,
    ) {
        let version = self.version.load(Ordering::Relaxed);
        if !version.is_multiple_of(2) {
            return;
        }
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        let Registers { pc, frame, link, call, result, arguments, .. } = *registers;
        let head = [pc, link, call, result, at_ns.0 as u32 as usize, (at_ns.0 >> 32) as usize];
        let (at_head, free) = self.words.split_at(HEAD);
        for (free, word) in at_head.iter().zip(head.into_iter().chain(arguments)) {
            free.store(word, Ordering::Relaxed);
        }
        let mut len = 0;
        follow(frame, stack, read, |address| {
            let free = free.get(len);
            len += usize::from(free.is_some());
            free.inspect(|free| free.store(address, Ordering::Relaxed)).is_some()
        });
        self.len.store(len, Ordering::Relaxed);
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// The capture. `None` when there is none, or while one is being written. In the second case another
    /// signal has arrived, which wakes the worker again.
    fn read(&self) -> Option<NativeCapture> {
        let version = self.version.load(Ordering::Acquire);
        let len = HEAD + self.len.load(Ordering::Relaxed);
        let words: Vec<usize> =
            self.words.iter().take(len).map(|word| word.load(Ordering::Relaxed)).collect();
        fence(Ordering::Acquire);
        let whole = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        let (head, rest) = words.split_first_chunk()?;
        let [pc, link, call, result, low, high] = *head;
        let (arguments, returns) = rest.split_first_chunk()?;
        (whole && version != 0).then(|| NativeCapture {
            version,
            at_ns: Uptime(low as u64 | (high as u64) << 32),
            registers: Registers { pc, link, call, result, arguments: *arguments, ..Registers::default() },
            returns: returns.to_vec(),
        })
    }
}

#[cfg(target_arch = "aarch64")]
fn registers(context: &libc::ucontext_t) -> Registers {
    let machine = &context.uc_mcontext;
    let register = |at: usize| machine.regs.get(at).map_or(0, |value| *value as usize);
    Registers {
        pc: machine.pc as usize,
        sp: machine.sp as usize,
        frame: register(29),
        link: register(30),
        call: register(8),
        result: register(0),
        arguments: std::array::from_fn(register),
    }
}

#[cfg(target_arch = "x86_64")]
fn registers(context: &libc::ucontext_t) -> Registers {
    use libc::{REG_R8, REG_R9, REG_R10, REG_RAX, REG_RBP, REG_RDI, REG_RDX, REG_RIP, REG_RSI, REG_RSP};
    let register = |at: libc::c_int| {
        context.uc_mcontext.gregs.get(at as usize).map_or(0, |value| value.cast_unsigned() as usize)
    };
    Registers {
        pc: register(REG_RIP),
        sp: register(REG_RSP),
        frame: register(REG_RBP),
        link: 0,
        call: register(REG_RAX),
        result: register(REG_RAX),
        arguments: [REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9].map(register),
    }
}

#[cfg(target_arch = "arm")]
fn registers(context: &libc::ucontext_t) -> Registers {
    let machine = &context.uc_mcontext;
    Registers {
        pc: machine.arm_pc as usize,
        sp: machine.arm_sp as usize,
        frame: 0,
        link: machine.arm_lr as usize,
        call: machine.arm_r7 as usize,
        result: machine.arm_r0 as usize,
        arguments: [
            machine.arm_r0,
            machine.arm_r1,
            machine.arm_r2,
            machine.arm_r3,
            machine.arm_r4,
            machine.arm_r5,
        ]
        .map(|value| value as usize),
    }
}

#[cfg(target_arch = "x86")]
fn registers(context: &libc::ucontext_t) -> Registers {
    use libc::{REG_EAX, REG_EBP, REG_EBX, REG_ECX, REG_EDI, REG_EDX, REG_EIP, REG_ESI, REG_ESP};
    let register = |at: libc::c_int| {
        context.uc_mcontext.gregs.get(at as usize).map_or(0, |value| value.cast_unsigned() as usize)
    };
    Registers {
        pc: register(REG_EIP),
        sp: register(REG_ESP),
        frame: 0,
        link: 0,
        call: register(REG_EAX),
        result: register(REG_EAX),
        arguments: [REG_EBX, REG_ECX, REG_EDX, REG_ESI, REG_EDI, REG_EBP].map(register),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    const BASE: usize = 0x10_0000;

    /// Follows the chain that begins at the address `frame` in this stack. Returns the chain's return
    /// addresses, and the addresses of the words that were read.
    fn chain(stack: &[usize], frame: usize) -> (Vec<usize>, Vec<usize>) {
        let bounds = BASE..BASE + stack.len() * WORD;
        let (mut found, read) = (Vec::new(), RefCell::new(Vec::new()));
        let word = |at: usize| {
            read.borrow_mut().push(at);
            assert!(word_is_in(&bounds, at), "{at:#x} is not to be read");
            stack[(at - BASE) / WORD]
        };
        follow(frame, &bounds, word, |address| {
            found.push(address);
            true
        });
        (found, read.into_inner())
    }

    fn at(word: usize) -> usize {
        BASE + word * WORD
    }

    #[test]
    fn follow_goes_from_record_to_record() {
        let stack = [0, at(4), 0xA1, 0, at(7), 0xA2, 0, 0, 0xA3];
        assert_eq!(chain(&stack, at(1)).0, [0xA1, 0xA2, 0xA3]);
    }

    #[test]
    fn follow_ends_at_a_chain_that_goes_back_or_in_circles() {
        assert_eq!(chain(&[at(0), 0xA1], at(0)).0, [0xA1], "its own caller");
        assert_eq!(chain(&[at(2), 0xA1, at(0), 0xA2], at(0)).0, [0xA1, 0xA2], "back");
        assert_eq!(chain(&[at(1), 0xA1, 0xA2], at(0)).0, [0xA1], "into itself");
    }

    #[test]
    fn follow_reads_nothing_outside_of_the_stack_and_nothing_unaligned() {
        for frame in [0, BASE - WORD, at(3), at(2) + 1, at(2) + 4, at(4), usize::MAX, usize::MAX - WORD + 1] {
            assert_eq!(chain(&[0xBAD; 4], frame), (vec![], vec![]), "{frame:#x}");
        }
        for next in [0, BASE - WORD, at(3), at(2) + 1, at(4), at(400), usize::MAX, 0x8000_0000_0000_0000] {
            let (found, read) = chain(&[next, 0xA1, 0xBAD, 0xBAD], at(0));
            assert_eq!((found, read), (vec![0xA1], vec![at(0), at(1)]), "{next:#x}");
        }
    }

    #[test]
    fn follow_ends_where_there_is_no_return_address() {
        assert_eq!(chain(&[at(2), 0xA1, at(4), 0, 0, 0xA3], at(0)).0, [0xA1]);
        assert_eq!(chain(&[at(2), 0xA1, at(4), at(1), 0, 0xA3], at(0)).0, [0xA1], "an address of the stack");
    }

    #[test]
    fn a_stack_is_the_main_one_only_close_below_its_end() {
        assert_eq!(stack_of(BASE, BASE + 64), BASE..BASE + 64);
        for (sp, end) in
            [(BASE, 0), (BASE, BASE), (BASE + 8, BASE), (BASE, BASE + MAX_STACK + 1), (0, usize::MAX)]
        {
            assert!(stack_of(sp, end).is_empty(), "{sp:#x} {end:#x}");
        }
    }

    #[test]
    fn a_capture_keeps_what_there_is_room_for() {
        // Each record is followed by the next one; the last has no caller.
        let stack: Vec<usize> = (0..200).flat_map(|n| [at(2 * n + 2), 0xA000 + n]).collect();
        let bounds = BASE..at(stack.len());
        let capture = Capture::new();
        assert_eq!(capture.read(), None);
        let registers =
            Registers { pc: 7, frame: BASE, link: 9, arguments: [1, 2, 3, 4, 5, 6], ..Registers::default() };
        let time = 0x1234_5678_9ABC_DEF0;
        capture.write(Uptime(time), &registers, &bounds, |at| stack[(at - BASE) / WORD]);
        let read = capture.read().unwrap();
        let registers = Registers { frame: 0, ..registers };
        assert_eq!((read.version, read.at_ns, read.registers), (2, Uptime(time), registers));
        assert_eq!(read.returns, (0xA000..0xA000 + MAX_FRAMES).collect::<Vec<_>>());
        assert_eq!(
            read.addresses()[..3],
            [
                (NativeFrameSource::Pc, 7),
                (NativeFrameSource::Link, 9),
                (NativeFrameSource::FramePointer, 0xA000)
            ]
        );
        capture.write(Uptime::ZERO, &Registers::default(), &(0..0), |_| unreachable!());
        assert_eq!(capture.read().unwrap().returns, []);
    }

    #[test]
    fn a_write_in_the_middle_of_another_changes_nothing() {
        let capture = Capture::new();
        let stack = [0, 0xA1];
        capture.write(
            Uptime::ZERO,
            &Registers { frame: BASE, ..Registers::default() },
            &(BASE..at(2)),
            |at| {
                capture.write(Uptime::ZERO, &Registers { pc: 1, ..Registers::default() }, &(0..0), |_| 0);
                assert_eq!(capture.read(), None, "half written");
                stack[(at - BASE) / WORD]
            },
        );
        let read = capture.read().unwrap();
        assert_eq!((read.registers.pc, read.returns), (0, vec![0xA1]));
    }

    #[test]
    fn a_reader_never_sees_halves_of_two_captures() {
        let shared = Arc::new((Capture::new(), AtomicBool::new(false)));
        let reader = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let mut whole = 0;
                while !shared.1.load(Ordering::SeqCst) || whole == 0 {
                    let Some(NativeCapture { registers, returns, .. }) = shared.0.read() else { continue };
                    assert!(registers.arguments.iter().chain(&returns).all(|word| *word == registers.pc));
                    assert_eq!(returns.len(), registers.pc % 3);
                    whole += 1;
                }
                whole
            }
        });
        for n in 1..20_000_usize {
            let records: Vec<usize> = (0..n % 3).flat_map(|at| [BASE + (2 * at + 2) * WORD, n]).collect();
            let registers = Registers { pc: n, frame: BASE, arguments: [n; 6], ..Registers::default() };
            shared.0.write(Uptime::ZERO, &registers, &(BASE..at(records.len())), |at| {
                records[(at - BASE) / WORD]
            });
        }
        shared.1.store(true, Ordering::SeqCst);
        assert!(reader.join().unwrap() > 0);
    }
}
