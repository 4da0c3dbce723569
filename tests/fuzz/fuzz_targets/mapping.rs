//! [`loopbox_fuzz::MAPPING`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::MAPPING.check(input);
});
