//! [`loopbox_fuzz::DESK`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::DESK.check(input);
});
