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
fn words(header: &str) -> Vec<String> {
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

/// Which columns of a table are source, target and weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EdgeColumns {
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
}

/// Finds source, target and, unless it is known, the weight by the headers. What could be meant in two
/// ways is refused.
pub(crate) fn edge_columns(names: &[&str], weight_known: bool) -> Result<EdgeColumns, String> {
    let meanings: Vec<Option<Meaning>> = names.iter().map(|name| meaning(name)).collect();
    let (source, target) = ends(names, &meanings)?;
    if weight_known {
        return Ok(EdgeColumns { source, target, weight: None });
    }
    let of = |wanted: Meaning| -> Vec<usize> {
        let free =
            |&k: &usize| k != source && k != target && meanings.get(k) == Some(&Some(wanted));
        (0..names.len()).filter(free).collect()
    };
    let (weights, amounts) = (of(Meaning::Weight), of(Meaning::Amount));
    let weight = match (&weights[..], &amounts[..]) {
        (&[weight], _) => Some(weight),
        ([], []) => None,
        ([], &[amount]) => Some(amount),
        (many @ [_, _, ..], _) | ([], many) => {
            let listed = listed(names, many);
            return Err(format!(
                "the columns {listed} could each be the weight; name one with --weight COLUMN, or \
                 give --unweighted"
            ));
        }
    };
    Ok(EdgeColumns { source, target, weight })
}

/// Source and target: the two columns that are called so, or the only two that are nothing else.
fn ends(names: &[&str], meanings: &[Option<Meaning>]) -> Result<(usize, usize), String> {
    let of = |wanted: Meaning| -> Vec<usize> {
        let all: Vec<usize> =
            (0..names.len()).filter(|&k| meanings.get(k) == Some(&Some(wanted))).collect();
        // Of `source_id` and `source_name` the id is meant.
        let ids: Vec<usize> = all.iter().copied().filter(|&k| is_id(names[k])).collect();
        if all.len() > 1 && ids.len() == 1 { ids } else { all }
    };
    let asked = |problem: String| {
        Err(format!("{problem}; name them with --source COLUMN and --target COLUMN"))
    };
    match (&of(Meaning::Source)[..], &of(Meaning::Target)[..]) {
        (&[source], &[target]) => return Ok((source, target)),
        ([], []) => {}
        (sources, targets) if sources.len() > 1 || targets.len() > 1 => {
            let (sources, targets) = (listed(names, sources), listed(names, targets));
            return asked(format!(
                "source could be {sources} and target {targets}, which is not clear"
            ));
        }
        // One end is named; the other is the only other column that could be one.
        (&[source], _) => {
            if let [target] = open(meanings, Some(source))[..] {
                return Ok((source, target));
            }
        }
        (_, &[target]) => {
            if let [source] = open(meanings, Some(target))[..] {
                return Ok((source, target));
            }
        }
        _ => {}
    }
    match open(meanings, None)[..] {
        [source, target] => Ok((source, target)),
        _ => asked(format!(
            "it is not clear which of the columns {} are source and target",
            names.join(", ")
        )),
    }
}

/// Columns that may be an end of an edge, other than `taken`.
fn open(meanings: &[Option<Meaning>], taken: Option<usize>) -> Vec<usize> {
    let fits = |&(k, meaning): &(usize, &Option<Meaning>)| {
        let plain = matches!(
            meaning,
            None | Some(Meaning::Id | Meaning::Label | Meaning::Source | Meaning::Target)
        );
        plain && Some(k) != taken
    };
    meanings.iter().enumerate().filter(fits).map(|(k, _)| k).collect()
}

/// Whether a header speaks of an id.
fn is_id(name: &str) -> bool {
    words(name).iter().skip(1).any(|word| word == "id") || name.to_lowercase().ends_with("id")
}

fn listed(names: &[&str], columns: &[usize]) -> String {
    let names: Vec<&str> = columns.iter().filter_map(|&k| names.get(k).copied()).collect();
    names.join(", ")
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

    #[test]
    fn columns_of_edges() {
        let find = |header: &str| {
            let names: Vec<&str> = header.split(',').collect();
            edge_columns(&names, false).map(|c| (c.source, c.target, c.weight))
        };
        assert_eq!(find("source,target"), Ok((0, 1, None)));
        assert_eq!(find("target,source,weight"), Ok((1, 0, Some(2))));
        assert_eq!(find("timestamp,sender,receiver,amount"), Ok((1, 2, Some(3))));
        assert_eq!(find("id,src,dst"), Ok((1, 2, None)));
        assert_eq!(find("node1,node2,weight,count"), Ok((0, 1, Some(2))));
        assert_eq!(find("source_id,source_name,target_id,target_name"), Ok((0, 2, None)));
        assert_eq!(find("apple,pear,weight"), Ok((0, 1, Some(2))));
        assert_eq!(find("from,pear"), Ok((0, 1, None)));
        assert!(find("a,b,c").unwrap_err().contains("--source COLUMN"));
        assert!(find("from,to,amount,count").unwrap_err().contains("--weight COLUMN"));
        assert!(find("from,sender,to").unwrap_err().contains("source could be from, sender"));
    }
}
