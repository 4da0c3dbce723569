//! What the kernel reported of the main thread, and its native stack.

use super::Uptime;
use bincode::{Decode, Encode};

/// What the kernel reported of the main thread, and the native code that it was in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct MainThread {
    /// When the kernel was asked, uptime.
    pub captured_ns: Uptime,
    /// Its scheduler state, an ASCII letter as in `/proc/PID/stat`, see
    /// [`OtherThread::state`](super::OtherThread::state); `None` when it could not be read.
    pub state: Option<u8>,
    /// The kernel function that it slept in (`/proc/PID/wchan`); empty when it ran, or when the kernel does
    /// not report it.
    pub wchan: String,
    /// The system call that it was in; `None` when it was in none, or it is not known.
    pub system_call: Option<SystemCall>,
    /// The thread's progress from `captured_ns` to the completion of the report; `None` when the kernel does
    /// not report it.
    pub progress: Option<Progress>,
    /// Its native stack; `None` when no signal stopped the thread.
    pub native: Option<NativeStack>,
}

/// A system call in progress.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SystemCall {
    /// Its number, which differs between ABIs; `None` when the call's result has overwritten it.
    pub number: Option<u32>,
    /// Its arguments in order, at most six; one that the kernel had overwritten with the call's result is
    /// `None`.
    pub arguments: Vec<Option<u64>>,
    /// What the first argument stands for if it is a file descriptor: a path below `/dev`,
    /// `anon_inode:[eventpoll]`, `socket`, `pipe`, `file`, `file in databases`; empty when it is no file
    /// descriptor. It contains no name that an app or a user chose.
    pub descriptor: String,
    /// Where the number and the arguments were read.
    pub source: SystemCallSource,
}

/// Where a [`SystemCall`] was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[non_exhaustive]
pub enum SystemCallSource {
    /// In the registers that SIGQUIT's handler found: it interrupted the call.
    Registers,
    /// In `/proc/PID/syscall`, which the recorder read while the thread was in the call.
    Proc,
}

/// What the main thread did during an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct Progress {
    /// The length of the interval.
    pub over_ns: u64,
    /// How long it ran. The kernel counts a running thread in ticks of 1 to 10 ms.
    pub ran_ns: Option<u64>,
    /// How long it waited for a processor.
    pub waited_ns: Option<u64>,
    /// CPU time in its own code, in whole clock ticks.
    pub user_ns: u64,
    /// CPU time in the kernel, in whole clock ticks.
    pub kernel_ns: u64,
    /// Page faults that needed no disk.
    pub minor_faults: u64,
    /// Page faults that had to wait for the disk.
    pub major_faults: u64,
}

/// A native stack.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct NativeStack {
    /// When it was taken, uptime.
    pub captured_ns: Uptime,
    /// The frames, innermost first. They end where the chain of frame pointers ends: at the latest before the
    /// first Java method, whose code keeps no frame pointer.
    pub frames: Vec<NativeFrame>,
    /// The files that the frames are in.
    pub modules: Vec<NativeModule>,
}

/// A place in native code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct NativeFrame {
    /// How it was found.
    pub source: NativeFrameSource,
    /// Index of its module; `None` when the address is in no code, or the memory map could not be read.
    pub module: Option<u32>,
    /// The place in the module: the address that the ELF file itself uses, as in a tombstone. In a module
    /// that is not an ELF file, it is the offset in the file, or from the start of the mapping. Without a
    /// module it is the address in the process.
    pub offset: u64,
}

/// How a [`NativeFrame`] was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[non_exhaustive]
pub enum NativeFrameSource {
    /// The program counter: the next instruction.
    Pc,
    /// The link register of arm64, or the word on top of an x86-64 stack. If the innermost function has no
    /// frame, as the functions around system calls, the value is its return address. If the function has a
    /// frame, the value may be left over from an earlier call. The address of a left-over value is in the
    /// same function as the program counter, which can be seen only with symbols.
    Link,
    /// A return address from the chain of frame pointers.
    FramePointer,
}

/// A file that is mapped as code.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct NativeModule {
    /// Its path, or the name of the memory (`[vdso]`, `/memfd:jit-cache`), or `[anonymous]`.
    pub path: String,
    /// The GNU build id in its mapped notes; empty when it has none.
    pub build_id: Vec<u8>,
}
