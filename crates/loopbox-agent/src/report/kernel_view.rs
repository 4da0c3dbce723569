//! What the kernel reports of the main thread, and its native stack, in three steps: what is read at once,
//! for the first file; the frames, which need the whole memory map; and what the thread did until
//! the report was complete.

use super::outside;
use crate::anr::interrupted_call::interrupted_call;
use crate::anr::native_stack::NativeCapture;
use crate::sys::proc::{self, Call, ThreadStat};
use crate::sys::{clock, descriptors};
use loopbox_art::native::{Places, places, without_signature};
use loopbox_format::model::{
    MainState, MainThread, NativeFrame, NativeFrameSource, NativeModule, NativeStack, Progress, SystemCall,
    SystemCallSource, Token, Uptime,
};
use loopbox_format::text::number;
use std::io;

/// File descriptors are small; whatever is larger is another kind of argument.
const MAX_DESCRIPTOR: u64 = 1 << 16;

/// What the kernel had counted when the report was begun, and what SIGQUIT's handler found.
#[derive(Debug)]
pub(super) struct Begun {
    /// The token of what main was in.
    token: Token,
    counted: Counted,
    capture: Option<NativeCapture>,
}

/// What the kernel has counted of the main thread.
#[derive(Debug, Clone, Copy)]
struct Counted {
    at_ns: Uptime,
    stat: Option<ThreadStat>,
    ran_ns: Option<u64>,
    waited_ns: Option<u64>,
}

impl Counted {
    fn now() -> Self {
        let schedstat = proc::main_schedstat();
        let mut words = schedstat.split_ascii_whitespace();
        let mut next = || number(words.next()?);
        Self { at_ns: clock::now_ns(), stat: proc::main_stat(), ran_ns: next(), waited_ns: next() }
    }
}

/// What can be read of the main thread at once, when a report is begun. `token` is the token of what it is
/// in, `capture` what the handler of the report's signal found.
pub(super) fn begin(token: Token, capture: Option<NativeCapture>) -> (MainThread, Begun) {
    let counted = Counted::now();
    let interrupted = capture.as_ref().and_then(|capture| interrupted_call(&capture.registers));
    let is_known = interrupted.as_ref().is_some_and(|call| call.number.is_some());
    let mut system_call = if is_known { interrupted } else { call_in_proc().or(interrupted) };
    if let Some(call) = &mut system_call
        && let Some(Some(fd)) = call.arguments.first().filter(|fd| fd.is_some_and(|fd| fd < MAX_DESCRIPTOR))
    {
        call.descriptor = proc::descriptor(*fd);
    }
    let main_thread = MainThread {
        captured_ns: counted.at_ns,
        state: counted.stat.map(|stat| stat.state),
        wchan: proc::main_wchan(),
        system_call,
        progress: None,
        native: None,
    };
    (main_thread, Begun { token, counted, capture })
}

fn call_in_proc() -> Option<SystemCall> {
    let Call::In { number, arguments } = proc::main_system_call() else { return None };
    let (number, source) = (Some(number), SystemCallSource::Proc);
    Some(SystemCall { number, arguments, descriptor: String::new(), source })
}

impl Begun {
    /// Returns `self` if main was in the same message when `self` was read as in the report, whose state of
    /// the main thread is `main`. Otherwise `None`: main may have begun another message in between.
    pub(super) fn of(self, main: &MainState) -> Option<Self> {
        // Before this time main was in something else.
        let begun_ns = match main {
            MainState::Running(running) => running.start_ns,
            MainState::Outside(outside) => outside.after_ns,
            _ => return Some(self),
        };
        let earlier = self.capture.as_ref().is_some_and(|capture| capture.at_ns < begun_ns);
        (self.token == outside::token(main) && !earlier).then_some(self)
    }

    /// The native stack, if the main thread took the report's signal, and the memory map can be read. May
    /// wait while another thread changes that map.
    pub(super) fn native_stack(&self) -> Option<NativeStack> {
        self.native_stack_in(|addresses| descriptors::open(|| places(addresses)))
    }

    fn native_stack_in(&self, places: impl Fn(&[usize]) -> io::Result<Places>) -> Option<NativeStack> {
        let capture = self.capture.as_ref()?;
        let all = capture.addresses();
        let addresses: Vec<usize> = all.iter().map(|(_, address)| without_signature(*address)).collect();
        let found = places(&addresses).ok()?;
        let mut frames = Vec::new();
        for (&(source, address), &place) in all.iter().zip(&found.places) {
            match (source, place) {
                // What was left in a register, or on the stack, need not be an address of code.
                (NativeFrameSource::Link, None) => continue,
                // The chain has led elsewhere: Java code uses the frame pointer for other things.
                (NativeFrameSource::FramePointer, None) => break,
                _ => {}
            }
            let (module, offset) = match place {
                Some((module, offset)) => (Some(module), offset),
                None => (None, address as u64),
            };
            frames.push(NativeFrame { source, module, offset });
        }
        let modules = found.modules.into_iter();
        let modules = modules.map(|module| NativeModule { path: module.path, build_id: module.build_id });
        Some(NativeStack { captured_ns: capture.at_ns, frames, modules: modules.collect() })
    }

