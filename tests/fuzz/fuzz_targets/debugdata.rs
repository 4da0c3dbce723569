//! [`loopbox_fuzz::DEBUGDATA`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::DEBUGDATA.check(input);
});
