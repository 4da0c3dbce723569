//! [`loopbox_fuzz::LOOPER`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::LOOPER.check(input);
});
