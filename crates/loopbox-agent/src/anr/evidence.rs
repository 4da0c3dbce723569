//! Evidence that turns up after a report is complete: how long its message took, and what the system reports.

use super::framework;
use crate::jni::env::Env;
use crate::session::Session;
use crate::sys::clock;
use loopbox_format::model::{Anr, SystemWord, Token};
use loopbox_recorder::classify;

/// Evidence that a report does not have yet.
#[derive(Debug, Default)]
pub(crate) struct NewEvidence {
    /// How long the message took, if it has ended.
    pub(crate) ended_ns: Option<u64>,
    pub(crate) system: Option<SystemWord>,
}

impl NewEvidence {
    /// Adds this evidence to what is known. The verdict may change.
    pub(crate) fn add_to(&mut self, anr: &mut Anr) {
        anr.ended_after_ns = anr.ended_after_ns.or(self.ended_ns);
        if self.system.is_some() {
            anr.system = self.system.take();
        }
        anr.verdict = classify(anr);
    }
}

/// The end of a message.
pub(crate) struct Ended {
    /// How long the message took. `None` in two cases: the message's record has many messages and keeps no
    /// details of this one, or the record is no longer kept.
    pub(crate) after_ns: Option<u64>,
}

/// How long a message took, if it has ended and its duration is known; [`Token::NONE`] never ends.
pub(crate) fn ended_ns(session: &Session, message: Token) -> Option<u64> {
    end_of(session, message)?.after_ns
}

/// The end of a message, if it has ended; [`Token::NONE`] never ends.
pub(crate) fn end_of(session: &Session, message: Token) -> Option<Ended> {
    if message.is_outside() {
        let (over, lasted_ns) = session.stall.snapshot().outside_over;
        return (over == message).then_some(Ended { after_ns: Some(lasted_ns) });
    }
    if message == Token::NONE || session.shared.main.token() == message {
        return None;
    }
    // A loop inside of a message runs messages, too; only the end of the message makes a record of it.
    let history = session.reader.snapshot(clock::now_ns()).report.history;
    if history.first().is_some_and(|oldest| message < oldest.first_token) {
        return Some(Ended { after_ns: None });
    }
    let mut records = history.iter().rev();
    let record = records.find(|r| (r.first_token..r.first_token.plus(r.count.into())).contains(&message))?;
    let detail = record.details.iter().find(|detail| detail.token == message);
    // The slowest may be another one.
    let slowest = || record.slowest.filter(|slowest| slowest.token == message);
    Some(Ended { after_ns: detail.map(|detail| detail.wall_ns).or_else(|| Some(slowest()?.wall_ns)) })
}

/// Asks the system whether this process does not respond. `None` when the system cannot be asked or, unless
/// `last` is true, when it reports nothing.
pub(crate) fn ask_system(env: &mut Env<'_>, last: bool) -> Option<SystemWord> {
    match framework::not_responding(env).ok()? {
        Some(words) => Some(SystemWord::NotResponding(words)),
        None => (last && framework::is_available(env)).then_some(SystemWord::Silent),
    }
}
