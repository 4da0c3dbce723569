//! [`loopbox_fuzz::VIEWS`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::VIEWS.check(input);
});
