//! The folder of real data sets, for tests that read them.

use std::env::var_os;
use std::path::PathBuf;

/// The folder that `MAGNON_DATA` names. Without it a test says that it was left out. In CI that is an error, unless
/// `MAGNON_NO_DATA` says that the machine has no real data.
pub fn real_data() -> Option<PathBuf> {
    let folder = var_os("MAGNON_DATA").map(PathBuf::from);
    if folder.is_none() {
        let may_lack = var_os("CI").is_none() || var_os("MAGNON_NO_DATA").is_some();
        assert!(
            may_lack,
            "CI is set, but not MAGNON_DATA; without real data, set MAGNON_NO_DATA=1"
        );
        println!("left out: it needs real data, and MAGNON_DATA is not set");
    }
    folder
}
