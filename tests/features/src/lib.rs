//! Has no code, only the features in `Cargo.toml`. Tests build some packages alone. These packages depend on
//! this one, so that such a build has the features of the whole workspace's build and shares its
//! dependencies.
