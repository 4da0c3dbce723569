//! [`loopbox_fuzz::DEX`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::DEX.check(input);
});
