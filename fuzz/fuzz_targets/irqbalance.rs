#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| wireproof_fuzz::irqbalance(input));
