//! An object of the JSON, declared once.

/// Declares an object of the JSON. Each member is written once: its meaning, its name, its type and the
/// expression for its value.
///
/// `struct LockView<'a>(wait: &'a LockWait) { object: &'a str = &wait.object, }` becomes a struct that is
/// serialised and has a schema, and a constructor `new(wait)`.
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
            /// Computes the members from the sources.
            $visible fn new($($from: $source),*) -> Self {
                Self { $($member: $value,)+ }
            }
        }
    };
}
