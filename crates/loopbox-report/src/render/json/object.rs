//! An object of the JSON, declared once.

/// Declares an object of the JSON. Each member is written once: its meaning, its name, its type and where it
/// is from.
///
/// `struct LockView<'a>(wait: &'a LockWait) { object: &'a str = &wait.object, }` is a struct that is
/// serialised and has a schema, and its `new(wait)`.
macro_rules! json_object {
    ($(#[$attribute:meta])* $visible:vis struct $object:ident $(<$life:lifetime>)? ($($from:ident: $source:ty),*) {
        $($(#[$about:meta])* $member:ident: $type:ty = $value:expr,)+
    }) => {
        $(#[$attribute])*
        #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        $visible struct $object $(<$life>)? {
            $($(#[$about])* $member: $type,)+
        }

        impl $(<$life>)? $object $(<$life>)? {
            /// The object of what it is from.
            $visible fn new($($from: $source),*) -> Self {
                Self { $($member: $value,)+ }
            }
        }
    };
}
