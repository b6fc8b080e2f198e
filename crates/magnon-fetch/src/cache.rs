//! Where data sets lie, and which of them are there.

use crate::{Entry, find, seal::Seal};
use std::env;
use std::path::{Path, PathBuf};

/// The folder that holds one folder for each data set: `MAGNON_CACHE` where it is set, else
/// `magnon` in the cache folder of the platform. That is `XDG_CACHE_HOME` or `~/.cache`,
/// `~/Library/Caches` on macOS and `LOCALAPPDATA` on Windows; without a home, the folder for
/// temporary files.
pub fn cache_folder() -> PathBuf {
    folder_from(|name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
}

fn folder_from(variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    if let Some(folder) = variable("MAGNON_CACHE") {
        return folder;
    }
    let platform = if cfg!(windows) {
        variable("LOCALAPPDATA")
            .or_else(|| variable("USERPROFILE").map(|home| home.join("AppData").join("Local")))
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library").join("Caches"))
    } else {
        // By the specification, a relative path counts as none.
        variable("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| variable("HOME").map(|home| home.join(".cache")))
    };
    platform.unwrap_or_else(env::temp_dir).join("magnon")
}

/// The folder of a data set that is there, complete and verified. The network is not asked.
pub fn cached(name: &str) -> Option<PathBuf> {
    find(name)?.cached(&cache_folder())
}

impl Entry {
    /// The folder of this data set in a cache, where it is complete and verified. Files without a
    /// known checksum count when they were fetched, and not when they were put there by hand.
    pub fn cached(&self, cache: &Path) -> Option<PathBuf> {
        let folder = cache.join(self.name);
        let mut seal = Seal::open(&folder);
        let whole = self.files.iter().all(|file| seal.holds(file).unwrap_or(false));
        // Only saves hashing the next time, so that it does not matter where it fails.
        let _ = seal.save();
        whole.then_some(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> PathBuf {
        folder_from(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_variable_comes_first() {
        assert_eq!(with(&[("MAGNON_CACHE", "here"), ("HOME", "/h")]), PathBuf::from("here"));
    }

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn the_platforms_folder_comes_next() {
        let both = [("XDG_CACHE_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(with(&both), PathBuf::from("/x/magnon"));
        assert_eq!(with(&[("HOME", "/h")]), PathBuf::from("/h/.cache/magnon"));
        let relative = [("XDG_CACHE_HOME", "x"), ("HOME", "/h")];
        assert_eq!(with(&relative), PathBuf::from("/h/.cache/magnon"));
        assert_eq!(with(&[]), env::temp_dir().join("magnon"));
    }
}
