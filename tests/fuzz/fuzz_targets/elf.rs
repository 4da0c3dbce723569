//! [`loopbox_fuzz::ELF`] under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    loopbox_fuzz::ELF.check(input);
});
