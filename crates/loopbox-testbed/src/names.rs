//! Which testbeds there are, and which of them a test runs on.

use anyhow::Result;

use crate::paths;
use crate::spec;

/// Names of all testbeds.
///
/// # Errors
/// When `tests/testbed` cannot be read.
pub fn names() -> Result<Vec<String>> {
    spec::names(&paths::specs())
}

/// The testbeds that a test runs on: its usual ones, and those that `LOOPBOX_TESTBEDS` names beside them, with commas in
/// between (`LOOPBOX_TESTBEDS=art14`). Each once.
#[must_use]
pub fn to_test_on(usual: &[&str]) -> Vec<String> {
    usual_and_named(usual, &std::env::var("LOOPBOX_TESTBEDS").unwrap_or_default())
}

fn usual_and_named(usual: &[&str], named: &str) -> Vec<String> {
    let mut testbeds: Vec<String> = Vec::new();
    for testbed in usual.iter().copied().chain(named.split(',')).map(str::trim) {
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
    fn named_testbeds_come_beside_the_usual_ones() {
        assert_eq!(usual_and_named(&["art10", "art11"], ""), ["art10", "art11"]);
        assert_eq!(usual_and_named(&["art11"], "art14, art11,,art10"), ["art11", "art14", "art10"]);
    }
}
