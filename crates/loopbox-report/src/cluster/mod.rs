//! Groups many reports by their stack signature, and in the same way the stalls of a performance monitor and
//! the jank frames of reports.
//!
//! Reports are added one by one and forgotten; what stays is a bounded summary of each group, so that memory
//! grows with the number of different problems and not with the number of reports. Two halves of a set of
//! reports can be grouped separately (by two threads) and merged. The result does not depend on the order of
//! the reports, except where a group has more distinct versions or devices than it keeps
//! (`cardinality::TopNames`).

mod amount;
mod cardinality;
pub mod diff;
mod groups;
mod html;
mod known;
mod list;
mod rate;
mod recorder;
mod sighting;
mod signature;
mod slack;
mod statistics;
mod summary;
mod text;
mod trend;

pub use amount::{Amount, Measure};
pub use cardinality::{Count, NameCount};
pub use groups::Clusters;
pub use html::html;
pub use known::{Known, KnownError};
pub use list::list;
pub use rate::{Active, Rate, Unit};
pub use recorder::PartOff;
pub use sighting::{Representative, Sighting};
pub use signature::Problem;
pub use slack::slack;
pub use summary::{Group, Summary, VersionShare};
pub use text::text;

#[cfg(test)]
mod tests;
