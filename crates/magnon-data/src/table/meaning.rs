//! What the header of a column says about it.

/// What a column may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The name of a node.
    Id,
    /// Where an edge starts.
    Source,
    /// Where an edge ends.
    Target,
    /// The weight of an edge, by its plain name.
    Weight,
    /// A quantity, which may be meant as the weight.
    Amount,
    /// When something was.
    Time,
    /// The class of a node.
    Label,
    /// The part of a split.
    Part,
}

/// Words of headers and what they mean. A header means the first word of it that is found here.
const WORDS: &[(Meaning, &[&str])] = &[
    (
        Meaning::Source,
        &[
            "source", "src", "from", "sender", "origin", "start", "head", "citing", "citer",
            "payer", "follower", "exporter", "caller", "giver", "rater", "reporter", "u", "i",
        ],
    ),
    (
        Meaning::Target,
        &[
            "target",
            "tgt",
            "to",
            "receiver",
            "recipient",
            "destination",
            "dest",
            "dst",
            "end",
            "tail",
            "cited",
            "payee",
            "followee",
            "followed",
            "importer",
            "callee",
            "taker",
            "ratee",
            "partner",
            "v",
            "j",
        ],
    ),
    (Meaning::Weight, &["weight", "weights", "w", "wt"]),
    (
        Meaning::Amount,
        &[
            "amount",
            "value",
            "count",
            "counts",
            "volume",
            "strength",
            "capacity",
            "flow",
            "freq",
            "frequency",
            "rating",
            "quantity",
            "qty",
            "total",
            "sum",
            "trips",
            "score",
        ],
    ),
    (
        Meaning::Time,
        &[
            "time",
            "timestamp",
            "date",
            "datetime",
            "year",
            "month",
            "day",
            "epoch",
            "step",
            "unixtime",
        ],
    ),
    (
        Meaning::Label,
        &["label", "labels", "class", "classes", "y", "category", "subject", "community"],
    ),
    (Meaning::Part, &["split", "part", "fold"]),
    (
        Meaning::Id,
        &["id", "ids", "node", "nodes", "vertex", "name", "key", "index", "idx", "nodeid", "uid"],
    ),
];

/// What may follow such a word without a gap: `FromNodeId`, `id1`.
const ENDS: [&str; 9] = ["", "id", "node", "nodeid", "name", "index", "idx", "1", "2"];

/// The words of a header, in small letters.
pub(super) fn words(header: &str) -> Vec<String> {
    let lower = header.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// What one word of a header means.
fn of_word(word: &str) -> Option<Meaning> {
    let fits = |known: &str| {
        let end = word.strip_prefix(known).filter(|end| ENDS.contains(end));
        // One letter and a number is a name.
        end.is_some_and(|end| end.is_empty() || known.len() > 1)
    };
    let found = WORDS.iter().find(|(_, words)| words.iter().any(|known| fits(known)));
    found.map(|&(meaning, _)| meaning)
}

/// What a header says about its column: `from_id`, `SourceNode`, `id1`, `Amount (USD)`. The first word
/// decides, and else the last, as in `account_from`. Names such as `node_7` say nothing.
pub(crate) fn meaning(header: &str) -> Option<Meaning> {
    let words = words(header);
    let numbered = |word: &String| {
        word.bytes().all(|byte| byte.is_ascii_digit()) && word != "1" && word != "2"
    };
    if words.iter().skip(1).any(numbered) {
        return None;
    }
    let first = words.first().and_then(|word| of_word(word));
    // `user_id` and `account_from` say in their last word what they are.
    first.or_else(|| words.last().and_then(|word| of_word(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_understood() {
        for (header, expected) in [
            ("FromNodeId", Some(Meaning::Source)),
            ("source page", Some(Meaning::Source)),
            ("account_from", Some(Meaning::Source)),
            ("Recipient", Some(Meaning::Target)),
            ("Amount (USD)", Some(Meaning::Amount)),
            ("user_id", Some(Meaning::Id)),
            ("node_1", Some(Meaning::Id)),
            ("node_7", None),
            ("u1", None),
            ("anna", None),
            ("TIMESTAMP", Some(Meaning::Time)),
            ("", None),
        ] {
            assert_eq!(meaning(header), expected, "{header}");
        }
    }
}
