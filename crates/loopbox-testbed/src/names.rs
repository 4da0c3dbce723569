//! The testbeds that exist, and those that a test runs on.

use std::path::PathBuf;

use anyhow::Result;
use loopbox_setup::progress::Progress;

use crate::levels::Levels;
use crate::name::Framework;
use crate::{local, paths, spec};

/// Names of all testbeds.
///
/// # Errors
/// When `tests/testbed` cannot be read.
pub fn names() -> Result<Vec<String>> {
    let mut names = spec::names(&paths::specs())?;
    names.extend(local::folder().map(|_| local::LOCAL.to_owned()));
    Ok(names)
}

/// The frameworks that a testbed can have in place of its usual one. The testbed's name then has the
/// framework as a suffix: `art11-fw35`.
///
/// # Errors
/// When `tests/testbed` cannot be read.
pub fn levels() -> Result<Vec<Framework>> {
    Ok(Levels::load(&paths::specs())?.all())
}

/// Names of the testbeds with another level's framework that are part of every test run. Downloads what these
/// runs need of the levels.
///
/// # Errors
/// When `tests/testbed` cannot be read, or a level cannot be had.
pub fn level_testbeds_in_tests() -> Result<Vec<String>> {
    let levels = Levels::load(&paths::specs())?;
    levels.fetch_those_in_tests(&Progress::new("levels"))?;
    Ok(levels.testbeds_in_tests().collect())
}

/// The jar with the framework's real class files of an API level, reduced to the classes that testbeds need.
///
/// # Errors
/// When there is no such level, or its jar cannot be had.
pub fn level_classes(api: u32) -> Result<PathBuf> {
    let level = Levels::load(&paths::specs())?.level(Framework { api, queue: None })?;
    level.kept(&Progress::new("levels"))
}

/// The testbeds that a test runs on: its usual ones, those that `LOOPBOX_TESTBEDS` adds, separated by commas
/// (`LOOPBOX_TESTBEDS=art14`), and [`LOCAL`](crate::LOCAL) if it exists. Each occurs once. With `only:`
/// before the names (`LOOPBOX_TESTBEDS=only:local`) the test runs on those alone.
#[must_use]
pub fn to_test_on(usual: &[&str]) -> Vec<String> {
    let local = local::folder().map(|_| local::LOCAL);
    usual_and_named(usual, &std::env::var("LOOPBOX_TESTBEDS").unwrap_or_default(), local)
}

fn usual_and_named(usual: &[&str], named: &str, local: Option<&str>) -> Vec<String> {
    let (usual, named, local) = match named.strip_prefix("only:") {
        Some(only) => (&[][..], only, None),
        None => (usual, named, local),
    };
    let mut testbeds: Vec<String> = Vec::new();
    for testbed in usual.iter().copied().chain(named.split(',')).map(str::trim).chain(local) {
        if !testbed.is_empty() && !testbeds.iter().any(|known| known == testbed) {
            testbeds.push(testbed.to_owned());
        }
    }
    testbeds
}

#[cfg(test)]
mod tests {
    use super::usual_and_named;

    #[test]
    fn named_testbeds_are_added_to_the_usual_ones() {
        assert_eq!(usual_and_named(&["art10", "art11"], "", None), ["art10", "art11"]);
        assert_eq!(usual_and_named(&["art11"], "art14, art11,,art10", None), ["art11", "art14", "art10"]);
        assert_eq!(usual_and_named(&["art11"], "local", Some("local")), ["art11", "local"]);
        assert_eq!(
            usual_and_named(&["art10", "art11"], "only:art14,local", Some("local")),
            ["art14", "local"]
        );
    }
}
