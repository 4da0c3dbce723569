//! [`loopbox_fuzz::TRACE`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::TRACE.check(input);
});
