use super::{CodecError, ENCODING};
use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

type Done = Result<(), CodecError>;

/// Bytes of the longest integer: a mark, and eight.
const LONGEST: usize = 9;

/// Where bytes go. Called through a table, so that a type's code is there once for both of its users.
pub(super) trait Sink {
    fn put(&mut self, bytes: &[u8]) -> Done;
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) -> Done {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// What is left of a buffer.
pub(super) struct Room<'a>(pub(super) &'a mut [u8]);

impl Sink for Room<'_> {
    fn put(&mut self, bytes: &[u8]) -> Done {
        let (to, rest) =
            core::mem::take(&mut self.0).split_at_mut_checked(bytes.len()).ok_or(CodecError::Full)?;
        to.copy_from_slice(bytes);
        self.0 = rest;
        Ok(())
    }
}

/// Turns values into bytes.
pub(super) struct Writer<'a>(pub(super) &'a mut dyn Sink);

impl Writer<'_> {
    /// An integer of any type, by bincode.
    fn number(&mut self, number: impl bincode::Encode) -> Done {
        let mut bytes = [0; LONGEST];
        let len = bincode::encode_into_slice(number, &mut bytes, ENCODING).map_err(|_| CodecError::Kind)?;
        self.0.put(bytes.get(..len).unwrap_or_default())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Done {
        self.number(bytes.len() as u64)?;
        self.0.put(bytes)
    }
}

/// Parts follow each other, with nothing between or after them.
macro_rules! parts {
    ($($kind:ident: $($method:ident($($name:ident: $type:ty),*)),+;)*) => {$(
        impl $kind for &mut Writer<'_> {
            type Ok = ();
            type Error = CodecError;

            $(fn $method<T: Serialize + ?Sized>(&mut self, $($name: $type,)* part: &T) -> Done {
                part.serialize(&mut **self)
            })+

            fn end(self) -> Done {
                Ok(())
            }
        }
    )*};
}

parts! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key(), serialize_value();
    SerializeStruct: serialize_field(_name: &'static str);
    SerializeStructVariant: serialize_field(_name: &'static str);
}

macro_rules! integers {
    ($($method:ident($type:ty);)*) => {$(
        fn $method(self, value: $type) -> Done {
            self.number(value)
        }
    )*};
}

impl<'a, 'b> ser::Serializer for &'a mut Writer<'b> {
    type Ok = ();
    type Error = CodecError;
    type SerializeSeq = &'a mut Writer<'b>;
    type SerializeTuple = &'a mut Writer<'b>;
    type SerializeTupleStruct = &'a mut Writer<'b>;
    type SerializeTupleVariant = &'a mut Writer<'b>;
    type SerializeMap = &'a mut Writer<'b>;
    type SerializeStruct = &'a mut Writer<'b>;
    type SerializeStructVariant = &'a mut Writer<'b>;

    integers! {
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
    }

    fn serialize_bool(self, value: bool) -> Done {
        self.0.put(&[u8::from(value)])
    }

    fn serialize_i8(self, value: i8) -> Done {
        self.0.put(&[value.cast_unsigned()])
    }

    fn serialize_u8(self, value: u8) -> Done {
        self.0.put(&[value])
    }

    fn serialize_f32(self, _: f32) -> Done {
        Err(CodecError::Kind)
    }

    fn serialize_f64(self, _: f64) -> Done {
        Err(CodecError::Kind)
    }

    fn serialize_char(self, value: char) -> Done {
        self.0.put(value.encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn serialize_str(self, value: &str) -> Done {
        self.bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Done {
        self.bytes(value)
    }

    fn serialize_none(self) -> Done {
        self.0.put(&[0])
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        self.0.put(&[1])?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Done {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, variant: u32, _: &'static str) -> Done {
        self.number(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        value: &T,
    ) -> Done {
        self.number(variant)?;
        value.serialize(self)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self, CodecError> {
        self.number(len.ok_or(CodecError::Kind)? as u64)?;
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, CodecError> {
        self.number(variant)?;
        Ok(self)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self, CodecError> {
        self.serialize_seq(len)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, CodecError> {
        self.number(variant)?;
        Ok(self)
    }

    fn collect_str<T: core::fmt::Display + ?Sized>(self, _: &T) -> Done {
        Err(CodecError::Kind)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}
