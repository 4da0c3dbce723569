//! Values in the form that JSON uses.

use loopbox_format::model::Named;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// An enum's value, which is serialised as its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<E>(pub E);

impl<E: Named> Serialize for Name<E> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.name())
    }
}

impl<E: Named> Name<E> {
    /// The name.
    pub fn as_str(&self) -> &'static str {
        self.0.name()
    }
}

impl<E: Named> std::fmt::Display for Name<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

impl<E: Named> JsonSchema for Name<E> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "name".into()
    }

    fn schema_id() -> Cow<'static, str> {
        std::any::type_name::<Self>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = E::NAMES;
        json_schema!({ "enum": names })
    }
}

/// An enum's value, which is serialised as its name, or as `unknown` when there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameOrUnknown<E>(pub Option<E>);

impl<E: Named> Serialize for NameOrUnknown<E> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.as_ref().map_or("unknown", Named::name))
    }
}

impl<E: Named> JsonSchema for NameOrUnknown<E> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "name_or_unknown".into()
    }

    fn schema_id() -> Cow<'static, str> {
        std::any::type_name::<Self>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = [E::NAMES, &["unknown"]].concat();
        json_schema!({ "enum": names })
    }
}
