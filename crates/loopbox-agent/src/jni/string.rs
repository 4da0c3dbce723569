//! Java strings on the main thread: bounded, without the heap.

use jni::sys;

/// At most `UNITS` UTF-16 units of a string are read: of a longer string, `HEAD` units from its start and
/// `TAIL` from its end.
const HEAD: usize = 384;
const TAIL: usize = 64;
const UNITS: usize = HEAD + TAIL;

/// Text of a Java string, on the stack. A string of more than [`UNITS`] units has a gap, marked by `…`.
pub(crate) struct Text {
    len: usize,
    bytes: [u8; UNITS * 3 + 3],
}

impl Text {
    /// Reads `string`; null is empty.
    ///
    /// # Safety
    /// `env` is the calling thread's environment without a pending exception, `string` null or a local
    /// reference to a `java.lang.String`.
    pub(crate) unsafe fn read(env: *mut sys::JNIEnv, string: sys::jstring) -> Self {
        let mut text = Self { len: 0, bytes: [0; UNITS * 3 + 3] };
        if string.is_null() {
            return text;
        }
        let mut units = [0_u16; UNITS];
        // SAFETY: by the caller's promise; both regions lie within the string and within `units`.
        unsafe {
            let jni = &**env;
            let len = usize::try_from((jni.v1_1.GetStringLength)(env, string)).unwrap_or(0);
            let mut add = |text: &mut Self, start: usize, count: usize| {
                let (at, n) = (start as sys::jsize, count as sys::jsize);
                (jni.v1_2.GetStringRegion)(env, string, at, n, units.as_mut_ptr());
                text.push_units(units.get(..count).unwrap_or_default());
            };
            if len <= UNITS {
                add(&mut text, 0, len);
            } else {
                add(&mut text, 0, HEAD);
                text.push('…');
                add(&mut text, len - TAIL, TAIL);
            }
        }
        text
    }

    pub(crate) fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn push_units(&mut self, units: &[u16]) {
        for unit in char::decode_utf16(units.iter().copied()) {
            self.push(unit.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }

    fn push(&mut self, c: char) {
        let mut utf8 = [0; 4];
        let utf8 = c.encode_utf8(&mut utf8).as_bytes();
        if let Some(room) = self.bytes.get_mut(self.len..self.len + utf8.len()) {
            room.copy_from_slice(utf8);
            self.len += utf8.len();
        }
    }
}
