//! Has no code, only the features in `Cargo.toml`. A package that tests build alone depends on this one, so
//! that the build shares dependencies with that of the whole workspace and its tests.
