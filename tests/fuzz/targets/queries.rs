#![no_main]

#[allow(dead_code)]
#[path = "../../beating/parsers.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| parsers::queries(bytes));
