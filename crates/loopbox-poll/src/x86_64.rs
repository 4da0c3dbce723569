//! rdi: environment, rsi: queue object, or its class before API 23; rdx: `mPtr`, ecx: time-out.

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
            ".cfi_startproc",
            "endbr64",
            "cmp rdx, qword ptr [rip + {slots} + {slot} * 16 + 8]",
            "je 2f",
            "jmp qword ptr [rip + {slots} + {slot} * 16]",
            "2:",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "push rbx",
            ".cfi_offset rbx, -24",
            "push r12",
            ".cfi_offset r12, -32",
            "push r13",
            ".cfi_offset r13, -40",
            "push r14",
            ".cfi_offset r14, -48",
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
            ".cfi_def_cfa rsp, 8",
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
