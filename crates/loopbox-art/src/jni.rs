//! The two JNI pointers that everything here starts from, as types that only unsafe code can create.

use std::ffi::c_void;

/// This process's `JavaVM*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JavaVm(*mut c_void);

impl JavaVm {
    /// Takes the pointer.
    ///
    /// # Safety
    /// `vm` is the `JavaVM*` of this process (`JNI_OnLoad`, `GetJavaVM`), or it points to a structure that
    /// begins like a `JavaVM` and stays valid.
    pub const unsafe fn from_raw(vm: *mut c_void) -> Self {
        Self(vm)
    }

    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }
}

/// The calling thread's `JNIEnv*`. It cannot leave the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JniEnv(*mut c_void);

impl JniEnv {
    /// Takes the pointer.
    ///
    /// # Safety
    /// It is the `JNIEnv*` of the calling thread, which stays attached for as long as the value is used.
    pub const unsafe fn from_raw(env: *mut c_void) -> Self {
        Self(env)
    }

    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }
}
