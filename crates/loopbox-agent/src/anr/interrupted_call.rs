//! Which system call a signal interrupted, from the registers that its handler found.
//!
//! `/proc/PID/syscall` shows it too, but only a debuggable process may read that file. The kernel does one of
//! two things with the call, and each leaves the call's number and arguments elsewhere:
//!
//! * The kernel starts the call again after the handler. Then the program counter is back at the call's
//!   instruction, and all registers are as they were.
//! * The kernel ends the call with EINTR. Then arm and arm64 still have the number, and all arguments but the
//!   first. x86 and x86-64 still have all arguments, but not the number. There the number is read from the
//!   instruction before the call: in a C library that instruction loads the number.

use super::native_stack::Registers;
use loopbox_art::native::code_at;
use loopbox_format::model::{SystemCall, SystemCallSource};

/// The instruction of a system call. On 32-bit arm it is the ARM encoding, which the C library uses.
#[cfg(target_arch = "aarch64")]
const INSTRUCTION: [u8; 4] = [0x01, 0x00, 0x00, 0xD4];
#[cfg(target_arch = "arm")]
const INSTRUCTION: [u8; 4] = [0x00, 0x00, 0x00, 0xEF];
#[cfg(target_arch = "x86_64")]
const INSTRUCTION: [u8; 2] = [0x0F, 0x05];
#[cfg(target_arch = "x86")]
const INSTRUCTION: [u8; 2] = [0xCD, 0x80];

/// Whether the call's number has its own register. Otherwise the result overwrites the number, and the first
/// argument stays.
const KEEPS_NUMBER: bool = cfg!(any(target_arch = "aarch64", target_arch = "arm"));
const INTERRUPTED: usize = (libc::EINTR as usize).wrapping_neg();

/// The system call that the signal has interrupted; its descriptor is left empty. `None` when the thread was
/// in no call, or its code cannot be read (Android 10 maps system libraries on arm64 as execute-only).
pub(crate) fn interrupted_call(registers: &Registers) -> Option<SystemCall> {
    let is_call = |at: usize| code_at(at) == Some(INSTRUCTION);
    let starts_again = is_call(registers.pc);
    let has_ended =
        || registers.result == INTERRUPTED && is_call(registers.pc.wrapping_sub(INSTRUCTION.len()));
    if !starts_again && !has_ended() {
        return None;
    }
    let mut arguments: Vec<_> = registers.arguments.iter().map(|value| Some(*value as u64)).collect();
    if let Some(first) = arguments.first_mut().filter(|_| KEEPS_NUMBER && !starts_again) {
        *first = None;
    }
    let number = if KEEPS_NUMBER || starts_again {
        u32::try_from(registers.call).ok()
    } else {
        number_before(registers.pc.wrapping_sub(INSTRUCTION.len()))
    };
    Some(SystemCall { number, arguments, descriptor: String::new(), source: SystemCallSource::Registers })
}

/// The number that is loaded by the instruction before the one at `call`: `mov $number, %eax` on x86.
fn number_before(call: usize) -> Option<u32> {
    match code_at::<5>(call.wrapping_sub(5)) {
        Some([0xB8, number @ ..]) => Some(u32::from_le_bytes(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: usize = 8;

    fn interrupted(code: &[u8; 16], offset: usize, result: usize) -> Option<SystemCall> {
        let pc = code.as_ptr() as usize + offset;
        interrupted_call(&Registers {
            pc,
            call: 98,
            result,
            arguments: [1, 2, 3, 4, 5, 6],
            ..Registers::default()
        })
    }

    fn code_with(before: [u8; 5]) -> [u8; 16] {
        let mut code = [0x55; 16];
        code[CALL - before.len()..CALL].copy_from_slice(&before);
        code[CALL..CALL + INSTRUCTION.len()].copy_from_slice(&INSTRUCTION);
        code
    }

    #[test]
    fn a_call_is_known_by_its_instruction() {
        let code = code_with([0x55; 5]);
        let at =
            |offset, result| interrupted(&code, offset, result).map(|call| (call.number, call.arguments));
        let all: Vec<_> = (1..=6).map(Some).collect();
        assert_eq!(at(CALL, 1), Some((Some(98), all.clone())), "to be started again");
        let ended =
            if KEEPS_NUMBER { (Some(98), [vec![None], all[1..].to_vec()].concat()) } else { (None, all) };
        let after = CALL + INSTRUCTION.len();
        assert_eq!(at(after, INTERRUPTED), Some(ended));
        assert_eq!((at(after, 0), at(0, INTERRUPTED)), (None, None));
        assert_eq!(interrupted_call(&Registers { pc: 8, result: INTERRUPTED, ..Registers::default() }), None);
    }

    #[test]
    fn the_number_of_an_ended_call_is_in_a_register_or_in_the_code_before_it() {
        let code = code_with([0xB8, 16, 1, 0, 0]);
        let number = interrupted(&code, CALL + INSTRUCTION.len(), INTERRUPTED).and_then(|call| call.number);
        assert_eq!(number, Some(if KEEPS_NUMBER { 98 } else { 272 }));
    }
}
