//! Configurations in JSON, read strictly: an unknown key is an error that names the nearest one.

use serde::de::DeserializeOwned;

/// Reads a configuration. Unknown keys are errors of the types themselves; here the nearest known one
/// is put beside them.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| with_nearest(&error.to_string()))
}

/// Adds the nearest known key to the words "unknown field `a`, expected one of `b`, `c`".
fn with_nearest(problem: &str) -> String {
    let words: Vec<&str> = problem.split('`').skip(1).step_by(2).collect();
    match &words[..] {
        [unknown, known @ ..] if problem.contains("unknown") => {
            match nearest(unknown, known.iter().copied()) {
                Some(near) => format!("{problem}; did you mean `{near}`?"),
                None => problem.to_owned(),
            }
        }
        _ => problem.to_owned(),
    }
}

/// The word that takes the fewest changes of letters, where these are few.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = 1 + word.chars().count() / 3;
    let best = known.map(|other| (distance(word, other), other)).min_by_key(|(far, _)| *far);
    best.filter(|(far, _)| *far <= most).map(|(_, other)| other)
}

/// Letters that are put in, left out or replaced on the shortest way from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_named() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(nearest("hiden", ["hidden", "dropout"].into_iter()), Some("hidden"));
        assert_eq!(nearest("zzz", ["hidden", "dropout"].into_iter()), None);
        let problem = "unknown field `feature-norm`, expected one of `reverse`, `feature_norm`";
        assert!(with_nearest(problem).ends_with("did you mean `feature_norm`?"));
    }
}
