//! Loads libart and boots the VM in this process.

use crate::args::Args;
use crate::testbed::Testbed;
use anyhow::{Context, Result, bail};
use jni::sys;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

type CreateVm = unsafe extern "C" fn(*mut *mut sys::JavaVM, *mut *mut c_void, *mut c_void) -> sys::jint;

/// Boots the VM on the calling thread, which becomes its main thread.
pub(crate) fn boot(testbed: &Testbed, args: &Args) -> Result<jni::JavaVM> {
    let mut libart = ptr::null_mut();
    for library in testbed.libraries() {
        libart = open(library)?;
    }
    // SAFETY: `libart` is the handle that dlopen just gave for libart, the last of the libraries.
    let create = unsafe { libc::dlsym(libart, c"JNI_CreateJavaVM".as_ptr()) };
    if create.is_null() {
        bail!("libart has no JNI_CreateJavaVM: {}", dl_error());
    }
    // SAFETY: the JNI specification gives the function of this name this signature.
    let create = unsafe { std::mem::transmute::<*mut c_void, CreateVm>(create) };

    let options = options(testbed, args)?;
    let mut raw_options: Vec<sys::JavaVMOption> = options
        .iter()
        .map(|text| sys::JavaVMOption { optionString: text.as_ptr().cast_mut(), extraInfo: ptr::null_mut() })
        .collect();
    let mut init = sys::JavaVMInitArgs {
        // The newest that ART accepts.
        version: sys::JNI_VERSION_1_6,
        nOptions: raw_options.len() as sys::jint,
        options: raw_options.as_mut_ptr(),
        ignoreUnrecognized: sys::JNI_FALSE,
    };
    let (mut vm, mut env) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: both results and the arguments with all their strings live across the call; no VM exists yet.
    let code = unsafe { create(&raw mut vm, &raw mut env, (&raw mut init).cast()) };
    if code != sys::JNI_OK || vm.is_null() {
        bail!("JNI_CreateJavaVM failed with {code}");
    }
    // SAFETY: a successful JNI_CreateJavaVM stored a valid JavaVM, which is never destroyed.
    Ok(unsafe { jni::JavaVM::from_raw(vm) })
}

fn options(testbed: &Testbed, args: &Args) -> Result<Vec<CString>> {
    let with = |prefix: &str, value: &OsStr| [prefix.as_bytes(), value.as_bytes()].concat();
    let boot = testbed.boot_class_path(args.hidden_api)?;
    let mut all = vec![
        with("-Xbootclasspath:", &boot),
        with("-Xbootclasspath-locations:", &boot),
        with("-Djava.class.path=", args.app.as_ref()),
    ];
    if args.hidden_api {
        all.push(b"-Xhidden-api-policy:enabled".to_vec());
    }
    let sdk = format!("-Dloopbox.sdk={}", args.sdk.unwrap_or(testbed.api_level));
    let of_testbed = testbed.vm_options.iter().filter(|option| !option.starts_with("-Dloopbox.sdk="));
    all.extend(of_testbed.chain(&args.vm_options).chain([&sdk]).map(|option| option.clone().into_bytes()));
    all.extend(args.properties.iter().map(|pair| format!("-D{pair}").into_bytes()));
    all.into_iter().map(|option| CString::new(option).context("an option has a NUL byte")).collect()
}

fn open(library: &Path) -> Result<*mut c_void> {
    let name = CString::new(library.as_os_str().as_bytes()).context("a library name has a NUL byte")?;
    const MODE: c_int = libc::RTLD_NOW | libc::RTLD_GLOBAL;
    // SAFETY: `name` is a C string; the testbed's libraries are made to be loaded into such a process.
    let handle = unsafe { libc::dlopen(name.as_ptr(), MODE) };
    if handle.is_null() {
        bail!("cannot load {}: {}", library.display(), dl_error());
    }
    Ok(handle)
}

fn dl_error() -> String {
    // SAFETY: dlerror returns null or a string that is valid until the thread's next dl* call.
    let text: *const c_char = unsafe { libc::dlerror() };
    if text.is_null() {
        return "no reason given".to_owned();
    }
    // SAFETY: as above; it is copied before any other dl* call.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
