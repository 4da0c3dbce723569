//! Every link to a crash SDK does what it should, and nothing more.

use anyhow::Result;
use lab_launch::{Launcher, java_below};
use loopbox_e2e::links;
use loopbox_setup::workspace::{root, target};
use loopbox_testbed::to_test_on;

#[test]
fn crash_sdks_get_the_reports_that_belong_to_their_events() -> Result<()> {
    for testbed in to_test_on(&["art10", "art11"]) {
        let tests = root().join("tests");
        let mut sources = java_below(&[root().join("jni-glue/integrations")])?;
        sources.extend(
            ["Links", "LogRecords", "SentryClient"].map(|name| tests.join(format!("integrate/{name}.java"))),
        );
        let scenario = ["Options", "Phone", "PrintingListener", "Script"];
        sources.extend(scenario.map(|name| tests.join(format!("app/scenario/{name}.java"))));
        let jar = target().join(format!("apps/{testbed}-links.jar"));
        let launcher = Launcher::of_sources(&testbed, &sources, jar)?;
        links::check(&|| launcher.app("integrate.Links"), testbed != "art10")?;
    }
    Ok(())
}
