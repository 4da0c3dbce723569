//! x0: environment, x1: queue object, or its class before API 23; x2: `mPtr`, w3: time-out.

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
            ".cfi_startproc",
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
            ".cfi_def_cfa_offset 48",
            ".cfi_offset x29, -48",
            ".cfi_offset x30, -40",
            "mov x29, sp",
            ".cfi_def_cfa x29, 48",
            "stp x19, x20, [sp, #16]",
            ".cfi_offset x19, -32",
            ".cfi_offset x20, -24",
            "stp x21, x22, [sp, #32]",
            ".cfi_offset x21, -16",
            ".cfi_offset x22, -8",
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
            ".cfi_restore x21",
            ".cfi_restore x22",
            "ldp x19, x20, [sp, #16]",
            ".cfi_restore x19",
            ".cfi_restore x20",
            "ldp x29, x30, [sp], #48",
            ".cfi_def_cfa sp, 0",
            ".cfi_restore x29",
            ".cfi_restore x30",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
            slots = sym crate::SLOTS,
            slot = const $slot,
            entered = sym crate::entered,
            returned = sym crate::returned,
        );
    };
}

trampoline!("loopbox_poll_0", 0);
trampoline!("loopbox_poll_1", 1);
trampoline!("loopbox_poll_2", 2);
trampoline!("loopbox_poll_3", 3);
