//! The links to crash SDKs with the SDKs themselves, on a JVM and off line: what each SDK sends of hangs that earlier processes
//! left.

use anyhow::Result;
use loopbox_e2e::real_sdks::RealSdks;

#[test]
fn sentry_has_an_event_for_each_hang_and_its_own_for_an_anr() -> Result<()> {
    RealSdks::shared().test(&["SentryTest"])
}

#[test]
fn bugsnag_has_an_event_for_each_hang_and_none_for_an_anr() -> Result<()> {
    RealSdks::shared().test(&["BugsnagTest"])
}

#[test]
fn acra_has_a_silent_report_for_each_hang_and_crashes_nothing_of_it() -> Result<()> {
    RealSdks::shared().test(&["AcraTest"])
}

#[test]
fn datadog_has_an_error_for_each_hang_and_the_digest_on_the_view_that_hangs() -> Result<()> {
    RealSdks::shared().test(&["DatadogTest"])
}

#[test]
fn opentelemetry_has_a_record_for_each_hang_and_xcrash_a_section() -> Result<()> {
    RealSdks::shared().test(&["OpenTelemetryTest", "XcrashTest"])
}
