//! All fuzz targets in one program; the variable `MAGNON_FUZZ` names the one that runs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use magnon_fuzz::Target;
use std::sync::OnceLock;

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(|input: &[u8]| {
    TARGET.get_or_init(Target::chosen).run(input);
});
