//! [`loopbox_fuzz::STALLS`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::STALLS.check(input);
});
