//! How an edge list is laid out, told from its first lines and from what the user says.

use crate::listing::listed;
use crate::raw_dataset::Raw;
use crate::table::{EdgeColumns, Head, edge_columns, head, number};
use crate::text::Delimiter;
use crate::{ColumnUse, DataError, LoadConfig, NodeNames};

/// The form of an edge list.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) delimiter: Delimiter,
    /// Fields of every line.
    pub(super) width: usize,
    /// Which of them are source, target and weight.
    pub(super) columns: EdgeColumns,
    /// Whether ids look like numbers.
    pub(super) numeric: bool,
    /// The names of the columns, where there is a header.
    pub(super) header: Option<Vec<String>>,
    /// The header as it stands.
    pub(super) header_line: String,
    /// Where the first edge starts.
    pub(super) start: usize,
}

/// Whether a field is a whole number, of either sign.
pub(super) fn looks_whole(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

impl Layout {
    /// Looks at the first lines; `None` where there is no line with content.
    pub(super) fn detect(
        text: &[u8],
        file: &str,
        config: &LoadConfig,
    ) -> Result<Option<Self>, DataError> {
        let Some(head) = head(text, config.header, file)? else { return Ok(None) };
        let first = head.rows.first();
        let width = first.or(head.header.as_ref()).map_or(0, Vec::len);
        if width < 2 {
            let problem = "there is only one column, but an edge needs a source and a target";
            return Err(DataError::line(file, head.line, problem));
        }
        let lossy = |field: &&[u8]| String::from_utf8_lossy(field).into_owned();
        let header: Option<Vec<String>> =
            head.header.as_ref().map(|cells| cells.iter().map(lossy).collect());
        if let Some(names) = header.as_ref().filter(|names| names.len() != width) {
            let problem = format!("ragged: {width} column(s), but the header has {}", names.len());
            return Err(DataError::line(file, head.line, problem));
        }
        let columns = if header.is_some() { 0 } else { width };
        let plain: Vec<String> = (1..=columns).map(|k| format!("column {k}")).collect();
        let names: Vec<&str> =
            header.as_ref().unwrap_or(&plain).iter().map(String::as_str).collect();
        let mut columns = edge_columns(&names, header.is_some(), config)
            .map_err(|problem| DataError::format(file, problem))?;
        let open = config.columns.weight.is_none() && !config.unweighted;
        if header.is_none() && config.columns.source.is_none() && open {
            columns.weight =
                third(&head, width).map_err(|problem| DataError::format(file, problem))?;
        }
        let whole = |k: usize| first.and_then(|row| row.get(k)).is_some_and(|f| looks_whole(f));
        Ok(Some(Self {
            delimiter: head.delimiter,
            width,
            columns,
            numeric: whole(columns.source) && whole(columns.target),
            header,
            header_line: String::from_utf8_lossy(
                head.header_line.get(..80).unwrap_or(head.header_line),
            )
            .into_owned(),
            start: head.start,
        }))
    }

    /// The name of a column.
    fn name(&self, column: usize) -> String {
        let named = self.header.as_ref().and_then(|names| names.get(column)).cloned();
        named.unwrap_or_else(|| format!("column {}", column + 1))
    }

    /// What each column was taken for.
    pub(super) fn uses(&self) -> Vec<ColumnUse> {
        self.columns.uses((0..self.width).map(|column| self.name(column)))
    }

    /// What a user should know about the layout.
    pub(super) fn remarks(&self, raw: &Raw) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.header.is_some() {
            remarks.push(format!("the first line is a header: {}", self.header_line));
        } else if let Some((source, target)) = self.odd_first(raw) {
            remarks.push(format!(
                "the first line was read as an edge, {source} → {target}; if it names the columns, \
                 give --header yes"
            ));
        }
        remarks.extend(ColumnUse::unused(&self.uses(), self.columns.weight.is_some()));
        remarks
    }

    /// The first edge, where its ends are words and all other nodes have digits in their names.
    fn odd_first<'a>(&self, raw: &'a Raw) -> Option<(&'a str, &'a str)> {
        let Some(NodeNames::Words(words)) = &raw.node_names else { return None };
        let [source, target, others @ ..] = &words[..] else { return None };
        let digits = |word: &String| word.bytes().any(|byte| byte.is_ascii_digit());
        let odd = !others.is_empty() && !digits(source) && !digits(target);
        (odd && others.iter().all(digits)).then_some((source, target))
    }
}

