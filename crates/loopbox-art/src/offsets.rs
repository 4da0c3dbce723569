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
    /// `(uint32_t, SuspendReason, int attempt_of_4)`: since 14 QPR3.
    ReasonAttempt,
}

/// How an `ArtMethod` leads to its code item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// The `ArtMethod` has a `u32` at this offset: the position of the code item, counted from the start of
    /// the dex data.
    Offset(u8),
    /// The `ArtMethod` has a pointer to the code item at this offset; its bit 0 is set for compact dex.
    Pointer(u8),
}

/// The byte offsets by which names are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameLayout {
    pub dex_method_index: u8,
    pub code: Code,
    pub method_data: u8,
    pub class_dex_cache: u8,
    pub class_access_flags: u8,
    pub class_def: u8,
    pub dex_cache_dex_file: u8,
    pub begin: u8,
    pub data: u8,
    pub string_ids: u8,
    pub type_ids: u8,
    pub proto_ids: u8,
    pub method_ids: u8,
    pub class_defs: u8,
}

/// A text within the table, filled up with zeros. A reference to a text elsewhere would cost 24 bytes of
/// relocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    /// Makes a text of a table. The table does not compile when the text is too long.
    pub(crate) const fn new(text: &str) -> Self {
        let mut bytes = [0; N];
        bytes.split_at_mut(text.len()).0.copy_from_slice(text.as_bytes());
        Self(bytes)
    }

    pub(crate) fn as_str(&self) -> &str {
        let text = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        str::from_utf8(text).unwrap_or_default()
    }
}

/// One known build of ART. The fields have small types, because there are many rows.
#[derive(Debug)]
pub(crate) struct Row {
    pub id: Text<20>,
    pub generation: Text<4>,
    /// The first and the last level.
    pub api_levels: (u8, u8),
    /// Whether this is a device's build (libc++), not a Debian one.
    pub device: bool,
    pub suspend: SuspendAbi,
    pub thread_list: u16,
    pub java_vm: u16,
    pub list: u16,
    pub thin_lock_id: u16,
    pub jni_env: u16,
    pub visitor_size: u16,
    /// The row's index in [`NAME_LAYOUTS`].
    pub names: u8,
}

impl Row {
    pub(crate) fn is_of_level(&self, level: u32) -> bool {
        (u32::from(self.api_levels.0)..=u32::from(self.api_levels.1)).contains(&level)
    }

    pub(crate) fn layout(&self) -> Option<&'static NameLayout> {
        NAME_LAYOUTS.get(usize::from(self.names))
    }
}

include!(concat!(env!("OUT_DIR"), "/offsets.rs"));
