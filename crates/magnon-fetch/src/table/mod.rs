//! The table of data sets: one entry each, one file of this folder for each kind of source.

mod citations;
mod directed;
mod entries;
mod geom_gcn;
mod ogb;
mod paper;
mod snap;

use crate::Entry;
use entries::entries;
use std::sync::LazyLock;

static DATASETS: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let kinds = [
        paper::ENTRIES,
        geom_gcn::ENTRIES,
        citations::ENTRIES,
        directed::ENTRIES,
        ogb::ENTRIES,
        snap::ENTRIES,
    ];
    kinds.concat()
});

/// All data sets that can be fetched by name.
pub fn datasets() -> &'static [Entry] {
    &DATASETS
}

/// The data set of a name or an alias. Case does not matter, nor do `-` and `_`.
pub fn find(name: &str) -> Option<&'static Entry> {
    let wanted = plain(name);
    datasets().iter().find(|entry| entry.names().any(|name| plain(name) == wanted))
}

/// A name without what people write in different ways.
pub(crate) fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::path::{Component, Path};

    #[test]
    fn names_are_found_and_not_taken_twice() {
        let mut seen = HashSet::new();
        for entry in datasets() {
            for name in entry.names() {
                assert!(seen.insert(plain(name)), "{name} twice");
                assert_eq!(find(name).unwrap().name, entry.name);
            }
        }
        assert_eq!(find("ARXIV").unwrap().name, "ogbn-arxiv");
        assert_eq!(find("cora-ml").unwrap().name, "cora_ml");
        assert!(find("nothing").is_none());
    }

    #[test]
    fn files_stay_in_their_folder_and_come_by_https() {
        let is_hex = |text: &str, digits: usize| {
            text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        };
        for entry in datasets() {
            assert!(!entry.files.is_empty() && entry.description.ends_with('.'), "{}", entry.name);
            assert!(Path::new(entry.name).components().count() == 1);
            let mut paths = HashSet::new();
            for file in entry.files {
                let mut parts = Path::new(file.path).components();
                assert!(parts.all(|part| matches!(part, Component::Normal(_))), "{}", file.path);
                assert!(paths.insert(file.path), "{} twice", file.path);
                assert!(file.address.starts_with("https://"), "{}", file.address);
                assert!(file.sha256.is_none_or(|sum| is_hex(sum, 64)), "{}", file.address);
                assert!(file.git_blob.is_none_or(|sum| is_hex(sum, 40)), "{}", file.address);
            }
        }
    }
}
