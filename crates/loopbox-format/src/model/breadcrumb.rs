//! Breadcrumbs: names that the app recorded as it ran.

use super::Uptime;
use bincode::{Decode, Encode};

/// A breadcrumb of the app: its time, and the app's name for what it did.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Breadcrumb {
    /// When the app recorded it.
    pub at_ns: Uptime,
    /// At most 40 characters.
    pub name: String,
}
