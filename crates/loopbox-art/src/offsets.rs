//! The layout tables of `offsets/*.toml`, as compiled in for this architecture.
//!
//! No row is trusted by itself: `discover` finds the same numbers in the running process, and a row counts
//! only when it agrees.

/// Signature of `ThreadList::SuspendThreadByThreadId`, from its mangled name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuspendAbi {
    /// `(uint32_t, bool debug, bool* timed_out)`: 8.0.
    BoolBool,
    /// `(uint32_t, SuspendReason, bool* timed_out)`: 8.1 to 14.
    ReasonBool,
    /// `(uint32_t, SuspendReason, int attempt_of_4)`: 14 QPR3 on.
    ReasonAttempt,
}

/// How an `ArtMethod` leads to its code item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// The `ArtMethod` has a `u32` at this offset: where the code item is, counted from the start of the dex
    /// data.
    Offset(usize),
    /// The `ArtMethod` has a pointer to the code item at this offset; its bit 0 is set for compact dex.
    Pointer(usize),
}

/// The byte offsets that reading names needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameLayout {
    pub dex_method_index: usize,
    pub code: Code,
    pub method_data: usize,
    pub class_dex_cache: usize,
    pub class_access_flags: usize,
    pub class_def: usize,
    pub dex_cache_dex_file: usize,
    pub begin: usize,
    pub data: usize,
    pub string_ids: usize,
    pub type_ids: usize,
    pub proto_ids: usize,
    pub method_ids: usize,
    pub class_defs: usize,
}

/// One known build.
#[derive(Debug)]
pub(crate) struct Row {
    pub id: &'static str,
    pub generation: &'static str,
    pub api_levels: &'static [u32],
    /// Whether this is a device's build (libc++), not a Debian one.
    pub device: bool,
    pub suspend: SuspendAbi,
    pub thread_list: usize,
    pub java_vm: usize,
    pub list: usize,
    pub thin_lock_id: usize,
    pub jni_env: usize,
    pub visitor_size: usize,
    /// One of [`NAME_LAYOUTS`].
    pub names: &'static NameLayout,
}

include!(concat!(env!("OUT_DIR"), "/offsets.rs"));
