//! Makes a report from a ring. Safe code on bytes that anyone may have written.

use crate::identity::Identity;
use crate::layout::{
    CLOCK_AT, CRASH_AT, FUSE_AT, HEARTBEAT_AT, Header, INTERRUPTED_AT, Kind, Layout, LayoutError,
    MAX_RING_BYTES,
};
use crate::marks::{CrashMark, FuseState, Interruption, clock_word, unix_ms};
use crate::message_words::{Current, Open, words};
use crate::slot::{SlotRead, words_of};
use crate::sorted;
use crate::source::{Bytes, Newest, Source, newest};
use crate::trees::{Pages, Trees};
use bincode::Decode;
use loopbox_format::codec::{self, CodecError};
use loopbox_format::container::Damage;
use loopbox_format::display_frames::decode_session;
use loopbox_format::model::{
    Breadcrumb, ClockPair, Detail, DumpReason, FrameSession, MainState, Outside, Record, Report, Running,
    Token, Uptime,
};

/// Why nothing can be recovered from a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// The file's header is not usable.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The file is larger than any ring.
    #[error("{len} bytes are more than a ring may have ({MAX_RING_BYTES})")]
    TooLarge {
        /// Bytes of the file.
        len: u64,
    },
    /// The file could not be read.
    #[error("cannot read the ring file: {0}")]
    Io(#[from] std::io::Error),
}

/// What a ring holds.
#[derive(Debug)]
pub struct Recovered {
    /// The process that the ring belongs to.
    pub identity: Identity,
    /// The report, as far as the ring contains it. It also has the first entries of `damage`.
    pub report: Report,
    /// What the sampler was doing when the process ended.
    pub fuse: FuseState,
    /// What a crash handler noted.
    pub crash: Option<CrashMark>,
    /// What has interrupted the last message, or the last work outside of messages, while it ran.
    pub interruption: Interruption,
    /// The newest instant in the ring, uptime: the last sign of life of a dead process.
    pub last_alive_ns: Uptime,
    /// What could not be used: torn slots (while being written), damaged ones, payloads that do not decode.
    pub damage: Vec<Damage>,
    /// The number of slots that were being written, at most one for each writing thread that was killed.
    pub torn: usize,
}

impl Recovered {
    /// How long the last message, or the last work outside of messages, had run at the last sign of life;
    /// `None` when nothing was running.
    pub fn running_ns(&self) -> Option<u64> {
        match &self.report.main {
            MainState::Running(running) => Some(running.age_ns()),
            MainState::Outside(outside) => Some(outside.age_ns()),
            _ => None,
        }
    }
}

/// Reads the bytes of a dead process's ring. The report's reason is [`DumpReason::Recovered`].
///
/// Accepts any input: incomplete parts are left out and listed in `damage`. Whatever the file says, this
/// function allocates at most 64 times the size of the largest ring ([`MAX_RING_BYTES`]). For a full ring
/// that this crate has written it allocates less than twice the ring's size.
pub fn recover(file: &[u8]) -> Result<Recovered, RecoverError> {
    if file.len() > MAX_RING_BYTES {
        return Err(RecoverError::TooLarge { len: file.len() as u64 });
    }
    let header = Header::decode(file)?;
    let mut recovered = assemble(&Bytes(file), &header, None);
    // Here and not there: a living process knows its own.
    let mut reading = Reading { source: &Bytes(file), layout: &header.layout, damage: Vec::new(), torn: 0 };
    recovered.report.frames = reading.frames();
    recovered.damage.append(&mut reading.damage);
    recovered.torn += reading.torn;
    if file.len() < header.layout.len {
        let what = format!("the ring is cut: {} of {} bytes", file.len(), header.layout.len);
        // The reason for what else is missing comes first.
        recovered.damage.insert(0, Damage { offset: file.len(), what });
    }
    recovered.report.lost = lost(&recovered.damage);
    recovered.report.meta.reason =
        DumpReason::Recovered { crash_signal: recovered.crash.map(|crash| crash.signal) };
    // The newest pair that the process has noted: uptime stands still in deep sleep.
    let clock = match Bytes(file).word(CLOCK_AT) {
        0 => clock_word(header.identity.clocks),
        noted => noted,
    };
    recovered.report.meta.dumped_at =
        ClockPair { uptime_ns: recovered.last_alive_ns, unix_ms: unix_ms(clock, recovered.last_alive_ns) };
    Ok(recovered)
}

