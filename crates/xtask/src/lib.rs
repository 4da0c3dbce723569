//! Set-up, beds, checks and packaging of the Loopbox workspace.

pub mod bed;
pub mod launch;
pub mod workspace;
