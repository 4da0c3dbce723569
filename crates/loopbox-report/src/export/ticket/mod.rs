//! A report's verdict as the text of a ticket: what the person who fixes the app needs to read first.

mod about;
mod markdown;
mod sarif;
mod slack;
mod stacks;

use crate::cluster::Problem;
use crate::diagnose::Diagnosis;
use crate::model::Analysis;
use crate::render::json_text;

/// The kind of tool that a ticket is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketFormat {
    /// GitHub, GitLab, Jira, Linear and others that read CommonMark.
    Markdown,
    /// The message of a Slack webhook, as JSON blocks.
    Slack,
    /// SARIF 2.1.0, the JSON that code scanning reads.
    Sarif,
}

/// The verdict on a report. `path` is the file's name in the result.
///
/// # Errors
/// When it cannot be written as JSON, which does not happen.
pub fn ticket(
    format: TicketFormat,
    analysis: &Analysis,
    diagnosis: &Diagnosis,
    path: &str,
) -> serde_json::Result<String> {
    let json = match format {
        TicketFormat::Markdown => return Ok(markdown::write(analysis, diagnosis)),
        TicketFormat::Slack => slack::message(analysis, diagnosis),
        TicketFormat::Sarif => {
            let signature = Problem::new(analysis, diagnosis).signature.id();
            sarif::log(analysis, diagnosis, path, &signature)
        }
    };
    json_text(&json)
}

#[cfg(test)]
mod tests;
