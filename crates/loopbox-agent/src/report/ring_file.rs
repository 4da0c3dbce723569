//! The thread that copies the ring into its file. It is the only one that waits for the disk while messages
//! run. The main thread writes memory. The stall monitor only asks for the copies: if it waited itself, it
//! would mistake the wait for a freeze of the process and forward a signal too late. Because this thread may
//! wait, it also checks the app's switch.

use crate::session::Session;
use crate::sys::{clock, thread};
use loopbox_format::model::{Feature, Uptime};
use loopbox_store::{Mirror, Volatile};
use std::sync::Arc;

/// How long to wait when the file could not be made (for example because the user has not unlocked the device
/// yet, or the disk is full). The next copy after that time tries again. The time doubles with each failure.
const RETRY_NS: u64 = 10_000_000_000;
const MAX_RETRY_NS: u64 = 320_000_000_000;

/// Starts the thread. It is not attached to the VM.
pub(crate) fn start(session: &Arc<Session>, mirror: Mirror) -> std::io::Result<()> {
    let session = Arc::clone(session);
    thread::start(c"loopbox-mirror", 64 << 10, Box::new(move || run(&session, mirror)))
}

fn run(session: &Session, mut mirror: Mirror) {
    let shared = &session.shared;
    // Before the disk: the main thread would like to know.
    session.started_ns();
    let (mut retry_at_ns, mut retry_ns) = (Uptime::ZERO, RETRY_NS);
    let mut on_disk = false;
    while !shared.stopped() {
        // What is asked for from here on is for the next turn.
        let asked = shared.copies.asked();
        let Some(inside) = session.gate.enter() else { break };
        mirror.note_clocks(clock::pair());
        if on_disk {
            let copied = mirror.copy();
            if copied.is_err() {
                set_feature(session, &copied);
            }
        } else if clock::now_ns() >= retry_at_ns {
            let attached = mirror.attach();
            on_disk = attached.is_ok();
            set_feature(session, &attached);
            retry_at_ns = clock::now_ns().plus(retry_ns);
            retry_ns = (retry_ns * 2).min(MAX_RETRY_NS);
        }
        drop(inside);
        if session.kill_switch.check(clock::now_ns()) {
            session.wake_worker();
        }
        shared.copies.wait(asked, || shared.stopped());
    }
}

fn set_feature(session: &Session, on_disk: &Result<(), Volatile>) {
    let detail = match on_disk {
        Ok(()) => format!("{} bytes", session.reader.size()),
        Err(reason) => format!("only in memory: {reason}"),
    };
    if session.features.update(Feature::Ring, on_disk.is_ok(), detail) {
        session.wake_worker();
    }
}
