//! The names of the framework that the recorder and its reports use are in the real class files.

use anyhow::Result;
use loopbox_e2e::platform_names::{IN_TESTS, faults};

#[test]
fn the_names_of_each_level_are_those_of_its_class_files() -> Result<()> {
    let faults = IN_TESTS.map(faults).into_iter().collect::<Result<Vec<_>>>()?.concat();
    assert_eq!(faults, [""; 0]);
    Ok(())
}
