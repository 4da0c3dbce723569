//! Boots a real Android Runtime in this process and runs a Java class on its main thread.
//!
//! The Java side finds the parts of a device that the main Looper needs: real libcore, real `Looper`,
//! `Handler`, `MessageQueue`, `Choreographer` with the natives registered here. The app itself loads its
//! native libraries.
//!
//! Exit codes: 0 `main` returned, 1 `main` threw, 64 wrong usage, 65 the testbed cannot be used, 66 class not
//! found, 70 the VM did not boot.

mod args;
mod crashes;
mod exhausted;
mod heap;
mod native_hang;
mod natives;
mod otherpoll;
mod othersdk;
mod process_name;
mod refused;
mod registration;
mod testbed;
mod vm;
mod waits;

use std::io::Write as _;

use anyhow::{Context, Result};
use args::Args;
use jni::objects::{JObject, JObjectArray, JString};
use jni::strings::JNIString;
use jni::{Env, JValue, jni_sig, jni_str};
use testbed::Testbed;

/// The VM option in a testbed's description that selects API 37's variant of the queue with a lock.
const LEGACY_QUEUE: &str = "-Dloopbox.queue=legacy";

const THREW: i32 = 1;
const USAGE: i32 = 64;
const NO_TESTBED: i32 = 65;
const NO_CLASS: i32 = 66;
const NO_VM: i32 = 70;

fn main() {
    // As every app finds it. A shell that starts a command in the background has the signal ignored.
    // SAFETY: no handler is set, and no other thread is there yet.
    unsafe { libc::signal(libc::SIGQUIT, libc::SIG_DFL) };
    let code = match run() {
        Ok(()) => 0,
        Err((code, error)) => {
            eprintln!("lab-host: {error:#}");
            code
        }
    };
    // Best effort: who reads it may be gone.
    let _ = std::io::stdout().flush();
    // Not a return: the VM is never destroyed, because that would wait for the threads under test. Nor what
    // exit handlers destroy, because those threads use it.
    // SAFETY: ends the process; nothing has to be dropped first.
    unsafe { libc::_exit(code) }
}

fn run() -> Result<(), (i32, anyhow::Error)> {
    let args = Args::parse(std::env::args().skip(1)).map_err(|error| (USAGE, error.context(args::USAGE)))?;
    let testbed = Testbed::read(&args.testbed).map_err(|error| (NO_TESTBED, error))?;
    testbed.enter().map_err(|error| (NO_TESTBED, error))?;
    refused::apply().map_err(|error| (USAGE, error))?;
    if let Some(name) = &args.process_name {
        process_name::set(name).map_err(|error| (USAGE, error))?;
    }
    let vm = vm::boot(&testbed, &args).map_err(|error| (NO_VM, error))?;
    vm.attach_current_thread(|env| -> Result<_, Failure> { Ok(run_main(env, &testbed, &args)) })
        .map_err(|Failure(error)| (NO_VM, error))?
}

/// The error type that `attach_current_thread` needs.
struct Failure(anyhow::Error);

impl From<jni::errors::Error> for Failure {
    fn from(error: jni::errors::Error) -> Self {
        Self(error.into())
    }
}

fn run_main(env: &mut Env<'_>, testbed: &Testbed, args: &Args) -> Result<(), (i32, anyhow::Error)> {
    let prepared = natives::register(env)
        .and_then(|()| othersdk::register(env))
        .and_then(|()| otherpoll::register(env))
        .and_then(|()| crashes::register(env))
        .and_then(|()| heap::register(env))
        .and_then(|()| exhausted::register(env))
        .and_then(|()| waits::register(env))
        .and_then(|()| native_hang::register(env))
        .and_then(|()| choose_queue(env, testbed))
        .and_then(|()| set_target_sdk(env, args.sdk.unwrap_or(testbed.api_level)));
    prepared.map_err(|error| (NO_VM, described(env, error)))?;
    let class = env
        .find_class(JNIString::from(args.main.as_str()))
        .with_context(|| format!("cannot find {} in {}", args.main, args.app));
    let class = match class {
        Ok(class) => class,
        Err(error) => return Err((NO_CLASS, described(env, error))),
    };
    let arguments = strings(env, &args.rest).map_err(|error| (NO_VM, error))?;
    let outcome = env
        .call_static_method(
            class,
            jni_str!("main"),
            jni_sig!((rest: [JString]) -> ()),
            &[JValue::Object(&arguments)],
        )
        .with_context(|| format!("{}.main", args.main));
    match outcome {
        Ok(_) => Ok(()),
        Err(error) => Err((THREW, described(env, error))),
    }
}

/// Returns `error` unchanged. Before that, prints the pending Java exception, if there is one, and clears it.
fn described(env: &mut Env<'_>, error: anyhow::Error) -> anyhow::Error {
    if env.exception_check() {
        env.exception_describe();
        env.exception_clear();
    }
    error
}

fn strings<'local>(env: &mut Env<'local>, all: &[String]) -> Result<JObject<'local>> {
    let array = JObjectArray::<JString<'_>>::new(env, all.len(), JString::null())?;
    for (index, text) in all.iter().enumerate() {
        let text = env.new_string(text)?;
        array.set_element(env, index, &text)?;
    }
    Ok(array.into())
}

/// If the testbed wants that, selects the queue with a lock, as `ActivityThread.main` of API 37 does by its
/// argument `--use-deliqueue=BOOL`. To be called before the first Looper is made.
fn choose_queue(env: &mut Env<'_>, testbed: &Testbed) -> Result<()> {
    if testbed.api_level < 37 || !testbed.vm_options.iter().any(|option| option == LEGACY_QUEUE) {
        return Ok(());
    }
    let class = env.find_class(jni_str!("android/os/MessageQueue"))?;
    let legacy = [JValue::Bool(false)];
    env.call_static_method(class, jni_str!("setUseDeliQueue"), jni_sig!("(Z)V"), &legacy)?;
    Ok(())
}

/// Sets the target level, as the system does before an app's code runs; hidden-API checks depend on it.
fn set_target_sdk(env: &mut Env<'_>, sdk: u32) -> Result<()> {
    let class = env.find_class(jni_str!("dalvik/system/VMRuntime"))?;
    let runtime = env
        .call_static_method(&class, jni_str!("getRuntime"), jni_sig!(() -> dalvik.system.VMRuntime), &[])?
        .l()?;
    env.call_method(
        &runtime,
        jni_str!("setTargetSdkVersion"),
        jni_sig!((sdk: jint) -> ()),
        &[JValue::Int(sdk as i32)],
    )?;
    Ok(())
}