/// How many losses a report lists. A kill causes one, and a report must stay small whatever was done to the
/// ring.
const MAX_LOST: usize = 32;

/// The damage in the form in which the report lists it.
fn lost(damage: &[Damage]) -> Vec<String> {
    let mut lines: Vec<String> = damage.iter().take(MAX_LOST).map(|part| format!("ring {part}")).collect();
    let more = damage.len().saturating_sub(MAX_LOST);
    if more > 0 {
        lines.push(format!("{more} more parts of the ring"));
    }
    lines
}

/// Reads the records that `source` holds, oldest first.
pub(crate) fn history(source: &dyn Source, header: &Header) -> Vec<Record> {
    let mut reading = Reading { source, layout: &header.layout, damage: Vec::new(), torn: 0 };
    reading.history().records
}

/// Reads all of `source`. For a snapshot of a living process, `now_ns` is the present uptime, and counts as
/// the last sign of life: the running message's age is then its age now, and not its age at the last recorded
/// sign of life. `None` for the file of a dead process.
pub(crate) fn assemble(source: &dyn Source, header: &Header, now_ns: Option<Uptime>) -> Recovered {
    let mut reading = Reading { source, layout: &header.layout, damage: Vec::new(), torn: 0 };
    let mut report = Report::default();
    // The current message before the history: one that ends between the two reads is then in the history, and
    // is recognised there. The other way around it would be in neither.
    let current = reading.cell(Kind::Current, Current::from_words);
    let history = reading.history();
    let running: Option<Running> = reading.value(Kind::Running);
    let outside: Option<Option<Outside>> = reading.value(Kind::Outside);
    let heartbeat_ns = Uptime(source.word(HEARTBEAT_AT));
    let mut alive = heartbeat_ns.max(header.identity.clocks.uptime_ns).max(now_ns.unwrap_or(Uptime::ZERO));

    let (trees, last_sample) = reading.trees();
    let breadcrumbs: Vec<Breadcrumb> = reading.value(Kind::Breadcrumbs).unwrap_or_default();
    alive = breadcrumbs.iter().map(|left| left.at_ns).fold(alive.max(last_sample), Uptime::max);
    let ends = history.records.iter().map(|record| record.start_ns.plus(record.wall_ns));
    alive = ends.fold(alive, Uptime::max);
    // Without a hook main reports nothing, and its history does not count what it was found in.
    let is_known = current.is_some();
    report.main = main_state(current, running, &history, &mut alive);
    if let Some(outside) = outside.flatten()
        && !matches!(report.main, MainState::Running(_))
        && (!is_known || outside.token == Token::outside_before(history.next()))
    {
        alive = alive.max(outside.as_of_ns);
        report.main = MainState::Outside(Outside { as_of_ns: alive, ..outside });
    }
    report.history = history.records;
    (report.symbols, report.trees) = trees.finish();
    report.meta = reading.value(Kind::Meta).unwrap_or_default();
    report.features = reading.value(Kind::Features).unwrap_or_default();
    report.pending = reading.value(Kind::Pending).unwrap_or_default();
    report.statistics = reading.value(Kind::Statistics).unwrap_or_default();
    report.breadcrumbs = breadcrumbs;
    report.anr_warnings = reading.value(Kind::Warnings).unwrap_or_default();
    report.anr_warnings.retain(|warning| !warning.is_over(alive));
    let token = match &report.main {
        MainState::Running(running) => running.token,
        MainState::Outside(outside) => outside.token,
        _ => Token::NONE,
    };
    Recovered {
        identity: header.identity,
        report,
        fuse: FuseState::from_word(source.word(FUSE_AT)),
        crash: CrashMark::from_word(source.word(CRASH_AT)),
        interruption: Interruption::from_word(source.word(INTERRUPTED_AT), token),
        last_alive_ns: alive,
        damage: reading.damage,
        torn: reading.torn,
    }
}

/// The records of a ring, oldest first, the open group last.
struct History {
    records: Vec<Record>,
    /// The last ended message according to the newest closed record, and according to the open group.
    ended: [Token; 2],
}

impl History {
    /// The token after the last message that the records count. While no message runs, the records count
    /// every message so far, and this is the token of the next message.
    fn next(&self) -> Token {
        self.records.iter().map(|r| r.first_token.plus(r.count.into())).max().unwrap_or(Token::FIRST)
    }

