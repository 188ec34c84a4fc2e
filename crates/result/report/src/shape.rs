//! Declarations of JSON documents: each field with its description, its type and its value in one place.

/// A struct of a document, and `of`, which makes it from its arguments: `NAME of (ARGUMENTS) { field: type = value, }`. With
/// `-> Option`, `of` is `None` where a `?` among the values finds nothing.
macro_rules! document {
    (@struct $(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
        pub struct $name {
            $($(#[$of])* pub $field: $type,)*
        }
    };
    (
        $(#[$meta:meta])* $name:ident of ($($argument:ident: $from:ty),*) $(; $(let $known:pat = $as:expr;)+)?
        { $($(#[$of:meta])* $field:ident: $type:ty = $value:expr,)* }
    ) => {
        $crate::shape::document! { @struct $(#[$meta])* $name { $($(#[$of])* $field: $type,)* } }

        impl $name {
            /// Made of these.
            pub fn of($($argument: $from),*) -> Self {
                $($(let $known = $as;)+)?
                Self { $($field: $value),* }
            }
        }
    };
    (
        $(#[$meta:meta])* $name:ident of ($($argument:ident: $from:ty),*) -> Option $(; $(let $known:pat = $as:expr;)+)?
        { $($(#[$of:meta])* $field:ident: $type:ty = $value:expr,)* }
    ) => {
        $crate::shape::document! { @struct $(#[$meta])* $name { $($(#[$of])* $field: $type,)* } }

        impl $name {
            /// Made of these.
            pub fn of($($argument: $from),*) -> Option<Self> {
                $($(let $known = $as;)+)?
                Some(Self { $($field: $value),* })
            }
        }
    };
}

/// Name and version of a document's shape, and the function that gives its JSON Schema.
macro_rules! schema {
    ($version:literal: $name:ident, $schema:ident of $document:ident) => {
        /// Name and version of the shape.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
        pub enum $name {
            /// The first version.
            #[serde(rename = $version)]
            V1,
        }

        #[doc = concat!("The JSON Schema of [`", stringify!($document), "`].")]
        pub(crate) fn $schema() -> serde_json::Value {
            schemars::schema_for!($document).to_value()
        }
    };
}

pub(crate) use {document, schema};
