//! [`loopbox_fuzz::OFFSETS`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::OFFSETS.check(input);
});
