//! Additional load on the machine during a stress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use clap::Args;

/// How busy the machine is.
#[derive(Debug, Args)]
pub(super) struct LoadArgs {
    /// Busy loops that run at the same time; with at least one, also a thread that keeps writing to a lot of
    /// memory
    #[arg(long, default_value_t = 0)]
    busy: u32,
    /// MiB that the thread writes to
    #[arg(long, default_value_t = 2_048)]
    hog_mib: usize,
}

impl LoadArgs {
    /// Starts the load; it ends when this value is dropped.
    pub(super) fn start(&self) -> Load {
        Load::start(self.busy, self.hog_mib)
    }
}

/// Other work on the machine. It ends when this value is dropped.
pub(super) struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn start(busy: u32, hog_mib: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spawn = |work: fn(&AtomicBool, usize)| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || work(&stop, hog_mib))
        };
        let mut threads: Vec<_> = (0..busy).map(|_| spawn(spin)).collect();
        if busy > 0 {
            threads.push(spawn(hog));
        }
        Self { stop, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn spin(stop: &AtomicBool, _: usize) {
    while !stop.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

/// Writes to every page of its memory in turn, which evicts the data of other programs from the caches.
fn hog(stop: &AtomicBool, mib: usize) {
    const PAGE: usize = 4_096;
    let mut memory = vec![0_u8; mib << 20];
    let mut round = 0_u8;
    while !stop.load(Ordering::Relaxed) {
        round = round.wrapping_add(1);
        for (at, page) in memory.chunks_mut(PAGE).enumerate() {
            page[0] = round;
            // Not a busy loop more: those are counted.
            if at % 1_024 == 0 {
                std::thread::sleep(Duration::from_millis(1));
                if stop.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
        std::hint::black_box(&mut memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_ends_with_its_value() {
        let load = Load::start(2, 1);
        let stop = Arc::clone(&load.stop);
        drop(load);
        assert_eq!(Arc::strong_count(&stop), 1, "every thread has gone");
    }
}
