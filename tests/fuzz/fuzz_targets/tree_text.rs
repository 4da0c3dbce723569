//! [`loopbox_fuzz::TREE_TEXT`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::TREE_TEXT.check(input);
});