    /// What the main thread has done since the report was begun.
    pub(super) fn progress(&self) -> Option<Progress> {
        let (before, now) = (self.counted, Counted::now());
        let growth = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        let (stat, stat_before) = (now.stat?, before.stat?);
        let tick_ns = 1_000_000_000 / clock::ticks_per_second().max(1);
        let ticks_ns = |now: u64, before: u64| now.saturating_sub(before).saturating_mul(tick_ns);
        Some(Progress {
            over_ns: now.at_ns.since(before.at_ns),
            ran_ns: growth(now.ran_ns, before.ran_ns),
            waited_ns: growth(now.waited_ns, before.waited_ns),
            user_ns: ticks_ns(stat.user, stat_before.user),
            kernel_ns: ticks_ns(stat.kernel, stat_before.kernel),
            minor_faults: stat.minor_faults.saturating_sub(stat_before.minor_faults),
            major_faults: stat.major_faults.saturating_sub(stat_before.major_faults),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anr::native_stack::Registers;
    use loopbox_format::model::Running;

    fn capture(pc: usize, link: usize, returns: &[usize]) -> Begun {
        let registers = Registers { pc, link, ..Registers::default() };
        let capture = NativeCapture { version: 2, at_ns: Uptime(5), registers, returns: returns.to_vec() };
        begin(Token(7), Some(capture)).1
    }

    #[test]
    fn a_native_stack_ends_where_the_chain_leaves_the_code() {
        let code = a_native_stack_ends_where_the_chain_leaves_the_code as *const () as usize;
        let libc = libc::getpid as *const () as usize;
        let sources = |begun: &Begun| {
            let stack = begun.native_stack().unwrap();
            stack.frames.iter().map(|frame| (frame.source, frame.module)).collect::<Vec<_>>()
        };
        use NativeFrameSource::{FramePointer, Link, Pc};
        assert_eq!(
            sources(&capture(libc, code, &[libc + 4, code, 8, code])),
            [(Pc, Some(1)), (Link, Some(0)), (FramePointer, Some(1)), (FramePointer, Some(0))]
        );
        assert_eq!(sources(&capture(8, 16, &[])), [(Pc, None)], "no code, and no return address");
        assert_eq!(sources(&capture(code, libc, &[libc])), [(Pc, Some(0)), (FramePointer, Some(1))]);
        assert!(begin(Token(7), None).1.native_stack().is_none());
        // Where the map cannot be read, nothing says that the chain has led elsewhere.
        let unread = capture(libc, code, &[libc + 4]);
        assert!(unread.native_stack_in(|_| Err(io::Error::from_raw_os_error(libc::EMFILE))).is_none());
    }

    #[test]
    fn what_was_read_before_the_reported_message_began_is_of_another_one() {
        let running = |token, start_ns| {
            let (start_ns, as_of_ns) = (Uptime(start_ns), Uptime(90));
            MainState::Running(Running { token, start_ns, as_of_ns, cpu_ns: None, depth: 1, message: None })
        };
        let read = |main: &MainState| begin(Token(7), None).1.of(main).is_some();
        let signalled = |main: &MainState| capture(8, 16, &[]).of(main).is_some();
        assert!(read(&running(Token(7), 50)) && !read(&running(Token(8), 50)));
        assert!(signalled(&running(Token(7), 5)));
        assert!(!signalled(&running(Token(7), 6)), "the signal came to the message before");
        for main in [MainState::Unknown, MainState::Idle { since_ns: Uptime(50) }] {
            assert!(read(&main) && signalled(&main));
        }
    }

    #[test]
    fn the_kernel_knows_the_main_thread() {
        let (main_thread, begun) = begin(Token(7), None);
        assert!(main_thread.captured_ns > Uptime::ZERO);
        assert!(main_thread.state.is_some_and(|state| b"RSDTt".contains(&state)), "{main_thread:?}");
        // The main thread of a test program waits for the thread that this runs on.
        while begun.progress().unwrap().over_ns == 0 {}
        let progress = begun.progress().unwrap();
        assert!(progress.over_ns > 0 && progress.user_ns <= progress.over_ns + 20_000_000, "{progress:?}");
    }
}
