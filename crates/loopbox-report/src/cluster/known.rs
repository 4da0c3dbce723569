//! A file that keeps the known groups from one run to the next. All other groups are new.

use super::summary::Summary;
use crate::model::Identity;
use crate::render::json_text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the file's format.
const SCHEMA: &str = "loopbox.known/1";

/// The groups that earlier runs have found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    schema: String,
    /// The version of the signatures that ids are made of: only ids of one version can be compared.
    signature: u32,
    /// The ids of the groups, and their titles for a reader of the file.
    groups: BTreeMap<String, String>,
}

/// Why a file does not say which groups are known.
#[derive(Debug, thiserror::Error)]
pub enum KnownError {
    /// The file is not a list of known groups, or is damaged.
    #[error("is no list of known groups: {0}")]
    Foreign(#[from] serde_json::Error),
    /// The file's schema has another name or version.
    #[error("is `{0}`, and not `{SCHEMA}`, a list of known groups")]
    Schema(String),
    /// The file's ids are of another signature version than this program's.
    #[error(
        "has ids of signature version {found}, and groups have those of version {wanted} now: delete the file, and all groups count as new once"
    )]
    Signature {
        /// The signature version of the file.
        found: u32,
        /// The signature version of this program.
        wanted: u32,
    },
}

impl Default for Known {
    /// A list without known groups.
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), signature: Identity::SIGNATURE, groups: BTreeMap::new() }
    }
}

impl Known {
    /// Reads what [`Known::to_json`] wrote.
    ///
    /// # Errors
    /// When the text is something else, or its ids are of another signature version than this program's.
    pub fn parse(text: &str) -> Result<Self, KnownError> {
        let known: Self = serde_json::from_str(text)?;
        if known.schema != SCHEMA {
            return Err(KnownError::Schema(known.schema));
        }
        if known.signature != Identity::SIGNATURE {
            return Err(KnownError::Signature { found: known.signature, wanted: Identity::SIGNATURE });
        }
        Ok(known)
    }

    /// The file's text.
    ///
    /// # Errors
    /// When it cannot be written as JSON, which does not happen.
    pub fn to_json(&self) -> serde_json::Result<String> {
        json_text(self)
    }

    /// Adds the groups of a summary.
    pub fn add(&mut self, summary: &Summary) {
        for group in &summary.groups {
            self.groups.entry(group.id.clone()).or_insert_with(|| group.title().to_owned());
        }
    }

    /// Removes the known groups from a summary, and sets the number of removed ones in [`Summary::known`].
    pub fn take_out_of(&self, summary: &mut Summary) {
        let before = summary.groups.len();
        summary.groups.retain(|group| !self.groups.contains_key(&group.id));
        summary.known = Some((before - summary.groups.len()) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_why_a_file_cannot_be_used() {
        let written = Known::default().to_json().unwrap();
        assert_eq!(Known::parse(&written).unwrap(), Known::default());
        let error = |text: &str| Known::parse(text).unwrap_err().to_string();
        assert!(error("").starts_with("is no list of known groups: EOF"), "{}", error(""));
        assert!(error(&written[..9]).contains("line 2 column 7"), "{}", error(&written[..9]));
        let other = written.replace(SCHEMA, "loopbox.cluster/1");
        assert_eq!(
            error(&other),
            "is `loopbox.cluster/1`, and not `loopbox.known/1`, a list of known groups"
        );
        let now = format!("\"signature\": {}", Identity::SIGNATURE);
        assert!(written.contains(&now), "{written}");
        let older = error(&written.replace(&now, "\"signature\": 0"));
        assert!(older.starts_with("has ids of signature version 0, and groups have"), "{older}");
    }
}
