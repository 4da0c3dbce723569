//! What the end-to-end tests share: one prepared launcher per testbed, and the code that several of the tests
//! run.

pub mod causes;
pub mod exhausted;
pub mod hangs;
pub mod kill;
pub mod levels;
pub mod libraries;
pub mod links;
pub mod machine;
pub mod matrix;
pub mod monitor;
pub mod peers;
pub mod platform_names;
pub mod real_classes;
pub mod real_sdks;
pub mod scenario;
pub mod source_lines;
pub mod taking;
pub mod trace;
pub mod warned;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use anyhow::Result;
use lab_launch::{Build, Launcher};

/// An argument for an app that hangs until a signal comes. Without this argument a slow machine would write a
/// report of the hang before the signal.
pub const HANG_REPORT_LATE: &str = "hangMs=60000";

/// The launcher of a testbed. The first call prepares it, for all tests of the program.
///
/// # Errors
/// When the testbed or what runs on it cannot be built.
pub fn launcher(testbed: &str) -> Result<Arc<Launcher>> {
    static READY: LazyLock<Mutex<HashMap<String, Arc<Launcher>>>> = LazyLock::new(Mutex::default);
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(launcher) = ready.get(testbed) {
        return Ok(Arc::clone(launcher));
    }
    let launcher = Arc::new(Launcher::new(testbed, Build::Dev)?);
    ready.insert(testbed.to_owned(), Arc::clone(&launcher));
    Ok(launcher)
}
