//! The trampolines of 32-bit arm. The arguments: the environment in r0, the queue object (before API 23 its
//! class) in r1, `mPtr` in r2 and r3, and the time-out on the stack.
//!
//! An unwinder of this machine has one rule for a whole range of code, so a trampoline has two ranges: one in
//! which nothing is on the stack yet, and one after it has made its frame. The entries of the ranges are
//! written by hand: the assembler's directives name a function of the C++ runtime, which an app's library
//! must not import.

use std::arch::global_asm;

macro_rules! trampoline {
    ($name:literal, $slot:literal) => {
        global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",%progbits"),
            ".arm",
            ".p2align 2",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",%function"),
            concat!($name, ":"),
            "ldr r12, 40f",
            "21: ldr r12, [pc, r12]",
            "cmp r12, r2",
            "ldreq r12, 41f",
            "22: ldreq r12, [pc, r12]",
            "cmpeq r12, r3",
            concat!("beq .Lframe_of_", $name),
            "ldr r12, 42f",
            "23: ldr pc, [pc, r12]",
            concat!(".Lframe_of_", $name, ":"),
            "push {{r4-r11, lr}}",
            // The caller's frame pointer and the return address are where it points.
            "add r11, sp, #28",
            // Calls find the stack at a multiple of 8.
            "sub sp, sp, #12",
            "mov r4, r0",
            "mov r5, r1",
            "mov r6, r2",
            "mov r7, r3",
            "ldr r8, [r11, #8]",
            "mov r1, r8",
            "mov r2, r11",
            "bl {entered}",
            "mov r9, r0",
            "str r8, [sp]",
            "mov r0, r4",
            "mov r1, r5",
            "mov r2, r6",
            "mov r3, r7",
            "ldr r12, 43f",
            "24: ldr r12, [pc, r12]",
            "blx r12", // Thumb code or not
            "mov r0, r4",
            "mov r1, r9",
            "bl {returned}",
            "add sp, sp, #12",
            "pop {{r4-r11, pc}}",
            "40: .long {slots} + {slot} * 16 + 8 - (21b + 8)",
            "41: .long {slots} + {slot} * 16 + 12 - (22b + 8)",
            "42: .long {slots} + {slot} * 16 - (23b + 8)",
            "43: .long {slots} + {slot} * 16 - (24b + 8)",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
            // Code and what to do, from the highest byte: the rules' first kind, then up to three of them.
            concat!(".pushsection .ARM.exidx.text.", $name, ",\"ao\",%0x70000001,", $name),
            ".p2align 2",
            concat!(".long ", $name, "(prel31)"),
            ".long 0x80b0b0b0", // all as it is, the return address in lr
            concat!(".long .Lframe_of_", $name, "(prel31)"),
            ".long 0x809b46af", // stack = r11, stack -= 28, pop r4 to r11 and lr
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
