//! [`loopbox_fuzz::TREE`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::TREE.check(input);
});
