//! Which columns of a table of edges are source, target and weight.

use super::meaning::words;
use super::{Meaning, find_column, meaning};
use crate::listing;
use crate::{ColumnUse, LoadConfig};

/// Which columns of a table are source, target and weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EdgeColumns {
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
}

impl EdgeColumns {
    /// What each of the columns was taken for.
    pub(crate) fn uses(self, names: impl Iterator<Item = String>) -> Vec<ColumnUse> {
        let role = |column: usize| match column {
            column if column == self.source => "source",
            column if column == self.target => "target",
            column if Some(column) == self.weight => "weight",
            _ => ColumnUse::NONE,
        };
        let of = |(column, name)| ColumnUse { name, role: role(column).to_owned() };
        names.enumerate().map(of).collect()
    }
}

/// Source, target and weight: those that the user named, or else by the headers, or else, where the
/// table is not `named`, the first two columns and no weight.
pub(crate) fn edge_columns(
    names: &[&str],
    named: bool,
    config: &LoadConfig,
) -> Result<EdgeColumns, String> {
    let wanted = &config.columns;
    let find = |column: &Option<String>| {
        column.as_deref().map(|name| find_column(names, named, name)).transpose()
    };
    let given = find(&wanted.weight)?;
    let known = given.is_some() || config.unweighted;
    let mut columns = match (find(&wanted.source)?, find(&wanted.target)?) {
        (Some(source), Some(target)) => {
            let weight = if known || !named { None } else { weight(names, source, target)? };
            EdgeColumns { source, target, weight }
        }
        (None, None) if named => {
            let (source, target) = ends(names)?;
            let weight = if known { None } else { weight(names, source, target)? };
            EdgeColumns { source, target, weight }
        }
        (None, None) => EdgeColumns { source: 0, target: 1, weight: None },
        _ => return Err("--source and --target are given together".to_owned()),
    };
    if columns.source == columns.target {
        return Err("source and target are the same column".to_owned());
    }
    if known {
        columns.weight = given;
    }
    Ok(columns)
}

/// The weight by the headers. What could be meant in two ways is refused.
fn weight(names: &[&str], source: usize, target: usize) -> Result<Option<usize>, String> {
    let of = |wanted: Meaning| -> Vec<usize> {
        let free = |&k: &usize| k != source && k != target && meaning(names[k]) == Some(wanted);
        (0..names.len()).filter(free).collect()
    };
    let (weights, amounts) = (of(Meaning::Weight), of(Meaning::Amount));
    match (&weights[..], &amounts[..]) {
        (&[weight], _) => Ok(Some(weight)),
        ([], []) => Ok(None),
        ([], &[amount]) => Ok(Some(amount)),
        (many @ [_, _, ..], _) | ([], many) => {
            let listed = listed(names, many);
            Err(format!(
                "the columns {listed} could each be the weight; name one with --weight COLUMN, or \
                 give --unweighted"
            ))
        }
    }
}

/// Source and target: the two columns that are called so, or the only two that are nothing else.
fn ends(names: &[&str]) -> Result<(usize, usize), String> {
    let meanings: Vec<Option<Meaning>> = names.iter().map(|name| meaning(name)).collect();
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
            if let [target] = open(&meanings, Some(source))[..] {
                return Ok((source, target));
            }
        }
        (_, &[target]) => {
            if let [source] = open(&meanings, Some(target))[..] {
                return Ok((source, target));
            }
        }
        _ => {}
    }
    match open(&meanings, None)[..] {
        [source, target] => Ok((source, target)),
        _ => asked(format!(
            "it is not clear which of the columns {} are source and target",
            listing::listed(names)
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
    listing::listed(&names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_edges() {
        let find = |header: &str| {
            let names: Vec<&str> = header.split(',').collect();
            edge_columns(&names, true, &LoadConfig::default())
                .map(|c| (c.source, c.target, c.weight))
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
