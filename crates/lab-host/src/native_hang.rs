//! The native half of `scenario.NativeHang`: a main thread that hangs in native code, with frames like those
//! in an app's libraries.
//!
//! Rust code does not keep frame pointers on every architecture. So two functions in assembly keep them. Java
//! calls the first one, `native_hang_entry`, which calls Rust code. The Rust code calls the function that
//! hangs through the second one, `native_hang_frame`.

use jni::objects::JClass;
use jni::sys::jint;
use jni::{EnvUnowned, jni_str};
use std::arch::{asm, naked_asm};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// A word that never changes, which the compiler cannot know. Its value is an argument of the futex call, by
/// which a test recognises that call.
static FOREVER: AtomicU32 = AtomicU32::new(SAME);
const SAME: u32 = 0x4C_4258;

/// Ways to hang, by number; `scenario.NativeHang` has the same list.
const WAYS: [extern "C" fn(); 4] = [native_hang_spin, native_hang_futex, native_hang_read, native_hang_sleep];

/// Prints that the hang comes next. Does not use `println!`, because its frames are not part of the scenario.
fn announce() {
    const LINE: &[u8] = b"NATIVE hangs\n";
    // SAFETY: the line lives across the call.
    unsafe { libc::write(libc::STDOUT_FILENO, LINE.as_ptr().cast(), LINE.len()) };
}

/// Spins for ever. It is a jump in assembly: in a Rust loop without optimisation even a load from an atomic
/// word would be a call.
#[inline(never)]
extern "C" fn native_hang_spin() {
    announce();
    // SAFETY: a jump to itself.
    unsafe {
        #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
        asm!("2: jmp 2b", options(nomem, nostack));
        #[cfg(any(target_arch = "aarch64", target_arch = "arm"))]
        asm!("2: b 2b", options(nomem, nostack));
    }
}

/// Waits for ever for a word to change.
#[inline(never)]
extern "C" fn native_hang_futex() {
    announce();
    while FOREVER.load(Ordering::Relaxed) == SAME {
        // SAFETY: the word is static; no time-out.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                FOREVER.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                SAME,
                ptr::null::<libc::timespec>(),
            )
        };
    }
}

/// Reads from a pipe without a writer.
#[inline(never)]
extern "C" fn native_hang_read() {
    let mut ends = [0; 2];
    // SAFETY: room for both ends.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    announce();
    let mut byte = 0_u8;
    // SAFETY: room for one byte.
    while unsafe { libc::read(ends[0], (&raw mut byte).cast(), 1) } <= 0 {}
}

/// Sleeps repeatedly, an hour each time.
#[inline(never)]
extern "C" fn native_hang_sleep() {
    announce();
    while FOREVER.load(Ordering::Relaxed) == SAME {
        let hour = libc::timespec { tv_sec: 3_600, tv_nsec: 0 };
        // SAFETY: one timespec, and no room for what is left of it.
        unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const hour, ptr::null_mut()) };
    }
}

/// Calls the function that hangs, through [`native_hang_frame`]. [`native_hang_entry`] calls this one with
/// Java's arguments.
#[inline(never)]
extern "system" fn native_hang_in_way(_: EnvUnowned<'_>, _: JClass<'_>, way: jint) {
    let way = WAYS[usize::try_from(way).expect("a way")];
    native_hang_frame(way);
    // Not the last thing that it does: a call there may be a jump.
    announce();
}

/// Calls a function, with a frame record on the stack.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn native_hang_frame(_function: extern "C" fn()) {
    naked_asm!("push rbp", "mov rbp, rsp", "call rdi", "pop rbp", "ret")
}

/// The native method that Java calls. It calls [`native_hang_in_way`] with a frame record on the stack.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "system" fn native_hang_entry(_: EnvUnowned<'_>, _: JClass<'_>, _way: jint) {
    naked_asm!("push rbp", "mov rbp, rsp", "call {hang}", "pop rbp", "ret", hang = sym native_hang_in_way)
}

/// Calls a function with a frame record on the stack.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
extern "C" fn native_hang_frame(_function: extern "C" fn()) {
    naked_asm!("stp x29, x30, [sp, #-16]!", "mov x29, sp", "blr x0", "ldp x29, x30, [sp], #16", "ret")
}

/// The native method that Java calls. It calls [`native_hang_in_way`] with a frame record on the stack.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
extern "system" fn native_hang_entry(_: EnvUnowned<'_>, _: JClass<'_>, _way: jint) {
    naked_asm!(
        "stp x29, x30, [sp, #-16]!",
        "mov x29, sp",
        "bl {hang}",
        "ldp x29, x30, [sp], #16",
        "ret",
        hang = sym native_hang_in_way
    )
}

/// Calls a function with a frame record on the stack.
#[cfg(target_arch = "x86")]
#[unsafe(naked)]
extern "C" fn native_hang_frame(_function: extern "C" fn()) {
    naked_asm!("push ebp", "mov ebp, esp", "sub esp, 8", "call dword ptr [ebp + 8]", "leave", "ret")
}

/// The native method that Java calls. It calls [`native_hang_in_way`] with a copy of its arguments.
#[cfg(target_arch = "x86")]
#[unsafe(naked)]
extern "system" fn native_hang_entry(_: EnvUnowned<'_>, _: JClass<'_>, _way: jint) {
    naked_asm!(
        "push ebp",
        "mov ebp, esp",
        "sub esp, 12",
        "push dword ptr [ebp + 16]",
        "push dword ptr [ebp + 12]",
        "push dword ptr [ebp + 8]",
        "call {hang}",
        "leave",
        "ret",
        hang = sym native_hang_in_way
    )
}

/// Calls a function with a frame record on the stack.
#[cfg(target_arch = "arm")]
#[unsafe(naked)]
extern "C" fn native_hang_frame(_function: extern "C" fn()) {
    naked_asm!("push {{r11, lr}}", "mov r11, sp", "blx r0", "pop {{r11, pc}}")
}

/// The native method that Java calls. It calls [`native_hang_in_way`] with a frame record on the stack.
#[cfg(target_arch = "arm")]
#[unsafe(naked)]
extern "system" fn native_hang_entry(_: EnvUnowned<'_>, _: JClass<'_>, _way: jint) {
    naked_asm!("push {{r11, lr}}", "mov r11, sp", "bl {hang}", "pop {{r11, pc}}", hang = sym native_hang_in_way)
}

/// Registers the native of `scenario.NativeHang`, if the app has that class.
pub(crate) fn register(env: &mut jni::Env<'_>) -> anyhow::Result<()> {
    let class = jni_str!("scenario/NativeHang");
    if env.find_class(class).is_err() {
        env.exception_clear();
        return Ok(());
    }
    let methods = [(jni_str!("hang"), jni_str!("(I)V"), native_hang_entry as *mut c_void)];
    crate::registration::register_class(env, class, &methods)
}
