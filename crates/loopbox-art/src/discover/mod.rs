//! Finding ART's structures in the running process and checking them before first use.
//!
//! Each step finds an offset by the value stored there, not by what a table says; the table of `offsets/`
//! must then say the same. Reads go through the kernel (`sys::mem`), so that a wrong guess is an error
//! instead of a fault. `docs/sampler.md`, "Self-check", lists the steps.

mod layout;
#[cfg(test)]
mod memory_tests;
mod retry;
mod thread_list;

pub(crate) use layout::{Findings, Match, agreeing, generations};
pub(crate) use retry::until_consistent;

use std::ffi::c_void;

use crate::jni::{JavaVm, JniEnv};
use crate::known::KnownSymbols;
use crate::loaded::build_id_in_memory;
use crate::module::Module;
use crate::off::Off;
use crate::symbols::Symbols;
use crate::sys::dl;
use crate::sys::mem::{self, WORD};

/// A thread, given by its `JNIEnv`. The `JNIEnv` is only read, to identify the thread, and never called
/// through. So it may be another thread's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadEnv {
    env: usize,
    tid: u32,
}

impl ThreadEnv {
    /// Identifies the calling thread.
    pub fn current(env: JniEnv) -> ThreadEnv {
        ThreadEnv { env: env.address(), tid: crate::sys::gettid() }
    }
}

/// A method whose identity and name the caller knows. Walks and names are checked with it.
#[derive(Debug, Clone, Copy)]
pub struct KnownMethod<'a> {
    /// Its `jmethodID`.
    pub id: *mut c_void,
    /// Class with dots.
    pub class: &'a str,
    /// Name.
    pub method: &'a str,
    /// JVM signature.
    pub signature: &'a str,
}

/// The ART module with its functions bound: the part of discovery that needs no particular thread.
///
/// Loading it takes a millisecond up to ART 14. Since ART 15 it unpacks `.gnu_debugdata`, which takes tens of
/// milliseconds: load it on a worker thread and keep it.
pub struct Library {
    pub(crate) module: Module,
    pub(crate) symbols: Symbols,
}

/// The address of `GetEnv`, an entry of the JavaVM's function table. It lies in the module that holds ART.
fn a_function_of(vm: JavaVm) -> Result<usize, Off> {
    if !mem::is_readable() {
        return Err(Off::NoReads);
    }
    // JavaVM -> table of functions -> GetEnv, the seventh word of the invocation interface (jni.h).
    let table = mem::read_word(vm.address()).ok_or(Off::Misuse("vm is no JavaVM"))?;
    mem::read_word(table.wrapping_add(6 * WORD)).ok_or(Off::Misuse("vm is no JavaVM"))
}

/// The build id of the ART module, read from memory. This takes a few microseconds, but waits while another
/// thread loads a library. Meant for the thread that installs the recorder: that thread has just loaded a
/// library, and this load waited in the same way.
pub fn build_id(vm: JavaVm) -> Option<Vec<u8>> {
    let mut notes = dl::notes_at(a_function_of(vm).ok()?).into_iter();
    notes.find_map(|notes| build_id_in_memory(notes.start, notes.len()))
}

/// Whether ART waits long enough in `Thread.getStackTrace` of another thread. ART ends the process if that
/// thread does not stop in time. Up to ART 14 it waits 10 s, which is safe. Since ART 15 it waits 2 to 4 s,
/// and on busy devices a thread may take longer.
///
/// The version shows in the signature of `ThreadList::SuspendThreadByPeer`, which `getStackTrace` calls: up
/// to ART 14 the signature had a `bool* timed_out`.
pub fn get_stack_trace_waits_long_enough(vm: JavaVm) -> bool {
    const WITH_TIMED_OUT: &str = "\
        _ZN3art10ThreadList19SuspendThreadByPeerEP8_jobjectbbPb \
        _ZN3art10ThreadList19SuspendThreadByPeerEP8_jobjectbNS_13SuspendReasonEPb \
        _ZN3art10ThreadList19SuspendThreadByPeerEP8_jobjectNS_13SuspendReasonEPb";
    let names: Vec<&str> = WITH_TIMED_OUT.split(' ').collect();
    let module = a_function_of(vm).and_then(Module::holding);
    module.is_ok_and(|module| module.find_exported(&names).iter().any(Option::is_some))
}

impl Library {
    /// Finds the module that the process's `JavaVM` belongs to and binds its functions.
    ///
    /// `known` is what an earlier process found.
    pub fn load(vm: JavaVm, known: Option<&dyn KnownSymbols>) -> Result<Library, Off> {
        let module = Module::holding(a_function_of(vm)?)?;
        let symbols = Symbols::bind(&module, known)?;
        Ok(Library { module, symbols })
    }
}

/// What was found about one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundThread {
    /// `art::Thread*`.
    pub thread: usize,
    /// Offset of `tls32_.thin_lock_thread_id`; `tls32_.tid` follows it.
    pub thin_lock_id_at: usize,
    /// Offset of `tlsPtr_.jni_env`.
    pub jni_env_at: usize,
    /// The thread's id within ART.
    pub id: u32,
}

