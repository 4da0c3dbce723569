//! When messages ended: no stack of a message stands for time after its end.

use loopbox_format::model::{MainState, Record, Token, Uptime};

/// The end of a message, or of what ran outside of messages: of the one at the dump, the instant that the report speaks of.
/// One that the history does not keep by name ended before the dump at least.
pub(super) fn message_end_ns(token: Token, main: &MainState, history: &[Record], dump_ns: Uptime) -> Uptime {
    match main {
        MainState::Running(running) if running.token == token => return running.as_of_ns,
        MainState::Outside(outside) if outside.token == token => return outside.as_of_ns,
        _ => {}
    }
    let mut details = history.iter().flat_map(|record| &record.details);
    let detail = details.find(|detail| detail.token == token);
    let unnamed = || history.iter().find(|record| record.first_token == token && record.count == 1);
    match detail {
        Some(detail) => detail.start_ns.plus(detail.wall_ns),
        None => unnamed().map_or(dump_ns, |record| record.start_ns.plus(record.work_ns)),
    }
}
