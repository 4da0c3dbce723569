//! The part of the protocol buffers wire format that a trace needs: varints, 64-bit and length-delimited
//! fields.
//!
//! Source: "Encoding", protobuf.dev. A field is `(number << 3 | wire type)` as a varint and its value.

/// A message being written.
#[derive(Debug, Clone, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A field of type int32, int64, uint32, uint64, bool or enum. Negative numbers go in as two's
    /// complement.
    pub(super) fn uint(mut self, field: u32, value: u64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    /// A field of type double.
    pub(super) fn double(mut self, field: u32, value: f64) -> Self {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn delimited(mut self, field: u32, bytes: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// A field of type string.
    pub(super) fn string(self, field: u32, value: &str) -> Self {
        self.delimited(field, value.as_bytes())
    }

    /// A field that is a message itself.
    pub(super) fn message(self, field: u32, value: Self) -> Self {
        self.delimited(field, &value.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification.
    #[test]
    fn message_encodes_as_the_specification_shows() {
        assert_eq!(Message::new().uint(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::new().string(2, "testing").into_bytes(), b"\x12\x07testing");
        let inner = Message::new().uint(1, 150);
        assert_eq!(Message::new().message(3, inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::new().double(1, 1.0).into_bytes(), [0x09, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]);
        let minus_two = Message::new().uint(1, (-2_i64) as u64).into_bytes();
        assert_eq!(minus_two, [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }
}
