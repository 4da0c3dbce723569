//! What the main thread writes.

use super::region::RegionWriter;
use crate::error::StoreError;
use crate::message_words::{Current, Open, with_details};
use crate::slot::words_of;
use bincode::Encode;
use loopbox_format::codec::{self, CodecError};
use loopbox_format::model::{Record, Token, Uptime};

/// The size in bytes of the buffer on the main thread's stack into which a record is encoded.
const RECORD_BUFFER: usize = 2048;

/// What the main thread writes. No method allocates, locks or makes a system call (except `getpid` on kernels
/// before 4.14).
///
/// A message is announced when [`running`](Self::running) writes its token. A message with an inner loop is
/// announced only when it starts, and not again after the inner messages. After an inner message main counts
/// as idle, although the outer message may go on; the stall monitor finds that out.
///
/// The order of the calls matters, because the process may be killed between two of them. At the end of a
/// message, the calls are: [`close`](Self::close) when a record closes, then
/// [`open_details`](Self::open_details) and [`open`](Self::open) for the record that continues, and
/// [`idle`](Self::idle) last. Once one of the written records counts the announced message, readers know from
/// the record that the message has ended. So [`idle`](Self::idle) then writes nothing.
#[derive(Debug)]
pub struct MainWriter {
    pub(super) current: RegionWriter,
    pub(super) open: RegionWriter,
    pub(super) open_details: RegionWriter,
    pub(super) records: RegionWriter,
    /// The message announced as running; [`Token::NONE`] for none.
    pub(super) token: Token,
    /// Whether the announced message has ended.
    pub(super) over: bool,
    /// Whether the last record that was written shows the end of the announced message.
    pub(super) end_is_recorded: bool,
}

impl MainWriter {
    /// Announces that message `token` (counted from 1) runs since `start_ns` uptime, inside of `depth` Looper
    /// loops (1 for an ordinary message).
    pub fn running(&mut self, token: Token, start_ns: Uptime, depth: u32) -> Result<(), StoreError> {
        self.token = token;
        self.over = false;
        self.end_is_recorded = false;
        let current = Current::Running { token, start_ns, depth, later: 0 };
        self.current.write_next_words(&current.to_words())
    }

    /// Announces that no message runs since `since_ns` uptime, which is the end of the record written last.
    pub fn idle(&mut self, since_ns: Uptime) -> Result<(), StoreError> {
        self.over = true;
        if self.end_is_recorded {
            return Ok(());
        }
        self.current.write_next_words(&Current::Idle { since_ns }.to_words())
    }

    /// To be called with the token that the next message will get. If the announced message has this token,
    /// no message ran after that announcement, and the announcement is forgotten. The next announcement with
    /// this token is about a different message.
    #[inline]
    pub fn next_is(&mut self, next: Token) {
        if self.token == next {
            self.token = Token::NONE;
        }
    }

    /// The announced message, if it has ended or `record` counts it; otherwise [`Token::NONE`].
    fn ended<D>(&self, record: &Record<D>) -> Token {
        // Messages are counted from 1 on.
        let counted = self.token.0.wrapping_sub(record.first_token.0) < u64::from(record.count);
        if counted || self.over { self.token } else { Token::NONE }
    }

    /// Writes the counters of the open record, but not its details: see [`open_details`](Self::open_details).
    pub fn open<D>(&mut self, record: &Record<D>) -> Result<(), StoreError> {
        let ended = self.ended(record);
        self.open.write_next_words(&Open::words(record, ended))?;
        self.end_is_recorded = ended != Token::NONE;
        Ok(())
    }

    /// Writes the details of the open record `seq`; call it only when they change. Details that do not fit
    /// are left out from the end.
    pub fn open_details<T: Encode>(&mut self, seq: u64, details: &[T]) -> Result<(), StoreError> {
        let mut buffer = [0; RECORD_BUFFER];
        let room = buffer.get_mut(..self.open_details.capacity().saturating_sub(8).min(RECORD_BUFFER));
        let encoded = encode_within(room.unwrap_or_default(), details.len(), |kept, room| {
            codec::encode_into(details.get(..kept).unwrap_or_default(), room)
        })?;
        let words = core::iter::once(seq).chain(words_of(encoded));
        self.open_details.write_next(encoded.len() + 8, words)
    }

    /// Writes a closed record with these details. The ring has a fixed number of slots for closed records.
    /// When all of them are in use, the new record overwrites the oldest one.
    ///
    /// Details that do not fit the slot are left out from the end and counted in `dropped_details`. With the
    /// default geometry this happens to a record of eight details when each detail's two names have more than
    /// about 130 bytes together.
    pub fn close<D, T: Encode>(&mut self, record: &Record<D>, details: &[T]) -> Result<(), StoreError> {
        let mut buffer = [0; RECORD_BUFFER];
        let room = buffer.get_mut(..self.records.capacity().saturating_sub(8).min(RECORD_BUFFER));
        let encoded = encode_within(room.unwrap_or_default(), details.len(), |kept, room| {
            let mut record = with_details(record, details.get(..kept).unwrap_or_default());
            record.dropped_details = record.dropped_details.saturating_add((details.len() - kept) as u32);
            codec::encode_into(&record, room)
        })?;
        let slots = self.records.region.map_or(1, |region| region.slots as u64).max(1);
        let ended = self.ended(record);
        let words = core::iter::once(ended.0).chain(words_of(encoded));
        self.records.write_at((record.seq % slots) as usize, encoded.len() + 8, words)?;
        self.end_is_recorded = ended != Token::NONE;
        Ok(())
    }
}

/// Encodes as many of `details` as fit into `room`. The first attempt is with all of them; each further
/// attempt has one less.
fn encode_within(
    room: &mut [u8],
    details: usize,
    encode: impl Fn(usize, &mut [u8]) -> Result<usize, CodecError>,
) -> Result<&[u8], StoreError> {
    let mut kept = details;
    let len = loop {
        match encode(kept, room) {
            Ok(len) => break len,
            Err(error) if kept == 0 => return Err(error.into()),
            Err(_) => kept -= 1,
        }
    };
    Ok(room.get(..len).unwrap_or_default())
}
