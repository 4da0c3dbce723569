//! The trampolines of arm64. The arguments: the environment in x0, the queue object (before API 23 its class)
//! in x1, `mPtr` in x2, and the time-out in w3.
//!
//! The unwind information is written by hand: the compiler's directives produce it only where the surrounding
//! crates have some, and in an app they have none.

use std::arch::global_asm;

macro_rules! trampoline {
    ($name:literal, $slot:literal) => {
        global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            ".p2align 2",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            "20:",
            "hint #34", // bti c: it is called by its address
            "adrp x16, {slots} + {slot} * 16",
            "add x16, x16, :lo12:{slots} + {slot} * 16",
            "ldr x17, [x16, #8]",
            "cmp x2, x17",
            "b.eq 2f",
            "ldr x16, [x16]",
            "br x16",
            "2:",
            "stp x29, x30, [sp, #-48]!",
            "21:",
            "mov x29, sp",
            "22:",
            "stp x19, x20, [sp, #16]",
            "stp x21, x22, [sp, #32]",
            "23:",
            "mov x19, x0",
            "mov x20, x1",
            "mov x21, x2",
            "mov w22, w3",
            "mov w1, w3",
            "mov x2, x29",
            "bl {entered}",
            // w22 has the time-out until here, and what `entered` said from here on.
            "mov w3, w22",
            "mov w22, w0",
            "mov x0, x19",
            "mov x1, x20",
            "mov x2, x21",
            "adrp x16, {slots} + {slot} * 16",
            "ldr x16, [x16, :lo12:{slots} + {slot} * 16]",
            "blr x16",
            "mov x0, x19",
            "mov w1, w22",
            "bl {returned}",
            "ldp x21, x22, [sp, #32]",
            "ldp x19, x20, [sp, #16]",
            "ldp x29, x30, [sp], #48",
            "24:",
            "ret",
            "25:",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
            ".pushsection .eh_frame,\"a\",%progbits",
            ".p2align 3",
            // The common part: version 1, pointers relative to their places, 4 bytes each.
            "30: .word 32f - 31f",
            "31: .word 0",
            ".byte 1",
            ".asciz \"zR\"",
            ".byte 1, 0x78, 30, 1, 0x1b", // alignments 1 and -8, the return address's column
            ".byte 0x0c, 31, 0", // CFA = sp
            ".p2align 3",
            "32: .word 34f - 33f",
            "33: .word 33b - 30b",
            ".word 20b - .",
            ".word 25b - 20b",
            ".byte 0",
            ".byte 0x04",
            ".word 21b - 20b", // go on to there
            ".byte 0x0e, 48, 0x9d, 6, 0x9e, 5", // CFA = sp + 48, x29 at CFA - 48, x30 at CFA - 40
            ".byte 0x04",
            ".word 22b - 21b",
            ".byte 0x0d, 29", // CFA = x29 + 48
            ".byte 0x04",
            ".word 23b - 22b",
            ".byte 0x93, 4, 0x94, 3, 0x95, 2, 0x96, 1", // x19 to x22
            ".byte 0x04",
            ".word 24b - 23b",
            ".byte 0x0c, 31, 0, 0xdd, 0xde, 0xd3, 0xd4, 0xd5, 0xd6", // as at the start
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