    /// Whether message `token` no longer counts as running. This is so if a record counts the message, or if
    /// a message with this token or a higher one has ended. A record counts a message when the message has
    /// ended, or when a Looper loop inside of the message begins. A message with a higher token ran after
    /// this one, or in a loop inside of it.
    ///
    /// The last ended message alone is not enough: a record that is written after `MainWriter::next_is` has
    /// forgotten an announced message names no ended message.
    fn has_ended(&self, token: Token) -> bool {
        token < self.next() || self.ended.iter().any(|&ended| ended >= token)
    }
}

/// The state of the main thread: from the slot that it writes itself, and from what the worker recorded about
/// the running message (`described`).
fn main_state(
    current: Option<Current>,
    described: Option<Running>,
    history: &History,
    alive: &mut Uptime,
) -> MainState {
    match current {
        None => MainState::Unknown,
        Some(Current::Idle { since_ns }) => {
            *alive = since_ns.max(*alive);
            MainState::Idle { since_ns }
        }
        // The message was counted after the cell was read, or the process ended before the cell was written.
        // One that had inner messages may have waited for more of them.
        Some(Current::Running { token, later, .. }) if later > 0 || history.has_ended(token) => {
            let end = history.records.last().map_or(Uptime::ZERO, |r| r.start_ns.plus(r.wall_ns));
            MainState::Idle { since_ns: end }
        }
        Some(Current::Running { token, start_ns, depth, .. }) => {
            // A number that was taken back is given to another message, of which that says nothing.
            let described =
                described.filter(|running| (running.token, running.start_ns) == (token, start_ns));
            *alive =
                described.as_ref().map_or(start_ns, |running| running.as_of_ns).max(start_ns).max(*alive);
            let (cpu_ns, message) =
                described.map_or((None, None), |running| (running.cpu_ns, running.message));
            MainState::Running(Running { token, start_ns, as_of_ns: *alive, cpu_ns, depth, message })
        }
    }
}

struct Reading<'a> {
    source: &'a dyn Source,
    layout: &'a Layout,
    damage: Vec<Damage>,
    torn: usize,
}

/// How often a live ring is read again when a record was closed during the read.
const TRIES: usize = 4;

