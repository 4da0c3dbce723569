//! Writes a report's packets behind the packets of a trace that the system has recorded. The result is one
//! file, whatever the version of Perfetto.
//!
//! A trace is a list of packets, so two traces one after the other are one trace. Each of the two keeps its
//! own sequence, and the clocks of both relate their times: a report's times are uptime, and the system's
//! trace relates uptime to its own clock.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::ops::Range;

use super::encode::encode;
use super::packets::{CLOCK_MONOTONIC, CLOCK_REALTIME, Place};
use crate::model::Analysis;

/// The size limit for a packet. The system's packets are smaller, because the system sends its buffers in
/// chunks of some 100 KB.
const MAX_PACKET_BYTES: u64 = 64 << 20;
/// The size limit for a trace, above any trace of a phone. It is needed because a gzipped file can hold a
/// thousand times its size.
const MAX_TRACE_BYTES: u64 = 4 << 30;
/// `Trace.packet`, as a field with a length.
const PACKET: u64 = 1 << 3 | 2;
/// The range in which our sequence number is chosen. Any range far from 1 would do, because a system trace
/// counts its writers from 1. Sequence numbers in compressed packets are not read.
const SEQUENCES: Range<u64> = 0x4c6f_6f70..0x4c6f_ffff;

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The number of packets of the system's trace.
    pub packets: u64,
    /// How much the system's trace and the report disagree about the time of day at the same uptime, in
    /// nanoseconds. `None` where the trace's clocks cannot be read, for instance because the trace is
    /// compressed.
    pub clocks_differ_ns: Option<u64>,
}

/// Why a file cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The file is no trace of Perfetto, or has been cut.
    #[error(
        "offset {offset}: {what}; a trace that Android's ProfilingManager or `perfetto` has written is accepted"
    )]
    NoTrace {
        /// The offset of the first invalid byte.
        offset: u64,
        /// What is wrong at that offset.
        what: &'static str,
    },
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Copies a trace and writes the report's packets behind it.
///
/// # Errors
/// When the input is no trace, or when reading or writing fails. `out` then contains an incomplete result.
pub fn merge(trace: &mut dyn BufRead, a: &Analysis, out: &mut dyn Write) -> Result<Merged, MergeError> {
    let mut reader = Reader { input: trace, offset: 0 };
    let (mut taken, mut packets, mut clocks_differ_ns) = (BTreeSet::new(), 0, None);
    let mut bytes = Vec::new();
    while let Some(tag) = reader.varint()? {
        let offset = reader.offset;
        let no_trace = |what| MergeError::NoTrace { offset, what };
        if tag != PACKET {
            return Err(no_trace("this is not the begin of a packet"));
        }
        let length = reader.varint()?.ok_or(no_trace("a packet is cut"))?;
        if length > MAX_PACKET_BYTES {
            return Err(no_trace("a packet of more than 64 MiB"));
        }
        if offset > MAX_TRACE_BYTES {
            return Err(no_trace("a trace of more than 4 GiB"));
        }
        bytes.clear();
        reader.take(length, &mut bytes)?;
        let packet = fields(&bytes).ok_or(no_trace("a packet whose fields cannot be read"))?;
        let writers =
            packet.iter().filter(|(number, _)| *number == 10).filter_map(|(_, value)| value.number());
        taken.extend(writers.filter(|sequence| SEQUENCES.contains(sequence)));
        if clocks_differ_ns.is_none() {
            let snapshot = packet.iter().find(|(number, _)| *number == 6);
            clocks_differ_ns = snapshot.and_then(|(_, value)| differ_ns(value.bytes()?, a));
        }
        packets += 1;
        let mut head = [0; 11];
        let head = head_of(length, &mut head);
        out.write_all(head)?;
        out.write_all(&bytes)?;
    }
    if packets == 0 {
        return Err(MergeError::NoTrace { offset: 0, what: "the file is empty" });
    }
    let free =
        (SEQUENCES.start..SEQUENCES.end).find(|sequence| !taken.contains(sequence)).unwrap_or(SEQUENCES.end);
    let place = Place { sequence: free, is_alone: false };
    out.write_all(&encode(a, place))?;
    Ok(Merged { packets, clocks_differ_ns })
}

/// A packet's tag and length.
fn head_of(length: u64, head: &mut [u8; 11]) -> &[u8] {
    head[0] = PACKET as u8;
    let (mut rest, mut at) = (length, 1);
    while rest >= 0x80 {
        head[at] = rest as u8 | 0x80;
        rest >>= 7;
        at += 1;
    }
    head[at] = rest as u8;
    &head[..=at]
}

/// The difference between the trace's and the report's time of day at the same uptime, in nanoseconds.
fn differ_ns(snapshot: &[u8], a: &Analysis) -> Option<u64> {
    let (mut uptime_ns, mut realtime_ns) = (None, None);
    for (_, clock) in fields(snapshot)?.iter().filter(|(number, _)| *number == 1) {
        let clock = fields(clock.bytes()?)?;
        let of =
            |wanted| clock.iter().find(|(number, _)| *number == wanted).and_then(|(_, value)| value.number());
        match of(1) {
            Some(CLOCK_MONOTONIC) => uptime_ns = of(2),
            Some(CLOCK_REALTIME) => realtime_ns = of(2),
            _ => {}
        }
    }
    let pair = a.meta.dumped_at;
    let boot = i128::from(pair.unix_ms) * 1_000_000 - i128::from(pair.uptime_ns.0);
    let other = i128::from(realtime_ns?) - i128::from(uptime_ns?);
    u64::try_from((boot - other).abs()).ok()
}

/// A field's value, as far as a merge needs it.
enum Value<'b> {
    Number(u64),
    Bytes(&'b [u8]),
    Fixed,
}

impl<'b> Value<'b> {
    fn number(&self) -> Option<u64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    fn bytes(&self) -> Option<&'b [u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

/// The fields of a message; `None` when the bytes are not a message.
fn fields(mut message: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = take_varint(&mut message)?;
        let mut take = |bytes: u64| message.split_off(..usize::try_from(bytes).ok()?);
        let value = match tag & 7 {
            0 => Value::Number(take_varint(&mut message)?),
            1 => take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = take_varint(&mut message)?;
                Value::Bytes(message.split_off(..usize::try_from(length).ok()?)?)
            }
            5 => take(4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        fields.push((tag >> 3, value));
    }
    Some(fields)
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

struct Reader<'r> {
    input: &'r mut dyn BufRead,
    offset: u64,
}

impl Reader<'_> {
    /// The next number; `None` at the end of the file.
    fn varint(&mut self) -> Result<Option<u64>, MergeError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let Some(&byte) = self.input.fill_buf()?.first() else {
                let cut = MergeError::NoTrace { offset: self.offset, what: "the file ends in a number" };
                return if shift == 0 { Ok(None) } else { Err(cut) };
            };
            self.input.consume(1);
            self.offset += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(Some(value));
            }
        }
        Err(MergeError::NoTrace { offset: self.offset, what: "a number of more than 64 bits" })
    }

    fn take(&mut self, length: u64, bytes: &mut Vec<u8>) -> Result<(), MergeError> {
        let read = io::Read::read_to_end(&mut io::Read::take(&mut *self.input, length), bytes)? as u64;
        self.offset += read;
        let cut = MergeError::NoTrace { offset: self.offset, what: "the file ends in a packet" };
        if read == length { Ok(()) } else { Err(cut) }
    }
}
