//! The links to crash SDKs with the SDKs themselves, on a JVM without a network: what each SDK sends of hangs
//! that earlier processes left.

use std::fs;

use anyhow::{Context, Result, ensure};
use loopbox_e2e::real_sdks::RealSdks;
use loopbox_setup::workspace::root;

#[test]
fn sentry_has_an_event_for_each_hang_and_its_own_for_an_anr() -> Result<()> {
    RealSdks::shared().test(&["SentryTest"]).map(drop)
}

#[test]
fn bugsnag_has_an_event_for_each_hang_and_its_own_for_an_anr() -> Result<()> {
    RealSdks::shared().test(&["BugsnagTest"]).map(drop)
}

#[test]
fn datadog_has_an_error_for_each_hang_and_the_digest_on_the_view_that_hangs() -> Result<()> {
    RealSdks::shared().test(&["DatadogTest"]).map(drop)
}

/// Robolectric runs unit tests of apps on the build machine, where there is no library for Android.
#[test]
fn status_under_robolectric_says_that_there_is_no_library() -> Result<()> {
    RealSdks::shared().test(&["NoLibraryTest"]).map(drop)
}

/// All SDKs send the same frames, so their frames are checked in the same way.
#[test]
fn acra_opentelemetry_and_xcrash_have_it_with_frames_that_r8_puts_back() -> Result<()> {
    let sdks = RealSdks::shared();
    let sent = sdks.test(&["AcraTest", "OpenTelemetryTest", "XcrashTest"])?.join("shrunk.txt");
    let (stack, retraced) = (fs::read_to_string(&sent)?, sdks.retrace(&sent)?);
    let source = fs::read_to_string(root().join("tests/real-sdks/app/com/example/shop/Checkout.java"))?;
    for (method, calls) in
        [("CardClient.post", "SystemClock.sleep(ms);"), ("PayButton.run", "authorise(ms);")]
    {
        let at = format!("com.example.shop.Checkout${method}(Checkout.java:");
        ensure!(!stack.contains(&at), "R8 has left {method} as it is: {stack}");
        let frame =
            retraced.split_once(&at).with_context(|| format!("no {method}: {retraced} of {stack}"))?.1;
        let line: usize = frame.split_once(')').context("no line")?.0.parse()?;
        ensure!(
            source.lines().nth(line - 1).is_some_and(|line| line.contains(calls)),
            "{method}: {retraced}"
        );
    }
    Ok(())
}