/// Finds the `art::Thread` of an environment (steps 2 and 3).
pub(crate) fn thread_of(of: ThreadEnv, vm: usize) -> Result<FoundThread, Off> {
    let env = of.env;
    // JNIEnvExt: the function table, self_, vm_.
    let words: [usize; 3] = mem::read(env).ok_or(Off::Misuse("env is no JNIEnv"))?;
    let thread = words[1];
    if !mem::same(words[2], vm) {
        return Err(Off::UnknownArt("JNIEnvExt::vm_ is not the third word"));
    }
    let mut object = [0usize; 640 / WORD];
    let n = mem::read_words(thread, &mut object);
    let object = object.get(..n).unwrap_or_default();
    let mut places = object.iter().enumerate().skip(96 / WORD).filter(|(_, word)| mem::same(**word, env));
    let jni_env = match (places.next(), places.next()) {
        (Some((at, _)), None) => at,
        (None, _) => return Err(Off::UnknownArt("no word of Thread is its JNIEnv")),
        _ => return Err(Off::UnknownArt("several words of Thread are its JNIEnv")),
    };
    // Only x86 needs tlsPtr_.self and sets it (arch/x86*/thread_x86*.cc, InitCpu). arm and arm64 keep the
    // thread in a register and leave the field null.
    let own = object.get(jni_env + 2).copied();
    let unset = cfg!(any(target_arch = "arm", target_arch = "aarch64")) && own == Some(0);
    if !unset && own.is_none_or(|own| !mem::same(own, thread)) {
        return Err(Off::UnknownArt("Thread::tlsPtr_.self is not two words after jni_env"));
    }
    let numbers: [u32; 5] = mem::read(thread).ok_or(Off::UnknownArt("Thread is not readable"))?;
    // tid is the fourth or the fifth number; the thin-lock id stands before it.
    let pair = |at: usize| (numbers.get(at + 1) == Some(&of.tid)).then_some((at * 4, *numbers.get(at)?));
    let found: Vec<(usize, u32)> = [2, 3].into_iter().filter_map(pair).collect();
    match found.as_slice() {
        [(thin_lock_id_at, id)] if (1..=0xffff).contains(id) => {
            Ok(FoundThread { thread, thin_lock_id_at: *thin_lock_id_at, jni_env_at: jni_env * WORD, id: *id })
        }
        [_] => Err(Off::UnknownArt("no thin-lock id stands before the thread's tid")),
        [] => Err(Off::UnknownArt("the thread's tid is not where it has always been")),
        _ => Err(Off::UnknownArt("the thread's tid is in two places")),
    }
}

/// What was found about the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundRuntime {
    /// `art::ThreadList*`.
    pub thread_list: usize,
    pub java_vm_at: usize,
    pub thread_list_at: usize,
}

/// The offset of `ThreadList::list_`. On every version it follows a bitmap of 65536 thread ids.
pub(crate) const LIST_AT: usize = 65536 / 8;

/// The `art::Thread*` of all threads in the list that discovery found.
pub(crate) fn listed(thread_list: usize, thin_lock_id_at: usize) -> Vec<usize> {
    let list = thread_list.wrapping_add(LIST_AT);
    until_consistent(|| thread_list::threads(list, thin_lock_id_at)).unwrap_or_default()
}

/// Finds the runtime and its thread list (steps 1 and 4). `runtime_instance` is the address of
/// `Runtime::instance_`, if that is exported.
pub(crate) fn runtime_of(
    vm: usize,
    runtime_instance: Option<usize>,
    members: &[FoundThread],
) -> Result<FoundRuntime, Off> {
    // JavaVMExt: the function table, runtime_.
    let runtime = mem::read_word(vm.wrapping_add(WORD)).ok_or(Off::Misuse("vm is no JavaVM"))?;
    if let Some(instance) = runtime_instance
        && mem::read_word(instance) != Some(runtime)
    {
        return Err(Off::UnknownArt("JavaVMExt::runtime_ is not Runtime::instance_"));
    }
    let mut object = [0usize; 2048 / WORD];
    let n = mem::read_words(runtime, &mut object);
    let object = object.get(..n).unwrap_or_default();
    // More than one when something else that knows the JavaVM was allocated right behind the Runtime, whose
    // size is not known: only the one in the Runtime has a thread list before it.
    let places = object.iter().enumerate().skip(200 / WORD).filter(|(_, word)| mem::same(**word, vm));
    let places: Vec<usize> = places.map(|(at, _)| at).collect();
    if places.is_empty() {
        return Err(Off::UnknownArt("no word of Runtime is the JavaVM"));
    }
    let holds_all = |list: usize| {
        let at = members.first().map_or(0, |m| m.thin_lock_id_at);
        let threads = thread_list::threads(list, at)?;
        members.iter().all(|m| threads.iter().any(|t| mem::same(*t, m.thread))).then_some(())
    };
    let slots = places.iter().flat_map(|java_vm| (4..=8).map(move |slots| (*java_vm, slots)));
    let candidates = || -> Vec<FoundRuntime> {
        let found = slots.clone().filter_map(|(java_vm, slots)| {
            let at = java_vm.checked_sub(slots)?;
            let thread_list = *object.get(at)?;
            holds_all(thread_list.checked_add(LIST_AT)?)?;
            Some(FoundRuntime { thread_list, java_vm_at: java_vm * WORD, thread_list_at: at * WORD })
        });
        found.collect()
    };
    let found = until_consistent(|| Some(candidates()).filter(|found| !found.is_empty()));
    match found.as_deref() {
        Some([found]) => Ok(*found),
        None => Err(Off::UnknownArt("no word before java_vm_ is a thread list with our threads in it")),
        Some(_) => Err(Off::UnknownArt("several words before java_vm_ are thread lists")),
    }
}
