//! [`loopbox_fuzz::SEED`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::SEED.check(input);
});
