//! [`loopbox_fuzz::MAPS`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::MAPS.check(input);
});
