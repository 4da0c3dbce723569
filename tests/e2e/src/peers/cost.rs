//! What a peer (another library that watches the main thread) costs: time and memory for each message, and
//! wake-ups while the app rests.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab_reports::LIMIT;
use tempfile::tempdir;

use super::Bed;

/// What one message costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Main's CPU time in nanoseconds.
    pub ns: f64,
    /// The bytes that are allocated in Java.
    pub bytes: f64,
}

/// The costs of each batch of each process, by the peer's name. The name `none` means no watcher, and `empty`
/// means an empty Printer.
#[derive(Debug, Default)]
pub struct Costs(BTreeMap<String, Vec<Cost>>);

impl Costs {
    /// Runs one more process, which measures each of the peers in turn, `rounds` times.
    ///
    /// # Errors
    /// When it does not run to its end.
    pub fn add(&mut self, bed: &Bed, peers: &[&str], messages: u32, rounds: u32) -> Result<()> {
        let folder = tempdir()?;
        let app = bed.app("peers.Cost", folder.path());
        let app = app.argument(messages.to_string()).argument(rounds.to_string());
        let app = peers.iter().fold(app, |app, peer| app.argument(*peer));
        let ended = app.start()?.finish(Duration::from_mins(20))?.success()?;
        for line in &ended.lines {
            let words: Vec<_> = line.split_whitespace().collect();
            if let ["batch", way, ns, bytes, ..] = words[..] {
                let cost = Cost { ns: ns.parse()?, bytes: bytes.parse()? };
                self.0.entry(way.to_owned()).or_default().push(cost);
            }
        }
        ensure!(self.0.contains_key("none"), "no base line: {:?}", ended.lines);
        Ok(())
    }

    /// The medians of the costs with the peer `way`; `None` where it did not install.
    #[must_use]
    pub fn of(&self, way: &str) -> Option<Cost> {
        let all = self.0.get(way)?;
        let of = |figure: fn(&Cost) -> f64| median(all.iter().map(figure).collect());
        Some(Cost { ns: of(|cost| cost.ns), bytes: of(|cost| cost.bytes) })
    }

    /// What the peer `way` adds to the cost of a message: the cost with the peer, less the cost without any
    /// watcher.
    #[must_use]
    pub fn added(&self, way: &str) -> Option<Cost> {
        let (way, none) = (self.of(way)?, self.of("none")?);
        Some(Cost { ns: way.ns - none.ns, bytes: way.bytes - none.bytes })
    }
}

/// The middle value; 0 when there are no values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Wake-ups a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Woken {
    /// Wake-ups of the main thread.
    pub main: f64,
    /// Wake-ups of all threads together.
    pub all: f64,
}

impl Woken {
    /// Counts the wake-ups of an app that does nothing. `peer` watches it; with `none` nothing does. `None`
    /// where the peer does not install.
    ///
    /// # Errors
    /// When the process does not run to its end.
    pub fn count(bed: &Bed, peer: &str, seconds: u32) -> Result<Option<Self>> {
        let folder = tempdir()?;
        let app = bed.app("peers.Idle", folder.path()).argument(peer);
        let app = app.argument((seconds * 1_000).to_string());
        let limit = LIMIT + Duration::from_secs(u64::from(seconds));
        let ended = app.start()?.finish(limit)?.success()?;
        if ended.lines.iter().any(|line| line.starts_with("SCRIPT refused")) {
            return Ok(None);
        }
        let line = ended.lines.iter().find(|line| line.starts_with("SCRIPT woken ")).context("no count")?;
        let numbers: Vec<f64> = line.split_whitespace().skip(3).map(str::parse).collect::<Result<_, _>>()?;
        let [main, all] = numbers[..] else { anyhow::bail!("not two counts: {line}") };
        let seconds = f64::from(seconds);
        Ok(Some(Self { main: main / seconds, all: all / seconds }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_is_the_difference_of_medians() {
        let cost = |ns| Cost { ns, bytes: ns / 2.0 };
        let of = |all: [f64; 3]| all.map(cost).to_vec();
        let costs =
            Costs([("none".into(), of([10.0, 12.0, 900.0])), ("a".into(), of([20.0, 32.0, 30.0]))].into());
        assert_eq!(costs.added("a"), Some(Cost { ns: 18.0, bytes: 9.0 }));
        assert_eq!(costs.added("b"), None);
    }
}
