//! The trampolines of x86. The arguments are on the stack: the environment, the queue object (before API 23
//! its class), `mPtr` in two words, the time-out.
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
            "endbr32",
            "calll 21f", // no instruction can name a place relative to itself
            "21:",
            "popl %ecx",
            "22:",
            "leal {slots} + {slot} * 16 - 21b(%ecx), %ecx",
            "movl 12(%esp), %eax",
            "cmpl 8(%ecx), %eax",
            "jne 2f",
            "movl 16(%esp), %eax",
            "cmpl 12(%ecx), %eax",
            "je 3f",
            "2:",
            "jmpl *(%ecx)",
            "3:",
            "pushl %ebp",
            "23:",
            "movl %esp, %ebp",
            "24:",
            "pushl %ebx",
            "pushl %esi",
            "25:",
            // Five arguments at most; calls find the stack at a multiple of 16.
            "subl $32, %esp",
            "movl %ecx, %ebx",
            "movl 8(%ebp), %eax",
            "movl %eax, (%esp)",
            "movl 24(%ebp), %eax",
            "movl %eax, 4(%esp)",
            "movl %ebp, 8(%esp)",
            "calll {entered}",
            "movl %eax, %esi",
            "movl 8(%ebp), %eax",
            "movl %eax, (%esp)",
            "movl 12(%ebp), %eax",
            "movl %eax, 4(%esp)",
            "movl 16(%ebp), %eax",
            "movl %eax, 8(%esp)",
            "movl 20(%ebp), %eax",
            "movl %eax, 12(%esp)",
            "movl 24(%ebp), %eax",
            "movl %eax, 16(%esp)",
            "calll *(%ebx)",
            "movl 8(%ebp), %eax",
            "movl %eax, (%esp)",
            "movl %esi, 4(%esp)",
            "calll {returned}",
            "addl $32, %esp",
            "popl %esi",
            "popl %ebx",
            "popl %ebp",
            "26:",
            "retl",
            "27:",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
            ".pushsection .eh_frame,\"a\",@progbits",
            ".p2align 2",
            // The common part: version 1, pointers relative to their places, 4 bytes each; a return address
            // on the stack.
            "30: .long 32f - 31f",
            "31: .long 0",
            ".byte 1",
            ".asciz \"zR\"",
            ".byte 1, 0x7c, 8, 1, 0x1b", // alignments 1 and -4, the return address's column
            ".byte 0x0c, 4, 4, 0x88, 1", // CFA = esp + 4, return address at CFA - 4
            ".p2align 2",
            "32: .long 34f - 33f",
            "33: .long 33b - 30b",
            ".long 20b - .",
            ".long 27b - 20b",
            ".byte 0",
            ".byte 0x04; .long 21b - 20b", // go on to there
            ".byte 0x0e, 8", // CFA = esp + 8
            ".byte 0x04; .long 22b - 21b",
            ".byte 0x0e, 4", // CFA = esp + 4
            ".byte 0x04; .long 23b - 22b",
            ".byte 0x0e, 8, 0x85, 2", // CFA = esp + 8, ebp at CFA - 8
            ".byte 0x04; .long 24b - 23b",
            ".byte 0x0d, 5", // CFA = ebp + 8
            ".byte 0x04; .long 25b - 24b",
            ".byte 0x83, 3, 0x86, 4", // ebx, esi
            ".byte 0x04; .long 26b - 25b",
            ".byte 0x0c, 4, 4, 0xc5, 0xc3, 0xc6", // as at the start
            ".p2align 2",
            "34:",
            ".popsection",
            slots = sym crate::slots::SLOTS,
            slot = const $slot,
            entered = sym crate::code::entered,
            returned = sym crate::code::returned,
            options(att_syntax),
        );
    };
}

trampoline!("loopbox_poll_0", 0);
trampoline!("loopbox_poll_1", 1);
trampoline!("loopbox_poll_2", 2);
trampoline!("loopbox_poll_3", 3);
