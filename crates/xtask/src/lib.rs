//! Set-up, beds, checks and packaging of the Loopbox workspace.

pub mod android;
pub mod bed;
pub mod jvm;
pub mod launch;
pub mod offsets;
pub mod workspace;
