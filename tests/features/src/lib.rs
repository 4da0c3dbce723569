//! Nothing but the features in `Cargo.toml`, for packages that tests build alone: with them such a build
//! shares what the whole workspace with its tests is built of.
