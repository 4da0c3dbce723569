//! System calls by their numbers, which differ between ABIs: those in which a main thread may wait.

/// The purpose of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    Futex,
    Ioctl,
    /// Writing files back to the disk.
    FileSync,
    /// The call that `Looper` waits in.
    Epoll,
    Poll,
    Sleep,
    Read,
    Write,
    Socket,
    /// Opening, naming, locking, measuring files.
    File,
    /// Changing the memory map.
    Memory,
    /// Waiting for another process.
    Process,
    Other,
}

use CallKind::{
    Epoll, File, FileSync, Futex, Ioctl, Memory, Other, Poll, Process, Read, Sleep, Socket, Write,
};

/// The number of a call that an ABI does not have.
const NONE: u32 = u32::MAX;

/// Name, kind, and the numbers on arm64, arm, x86-64 and x86, from `asm/unistd.h` of Linux 6.18 and, for arm,
/// from its `syscall.tbl`.
type Row = (&'static str, CallKind, [u32; 4]);

const TABLE: &[Row] = &[
    ("futex", Futex, [98, 240, 202, 240]),
    ("futex_time64", Futex, [NONE, 422, NONE, 422]),
    ("futex_waitv", Futex, [449, 449, 449, 449]),
    ("ioctl", Ioctl, [29, 54, 16, 54]),
    ("fsync", FileSync, [82, 118, 74, 118]),
    ("fdatasync", FileSync, [83, 148, 75, 148]),
    ("sync", FileSync, [81, 36, 162, 36]),
    ("syncfs", FileSync, [267, 373, 306, 344]),
    ("sync_file_range", FileSync, [84, NONE, 277, 314]),
    ("msync", FileSync, [227, 144, 26, 144]),
    ("epoll_wait", Epoll, [NONE, 252, 232, 256]),
    ("epoll_pwait", Epoll, [22, 346, 281, 319]),
    ("epoll_pwait2", Epoll, [441, 441, 441, 441]),
    ("poll", Poll, [NONE, 168, 7, 168]),
    ("ppoll", Poll, [73, 336, 271, 309]),
    ("ppoll_time64", Poll, [NONE, 414, NONE, 414]),
    ("select", Poll, [NONE, 142, 23, 142]),
    ("pselect6", Poll, [72, 335, 270, 308]),
    ("pselect6_time64", Poll, [NONE, 413, NONE, 413]),
    ("nanosleep", Sleep, [101, 162, 35, 162]),
    ("clock_nanosleep", Sleep, [115, 265, 230, 267]),
    ("clock_nanosleep_time64", Sleep, [NONE, 407, NONE, 407]),
    ("read", Read, [63, 3, 0, 3]),
    ("readv", Read, [65, 145, 19, 145]),
    ("pread64", Read, [67, 180, 17, 180]),
    ("write", Write, [64, 4, 1, 4]),
    ("writev", Write, [66, 146, 20, 146]),
    ("pwrite64", Write, [68, 181, 18, 181]),
    ("sendfile", Write, [71, 187, 40, 187]),
    ("copy_file_range", Write, [285, 391, 326, 377]),
    ("connect", Socket, [203, 283, 42, 362]),
    ("accept", Socket, [202, 285, 43, NONE]),
    ("accept4", Socket, [242, 366, 288, 364]),
    ("sendto", Socket, [206, 290, 44, 369]),
    ("sendmsg", Socket, [211, 296, 46, 370]),
    ("recvfrom", Socket, [207, 292, 45, 371]),
    ("recvmsg", Socket, [212, 297, 47, 372]),
    ("socketcall", Socket, [NONE, NONE, NONE, 102]),
    ("open", File, [NONE, 5, 2, 5]),
    ("openat", File, [56, 322, 257, 295]),
    ("close", File, [57, 6, 3, 6]),
    ("fcntl", File, [25, 55, 72, 55]),
    ("fcntl64", File, [NONE, 221, NONE, 221]),
    ("flock", File, [32, 143, 73, 143]),
    ("ftruncate", File, [46, 93, 77, 93]),
    ("fallocate", File, [47, 352, 285, 324]),
    ("getdents64", File, [61, 217, 217, 220]),
    ("newfstatat", File, [79, 327, 262, 300]),
    ("statfs", File, [43, 99, 137, 99]),
    ("unlinkat", File, [35, 328, 263, 301]),
    ("renameat", File, [38, 329, 264, 302]),
    ("renameat2", File, [276, 382, 316, 353]),
    ("mkdirat", File, [34, 323, 258, 296]),
    ("faccessat", File, [48, 334, 269, 307]),
    ("mmap", Memory, [222, NONE, 9, NONE]),
    ("mmap2", Memory, [NONE, 192, NONE, 192]),
    ("munmap", Memory, [215, 91, 11, 91]),
    ("mprotect", Memory, [226, 125, 10, 125]),
    ("madvise", Memory, [233, 220, 28, 219]),
    ("wait4", Process, [260, 114, 61, 114]),
    ("waitid", Process, [95, 280, 247, 284]),
    ("sched_yield", Other, [124, 158, 24, 158]),
    ("rt_sigtimedwait", Other, [137, 177, 128, 177]),
    ("rt_sigsuspend", Other, [133, 179, 130, 179]),
    ("restart_syscall", Other, [128, 0, 219, 0]),
];

/// The name of a system call and what it is for; `None` for one that is not in the table, or on an unknown
/// ABI.
pub(crate) fn system_call(abi: &str, number: u32) -> Option<(&'static str, CallKind)> {
    let column = ["arm64-v8a", "armeabi-v7a", "x86_64", "x86"].iter().position(|known| *known == abi)?;
    let row = TABLE.iter().find(|(_, _, numbers)| numbers[column] == number && number != NONE)?;
    Some((row.0, row.1))
}

/// Whether an `ioctl` with this request is binder's `BINDER_WRITE_READ`: `_IOWR('b', 1, struct
/// binder_write_read)`, of whatever size.
pub(crate) fn is_binder_request(request: u64) -> bool {
    request & 0xC000_FFFF == 0xC000_6201
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_call_knows_each_abis_numbers() {
        let name = |abi, number| system_call(abi, number).map(|(name, _)| name);
        assert_eq!(
            ["arm64-v8a", "armeabi-v7a", "x86_64", "x86"].map(|abi| name(abi, 240)),
            [None, Some("futex"), None, Some("futex")]
        );
        assert_eq!((name("arm64-v8a", 29), name("x86_64", 0)), (Some("ioctl"), Some("read")));
        assert_eq!((name("arm64-v8a", NONE), name("riscv64", 98), name("", 0)), (None, None, None));
    }

    #[test]
    fn no_number_has_two_names() {
        for column in 0..4 {
            let mut numbers: Vec<u32> =
                TABLE.iter().map(|row| row.2[column]).filter(|number| *number != NONE).collect();
            let all = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), all, "column {column}");
        }
    }

    #[test]
    fn is_binder_request_takes_both_sizes_and_nothing_else() {
        assert!(is_binder_request(0xC030_6201) && is_binder_request(0xC018_6201));
        assert!(
            !is_binder_request(0xC030_6209) && !is_binder_request(0x4004_6201) && !is_binder_request(0x5401)
        );
    }
}
