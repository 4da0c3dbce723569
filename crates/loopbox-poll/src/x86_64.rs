//! The trampolines of x86-64. The arguments: the environment in rdi, the queue object (before API 23 its
//! class) in rsi, `mPtr` in rdx, the time-out in ecx.
//!
//! The unwind information is written by hand: the compiler's directives produce it only where the surrounding
//! crates have unwind information, and in an app they have none.

use std::arch::global_asm;

macro_rules! trampoline {
    ($name:literal, $slot:literal) => {
        global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            ".p2align 4",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            "20:",
            "endbr64",
            "cmp rdx, qword ptr [rip + {slots} + {slot} * 16 + 8]",
            "je 2f",
            "jmp qword ptr [rip + {slots} + {slot} * 16]",
            "2:",
            "push rbp",
            "21:",
            "mov rbp, rsp",
            "22:",
            "push rbx",
            "push r12",
            "push r13",
            "push r14",
            "23:",
            "mov rbx, rdi",
            "mov r12, rsi",
            "mov r13, rdx",
            "mov r14d, ecx",
            "mov esi, ecx",
            "mov rdx, rbp",
            "call {entered}",
            // r14 has the time-out until here, and what `entered` said from here on.
            "mov ecx, r14d",
            "mov r14d, eax",
            "mov rdi, rbx",
            "mov rsi, r12",
            "mov rdx, r13",
            "call qword ptr [rip + {slots} + {slot} * 16]",
            "mov rdi, rbx",
            "mov esi, r14d",
            "call {returned}",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "24:",
            "ret",
            "25:",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
            ".pushsection .eh_frame,\"a\",@unwind",
            ".p2align 3",
            // The common part: version 1, pointers relative to their places, 4 bytes each; a return address
            // on the stack.
            "30: .long 32f - 31f",
            "31: .long 0",
            ".byte 1",
            ".asciz \"zR\"",
            ".byte 1, 0x78, 16, 1, 0x1b", // alignments 1 and -8, the return address's column
            ".byte 0x0c, 7, 8, 0x90, 1", // CFA = rsp + 8, return address at CFA - 8
            ".p2align 3",
            "32: .long 34f - 33f",
            "33: .long 33b - 30b",
            ".long 20b - .",
            ".long 25b - 20b",
            ".byte 0",
            ".byte 0x04; .long 21b - 20b", // go on to there
            ".byte 0x0e, 16, 0x86, 2", // CFA = rsp + 16, rbp at CFA - 16
            ".byte 0x04; .long 22b - 21b",
            ".byte 0x0d, 6", // CFA = rbp + 16
            ".byte 0x04; .long 23b - 22b",
            ".byte 0x83, 3, 0x8c, 4, 0x8d, 5, 0x8e, 6", // rbx, r12, r13, r14
            ".byte 0x04; .long 24b - 23b",
            ".byte 0x0c, 7, 8, 0xc6, 0xc3, 0xcc, 0xcd, 0xce", // as at the start
            ".p2align 3",
            "34:",
            ".popsection",
            slots = sym crate::slots::SLOTS,
            slot = const $slot,
            entered = sym crate::code::entered,
            returned = sym crate::code::returned,
        );
    };
}

trampoline!("loopbox_poll_0", 0);
trampoline!("loopbox_poll_1", 1);
trampoline!("loopbox_poll_2", 2);
trampoline!("loopbox_poll_3", 3);
