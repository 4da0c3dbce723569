//! [`loopbox_fuzz::REPORT`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::REPORT.check(input);
});
