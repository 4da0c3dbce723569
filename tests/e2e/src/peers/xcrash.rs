//! xCrash with its native library, which is linked for Android.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use lab_launch::with_foreign_library;
use loopbox_setup::cache::{Cache, Key};
use loopbox_setup::jar;
use loopbox_setup::workspace::{root, target};
use loopbox_testbed::Testbed;

use crate::real_sdks;

/// The package, by its name in `sdks.toml`.
pub(super) const PACKAGE: &str = "com.iqiyi.xcrash:xcrash-android-lib@aar";

/// The library and the program that a crash starts, as an x86-64 device has them.
const FILES: [&str; 2] = ["libxcrash.so", "libxcrash_dumper.so"];

/// The name of the app's process: xCrash takes SIGQUIT in a process that has the name of its package.
pub(super) const PROCESS: &str = "com.example.shop";

/// xCrash's native part.
#[derive(Debug)]
pub(super) struct Native {
    /// The folder with its library.
    pub(super) folder: PathBuf,
    /// A testbed in which the library loads.
    pub(super) testbed: Testbed,
}

impl Native {
    pub(super) fn ensure(testbed: &Testbed) -> Result<Self> {
        let key = Key::new("xcrash", 1).with(&real_sdks::version(PACKAGE)?);
        let folder = Cache::open(&target().join("apps/cache"))?.step("xcrash", &key, |out| {
            let archive = real_sdks::file(PACKAGE)?;
            for file in FILES {
                let bytes = jar::read_entry(&archive, &format!("jni/x86_64/{file}"))?;
                fs::write(out.join(file), bytes).with_context(|| format!("cannot write {file}"))?;
            }
            Ok(())
        })?;
        let derived = target().join("apps/xcrash").join(&testbed.manifest.name);
        let sources = root().join("tests/peers/shim");
        let testbed = with_foreign_library(testbed, &folder.join(FILES[0]), &sources, &derived)?;
        Ok(Self { folder, testbed })
    }
}
