//! The ring as a recorder uses it: one writer per thread, readers, marks.

mod display_frames;
mod fuse;
mod main_writer;
mod mirror;
mod reader;
mod region;
mod saved_frames;
mod shared;
mod worker;

pub use fuse::RingFuse;
pub use main_writer::MainWriter;
pub use mirror::Mirror;
pub use reader::RingReader;
pub use worker::WorkerWriter;

use crate::identity::Identity;
use crate::layout::{Geometry, Header, Kind, Layout};
use crate::memory::Memory;
use crate::trees::Fidelity;
use display_frames::FramesWriter;
use loopbox_format::model::Token;
use region::RegionWriter;
use saved_frames::WaitingFrames;
use shared::Shared;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// The parameters of a ring.
#[derive(Debug, Clone)]
pub struct RingOptions {
    /// The app's private directory for rings; [`Mirror::attach`] makes it where it is missing.
    pub dir: PathBuf,
    /// The process that the ring belongs to.
    pub identity: Identity,
    /// The number and size of the slots.
    pub geometry: Geometry,
}

impl RingOptions {
    /// A ring of the default size.
    pub fn new(dir: impl Into<PathBuf>, identity: Identity) -> Self {
        Self { dir: dir.into(), identity, geometry: Geometry::default() }
    }
}

/// A ring and all its handles. Take it apart, and give each thread its part.
#[derive(Debug)]
pub struct Ring {
    /// The part for the main thread.
    pub main: MainWriter,
    /// The part for the worker thread.
    pub worker: WorkerWriter,
    /// The part for the sampler thread.
    pub fuse: RingFuse,
    /// The part for the thread that writes the report.
    pub reader: RingReader,
    /// The part for the thread that writes the ring's file.
    pub mirror: Mirror,
}

impl Ring {
    /// Makes the ring of this process in memory. It opens no file, so the main thread may call it. It cannot
    /// fail: in place of an impossible geometry it uses the default one. Once [`Mirror::attach`] has made the
    /// file, what was recorded before the last [`Mirror::copy`] survives the process.
    pub fn create(options: &RingOptions) -> Self {
        let layout = Layout::of(&options.geometry).unwrap_or_else(|_| Layout::default_geometry());
        let header = Header { identity: options.identity, layout };
        let memory = Memory::new(&header);
        let (file, discarded) = (OnceLock::new(), AtomicBool::new(false));
        let shared = Arc::new(Shared { memory, frames: WaitingFrames::default(), header, file, discarded });
        let region = |kind| RegionWriter::new(&shared, kind);
        let main = MainWriter {
            current: region(Kind::Current),
            open: region(Kind::Open),
            open_details: region(Kind::OpenDetails),
            records: region(Kind::Records),
            token: Token::NONE,
            over: false,
            end_is_recorded: false,
        };
        let worker = WorkerWriter {
            running: region(Kind::Running),
            outside: region(Kind::Outside),
            running_tree: region(Kind::RunningTree),
            tree_pages: region(Kind::TreePages),
            trees: 0,
            last_kept: (Token::NONE, Fidelity::Whole),
            meta: region(Kind::Meta),
            features: region(Kind::Features),
            pending: region(Kind::Pending),
            statistics: region(Kind::Statistics),
            warnings: region(Kind::Warnings),
            breadcrumbs: region(Kind::Breadcrumbs),
            frames: FramesWriter::new(&shared),
        };
        let fuse = RingFuse { shared: Arc::clone(&shared) };
        let mirror = Mirror::new(&shared, options.dir.clone());
        Self { main, worker, fuse, reader: RingReader { shared }, mirror }
    }
}
