//! [`loopbox_fuzz::RING`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::RING.check(input);
});