impl Reading<'_> {
    fn unusable(&mut self, offset: usize, read: SlotRead) {
        let what = if read == SlotRead::Torn {
            self.torn += 1;
            if self.source.is_live() {
                "slot is busy"
            } else {
                "slot was being written when the process ended"
            }
        } else {
            "slot is damaged (checksum differs)"
        };
        self.damage.push(Damage { offset, what: what.into() });
    }

    fn newest(&mut self, kind: Kind) -> Option<(usize, Vec<u8>)> {
        let Newest { payload, offset, torn, .. } = newest(self.source, self.layout, kind);
        for (offset, read) in torn {
            self.unusable(offset, read);
        }
        payload.map(|payload| (offset, payload))
    }

    /// The newest value of a region that holds plain words; `None` when there is none, or it is damaged.
    fn cell<T, const N: usize>(&mut self, kind: Kind, from: fn([u64; N]) -> Option<T>) -> Option<T> {
        let (offset, payload) = self.newest(kind)?;
        let value = words(&payload).and_then(from);
        if value.is_none() {
            self.damage.push(Damage { offset, what: "cell holds no possible state".into() });
        }
        value
    }

    /// The newest value of a region that holds an encoded value; `None` when there is none, or it is damaged.
    fn value<T: Decode<()>>(&mut self, kind: Kind) -> Option<T> {
        let (offset, payload) = self.newest(kind)?;
        self.decode(offset, &payload)
    }

    fn frames(&mut self) -> FrameSession {
        let Some((offset, payload)) = self.newest(Kind::Frames) else { return FrameSession::default() };
        decode_session(&payload).unwrap_or_else(|error| {
            self.damage.push(Damage { offset, what: error.to_string() });
            FrameSession::default()
        })
    }

    fn decode<T: Decode<()>>(&mut self, offset: usize, payload: &[u8]) -> Option<T> {
        codec::decode(payload).map_err(|error| self.undecodable(offset, error)).ok()
    }

    #[inline(never)]
    fn undecodable(&mut self, offset: usize, error: CodecError) {
        self.damage.push(Damage { offset, what: error.to_string() });
    }

    fn history(&mut self) -> History {
        let (damage, torn) = (self.damage.len(), self.torn);
        for attempt in 1.. {
            let (history, gap) = self.history_once();
            if !self.source.is_live() || !gap || attempt == TRIES {
                return history;
            }
            // A record closed while we read; what this attempt found missing may be there now.
            self.damage.truncate(damage);
            self.torn = torn;
        }
        History { records: Vec::new(), ended: [Token::NONE; 2] }
    }

    /// Reads the closed records and the open group once. Also returns whether they contradict each other:
    /// then the open group is not the one that follows the newest record.
    fn history_once(&mut self) -> (History, bool) {
        // The group first: records that close while we read are then newer than it, and seen as such.
        let open = self.cell(Kind::Open, Open::from_words);
        let details = self.newest(Kind::OpenDetails);
        let closed = self.closed_records();
        let (last_ended, newest) =
            closed.last().map_or((Token::NONE, 0), |(ended, record)| (*ended, record.seq));
        let mut records: Vec<Record> = closed.into_iter().map(|(_, record)| record).collect();
        let mut ended = [last_ended, Token::NONE];
        let mut gap = false;
        if let Some(open) = open {
            let seq = open.record.seq;
            gap = newest != 0 && seq != newest.wrapping_add(1) || newest == 0 && seq > 1;
            // A record of the same number is the same group, closed since.
            if seq > newest {
                ended = [last_ended, open.ended];
                if open.record.count > 0 || open.record.wall_ns > 0 {
                    records.push(open.into_record(self.open_details(details, seq)));
                }
            }
        }
        (History { records, ended }, gap)
    }

    fn open_details(&mut self, newest: Option<(usize, Vec<u8>)>, seq: u64) -> Vec<Detail> {
        let Some((offset, payload)) = newest else { return Vec::new() };
        match payload.split_first_chunk() {
            // Details of the group before this one: this one has none yet.
            Some((of, _)) if u64::from_le_bytes(*of) != seq => Vec::new(),
            Some((_, encoded)) => self.decode(offset, encoded).unwrap_or_default(),
            None => Vec::new(),
        }
    }

    /// The closed records in order of their numbers, each with the last message that it shows as ended.
    fn closed_records(&mut self) -> Vec<(Token, Record)> {
        let mut records = Vec::new();
        let Some(region) = self.layout.region(Kind::Records) else { return records };
        let mut payload = Vec::with_capacity(region.capacity().min(64 << 10));
        for index in 0..region.slots {
            let offset = region.slot_at(index);
            match self.source.slot(&region, index, &mut payload) {
                SlotRead::Whole { .. } => {
                    let ended = Token(words_of(&payload).next().unwrap_or_default());
                    let encoded = payload.get(8..).unwrap_or_default();
                    if let Some(record) = self.decode::<Record>(offset, encoded) {
                        sorted::insert(&mut records, (ended, record), |(_, record)| record.seq);
                    }
                }
                SlotRead::Empty => {}
                read => self.unusable(offset, read),
            }
        }
        records
    }

    /// The kept trees, oldest first. A tree with missing pages is left out: a newer tree has replaced part of
    /// it, or it was not finished.
    fn kept_trees(&mut self) -> Vec<(usize, Vec<u8>)> {
        let mut pages = Pages::default();
        if let Some(region) = self.layout.region(Kind::TreePages) {
            let mut payload = Vec::new();
            for index in 0..region.slots {
                match self.source.slot(&region, index, &mut payload) {
                    SlotRead::Whole { .. } => pages.add(region.slot_at(index), &payload),
                    SlotRead::Empty => {}
                    read => self.unusable(region.slot_at(index), read),
                }
            }
        }
        pages.finish()
    }

    /// All trees, and when the newest sample was taken. The kept trees come first; the running message's tree
    /// comes last.
    fn trees(&mut self) -> (Trees, Uptime) {
        let mut packed = self.kept_trees();
        packed.extend(self.newest(Kind::RunningTree).filter(|(_, payload)| !payload.is_empty()));
        let mut trees = Trees::default();
        let mut newest = Uptime::ZERO;
        for (offset, packed) in packed {
            match trees.add(&packed) {
                Ok(last_sample) => newest = last_sample.max(newest),
                Err(error) => self.damage.push(Damage { offset, what: error.to_string() }),
            }
        }
        (trees, newest)
    }
}