/// The weight of an edge list without a header: the third column, where that is the only one that
/// could be. What may be a time is not taken for a weight.
fn third(head: &Head, width: usize) -> Result<Option<usize>, String> {
    let numbers = |k: usize| -> Option<Vec<f64>> {
        let rows = head.rows.iter().filter(|row| row.len() == width);
        let numbers = rows.map(|row| row.get(k).and_then(|field| number(field, head.delimiter)));
        numbers.collect()
    };
    let times = |numbers: &[f64]| {
        let whole = numbers.iter().all(|n| n.fract() == 0.0);
        let within = |low: f64, high: f64| numbers.iter().all(|n| (low..=high).contains(n));
        whole && (within(1e8, 1e14) || (numbers.len() > 2 && within(1900.0, 2100.0)))
    };
    // Only the first row decides whether a column has numbers: a word further down is an error.
    let first = |k: usize| head.rows.first().and_then(|row| number(row.get(k)?, head.delimiter));
    let numeric: Vec<usize> = (2..width).filter(|&k| first(k).is_some()).collect();
    let time = |k: &usize| numbers(*k).is_some_and(|numbers| times(&numbers));
    match &numeric[..] {
        [] => Ok(None),
        [2] if !time(&2) => Ok(Some(2)),
        [2, 3] if !time(&2) && time(&3) => Ok(Some(2)),
        [k] => Err(format!(
            "column {} may be a weight or a time; give --weight {} or --unweighted",
            k + 1,
            k + 1
        )),
        many => {
            let numbers: Vec<String> = many.iter().map(|k| (k + 1).to_string()).collect();
            Err(format!(
                "there is no header, and each of the columns {} could be the weight; give --weight {} \
                 or --unweighted",
                listed(&numbers),
                many[0] + 1
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_told_from_names() {
        for header in [
            "from_id,to_id",
            "FromNodeId\tToNodeId",
            "source page,target page",
            "node_1,node_2",
            "id1,id2",
            "citing-paper;cited-paper",
            "u v",
            "Source.Name Target.Name",
        ] {
            let text = format!("{header}\nanna,ben\n").replace(',', &sign(header));
            let layout =
                Layout::detect(text.as_bytes(), "f", &LoadConfig::default()).unwrap().unwrap();
            assert_eq!(layout.header_line, header, "{header}");
        }
        for names in
            ["node_7,node_9", "To the Lighthouse,Orlando", "victor,ida", "u1,u2", "from,anna"]
        {
            let text = format!("{names}\nanna,ben\n");
            let layout =
                Layout::detect(text.as_bytes(), "f", &LoadConfig::default()).unwrap().unwrap();
            assert_eq!(layout.header, None, "{names}");
        }
    }

    fn columns(text: &str, config: &LoadConfig) -> Result<EdgeColumns, String> {
        let layout = Layout::detect(text.as_bytes(), "f", config);
        layout.map(|layout| layout.unwrap().columns).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_chosen() {
        let plain = LoadConfig::default();
        let is = |source, target, weight| Ok(EdgeColumns { source, target, weight });
        for (text, expected) in [
            ("0 1 0.5\n1 2 3\n", is(0, 1, Some(2))),
            ("0 1 x\n1 2 y\n", is(0, 1, None)),
            ("0 1 5 1217567877\n1 2 3 1217573801\n", is(0, 1, Some(2))),
            ("a;b;1,5\nb;c;2,25\n", is(0, 1, Some(2))),
            ("time,amount,receiver,sender\n1,2.5,a,b\n", is(3, 2, Some(1))),
        ] {
            assert_eq!(columns(text, &plain), expected, "{text}");
        }
        for (text, hint) in [
            ("0 1 1217567877\n1 2 1217573801\n", "--weight 3 or --unweighted"),
            ("0 1 5 7\n1 2 3 8\n", "--weight 3 or --unweighted"),
            ("0 1 1999\n1 2 2003\n2 3 2010\n", "--unweighted"),
            ("x,y,z\n1,2,3\n", "--source COLUMN and --target COLUMN"),
        ] {
            let error = columns(text, &plain).unwrap_err();
            assert!(error.contains(hint), "{text}: {error}");
        }
        let mut named = LoadConfig::default();
        named.columns.source = Some("z".into());
        named.columns.target = Some("1".into());
        assert_eq!(columns("x,y,z\n1,2,3\n", &named), is(2, 0, None));
        assert_eq!(columns("x,amount,z\n1,2,3\n", &named), is(2, 0, Some(1)));
        named.columns.weight = Some("Y".into());
        assert_eq!(columns("x,y,z\n1,2,3\n", &named), is(2, 0, Some(1)));
        named.columns.weight = Some("price".into());
        let error = columns("x,y,z\n1,2,3\n", &named).unwrap_err();
        assert!(error.contains("no column 'price'; its columns are x, y, z"), "{error}");
        let unweighted = LoadConfig { unweighted: true, ..LoadConfig::default() };
        assert_eq!(columns("0 1 1217567877\n1 2 3\n", &unweighted), is(0, 1, None));
    }

    fn sign(header: &str) -> String {
        let found = header.chars().find(|c| matches!(c, ',' | '\t' | ';'));
        found.unwrap_or(' ').to_string()
    }
}
