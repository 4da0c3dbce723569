//! What the main thread writes for every message, as plain words: the current message and the open record.

use loopbox_format::model::{Detail, Record, RecordKind, Slowest, Token, Uptime};

const UNKNOWN: u64 = u64::MAX;

/// What the main thread is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Current {
    /// The main thread runs message `token`. This version always writes 0 to `later`. In earlier versions a
    /// message with an inner loop was announced again each time a message of that loop ended, and `later`
    /// counts these announcements. If it is not 0, either the outer message continued or the inner loop
    /// waited; which of the two is unknown.
    Running { token: Token, start_ns: Uptime, depth: u32, later: u32 },
    /// The main thread runs no message.
    Idle { since_ns: Uptime },
}

pub(crate) const CURRENT_WORDS: usize = 4;

impl Current {
    pub(crate) fn to_words(self) -> [u64; CURRENT_WORDS] {
        match self {
            Self::Idle { since_ns } => [1, 0, since_ns.0, 0],
            Self::Running { token, start_ns, depth, later } => {
                [2, token.0, start_ns.0, u64::from(later) << 32 | u64::from(depth)]
            }
        }
    }

    pub(crate) fn from_words([state, token, since_ns, depth]: [u64; CURRENT_WORDS]) -> Option<Self> {
        match state {
            1 => Some(Self::Idle { since_ns: Uptime(since_ns) }),
            2 => Some(Self::Running {
                token: Token(token),
                start_ns: Uptime(since_ns),
                depth: depth as u32,
                later: (depth >> 32) as u32,
            }),
            _ => None,
        }
    }
}

/// The open group: a record in progress without its details, and the last message whose end it counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) record: Record<()>,
    /// The last message whose end the group counted; [`Token::NONE`] for none.
    pub(crate) ended: Token,
}

pub(crate) const OPEN_WORDS: usize = 14;

impl Open {
    /// The words for the record `r` without its details, and for `ended`.
    #[inline]
    pub(crate) fn words<D>(r: &Record<D>, ended: Token) -> [u64; OPEN_WORDS] {
        [
            kind_to_word(r.kind),
            r.seq,
            r.first_token.0,
            u64::from(r.count),
            r.start_ns.0,
            r.wall_ns,
            r.work_ns,
            r.idle_ns,
            r.cpu_ns.unwrap_or(UNKNOWN),
            r.checktime_late_ns.unwrap_or(UNKNOWN),
            r.slowest.map_or(0, |slowest| slowest.token.0),
            r.slowest.map_or(0, |slowest| slowest.wall_ns),
            u64::from(r.dropped_details),
            ended.0,
        ]
    }

    pub(crate) fn from_words(words: [u64; OPEN_WORDS]) -> Option<Self> {
        let [
            kind,
            seq,
            first_token,
            count,
            start_ns,
            wall_ns,
            work_ns,
            idle_ns,
            cpu,
            late,
            token,
            wall,
            dropped,
            ended,
        ] = words;
        let known = |value| (value != UNKNOWN).then_some(value);
        let record = Record {
            kind: kind_from_word(kind)?,
            seq,
            first_token: Token(first_token),
            count: count as u32,
            start_ns: Uptime(start_ns),
            wall_ns,
            work_ns,
            idle_ns,
            cpu_ns: known(cpu),
            checktime_late_ns: known(late),
            slowest: (token != 0).then_some(Slowest { token: Token(token), wall_ns: wall }),
            details: (),
            dropped_details: dropped as u32,
            closed: false,
        };
        Some(Self { record, ended: Token(ended) })
    }

    /// The group as a record of the history.
    pub(crate) fn into_record(self, details: Vec<Detail>) -> Record {
        with_details(&self.record, details)
    }
}

/// A record's numbers with other details.
pub(crate) fn with_details<D, E>(r: &Record<D>, details: E) -> Record<E> {
    Record {
        kind: r.kind,
        seq: r.seq,
        first_token: r.first_token,
        count: r.count,
        start_ns: r.start_ns,
        wall_ns: r.wall_ns,
        work_ns: r.work_ns,
        idle_ns: r.idle_ns,
        cpu_ns: r.cpu_ns,
        checktime_late_ns: r.checktime_late_ns,
        slowest: r.slowest,
        details,
        dropped_details: r.dropped_details,
        closed: r.closed,
    }
}

const fn kind_to_word(kind: RecordKind) -> u64 {
    match kind {
        RecordKind::Single => 2,
        RecordKind::Idle => 3,
        RecordKind::Frozen => 4,
        RecordKind::Unseen => 5,
        RecordKind::Outside => 6,
        // `RecordKind` may grow; what is open is a group in every version so far.
        _ => 1,
    }
}

const fn kind_from_word(word: u64) -> Option<RecordKind> {
    match word {
        1 => Some(RecordKind::Group),
        2 => Some(RecordKind::Single),
        3 => Some(RecordKind::Idle),
        4 => Some(RecordKind::Frozen),
        5 => Some(RecordKind::Unseen),
        6 => Some(RecordKind::Outside),
        _ => None,
    }
}

/// The words of a payload; `None` when it has not exactly `N` words.
pub(crate) fn words<const N: usize>(payload: &[u8]) -> Option<[u64; N]> {
    let mut out = [0; N];
    (payload.len() == N * 8)
        .then(|| out.iter_mut().zip(crate::slot::words_of(payload)).for_each(|(to, from)| *to = from))?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_back_as_they_were_written() {
        for current in [
            Current::Idle { since_ns: Uptime(9) },
            Current::Running { token: Token(3), start_ns: Uptime::MAX, depth: 2, later: u32::MAX },
        ] {
            assert_eq!(Current::from_words(current.to_words()), Some(current));
        }
        assert_eq!(Current::from_words([7, 0, 0, 0]), None);
        let record = Record {
            kind: RecordKind::Group,
            seq: 1,
            first_token: Token(2),
            count: 3,
            start_ns: Uptime(4),
            wall_ns: 5,
            work_ns: 6,
            idle_ns: 7,
            cpu_ns: None,
            checktime_late_ns: Some(8),
            slowest: Some(Slowest { token: Token(9), wall_ns: 10 }),
            details: vec![1],
            dropped_details: 11,
            closed: false,
        };
        for kind in (1..).map_while(kind_from_word) {
            let record = Record { kind, ..record.clone() };
            let open = Open { record: with_details(&record, ()), ended: Token(12) };
            assert_eq!(Open::from_words(Open::words(&record, Token(12))), Some(open));
        }
        assert_eq!(Open::from_words([0; OPEN_WORDS]), None);
    }
}
