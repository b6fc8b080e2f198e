//! Matrix Market coordinate files.

use crate::DataError;
use crate::allocate::reserve;
use crate::raw_dataset::{Raw, check_count};
use crate::store::Store;
use crate::text::{Delimiter, Lines, is_comment};
use crate::weights::{Weight, Weights, not_a_weight};

/// Files that end in `.mtx`.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    store.candidates().filter(|name| name.ends_with(".mtx")).map(str::to_owned).collect()
}

/// Reads the graph whose entry (i, j) is the edge i → j.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    parse(&store.read_text(name)?, &store.label(name))
}

/// What the banner says.
struct Banner {
    weighted: bool,
    /// What the mirrored entry is multiplied with, where there is one.
    mirror: Option<f32>,
}

impl Banner {
    fn parse(line: &[u8]) -> Result<Self, String> {
        let line = String::from_utf8_lossy(line).to_lowercase();
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
            return Err("the first line must be: %%MatrixMarket matrix coordinate …".into());
        };
        if layout != "coordinate" {
            return Err(format!("{layout} matrices are not read; save it as coordinate"));
        }
        let weighted = match field {
            "pattern" => false,
            "integer" | "real" | "double" => true,
            _ => return Err(format!("{field} entries are not read; real ones are needed")),
        };
        let mirror = match symmetry {
            "general" => None,
            "symmetric" => Some(1.0),
            "skew-symmetric" => Some(-1.0),
            _ => return Err(format!("{symmetry} matrices are not read")),
        };
        Ok(Self { weighted, mirror })
    }
}

fn parse(text: &[u8], file: &str) -> Result<Raw, DataError> {
    let mut lines = Lines::new(text);
    let (number, first) = lines.next().unwrap_or((1, b""));
    let banner = Banner::parse(first).map_err(|problem| DataError::line(file, number, problem))?;
    let mut lines = lines.filter(|(_, line)| !is_comment(line));
    let mut fields = Vec::new();
    let (number, size) = lines.next().unwrap_or((number + 1, b""));
    Delimiter::Blank.split(size, &mut fields);
    let sizes: Option<Vec<u64>> = fields.iter().map(|field| whole(field)).collect();
    let Some(&[rows, cols, stored]) = sizes.as_deref() else {
        return Err(DataError::line(file, number, "rows, columns and entries are needed here"));
    };
    if rows != cols {
        let problem = format!("a graph needs a square matrix, but this one is {rows} x {cols}");
        return Err(DataError::line(file, number, problem));
    }
    let nodes = check_count(file, "rows", rows, text.len() as u64)?;
    let mut raw = Raw { file: file.to_owned(), nodes, ..Raw::default() };
    let (mut weights, mut found) = (Weights::default(), 0u64);
    for (number, line) in lines {
        let bad = |problem: &str| DataError::line(file, number, problem);
        Delimiter::Blank.split(line, &mut fields);
        if fields.len() != if banner.weighted { 3 } else { 2 } {
            return Err(bad("an entry must hold row, column and, if not a pattern, a value"));
        }
        let node = |field: &[u8]| whole(field).filter(|&i| i >= 1 && i <= rows);
        let (Some(row), Some(col)) = (node(fields[0]), node(fields[1])) else {
            return Err(bad(&format!("row and column must lie in 1..={rows}")));
        };
        let edge = ((row - 1) as u32, (col - 1) as u32);
        let value = match fields.get(2) {
            None => Weight { value: 1.0, rounded: false, beyond: None },
            Some(field) => {
                let text = String::from_utf8_lossy(field);
                Weight::parse(&text).ok_or_else(|| bad(&not_a_weight(&text)))?
            }
        };
        found += 1;
        reserve(&mut raw.edges, 2, file)?;
        raw.edges.push(edge);
        weights.push(value, file)?;
        if let Some(factor) = banner.mirror.filter(|_| edge.0 != edge.1) {
            raw.edges.push((edge.1, edge.0));
            let beyond = value.beyond.map(|number| number * f64::from(factor));
            weights.push(Weight { value: value.value * factor, beyond, ..value }, file)?;
        }
    }
    if found != stored {
        let problem = format!("damaged or truncated: {stored} entries are claimed, {found} found");
        return Err(DataError::format(file, problem));
    }
    // A pattern has no weights of its own, but its mirrored half may have.
    if banner.weighted || weights.values.iter().any(|&weight| weight != 1.0) {
        raw.set_weights(weights);
    }
    Ok(raw)
}

fn whole(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(banner: &str, body: &str) -> Vec<u8> {
        format!("%%MatrixMarket matrix {banner}\n% comment\n{body}").into_bytes()
    }

    #[test]
    fn patterns_and_symmetries() {
        let raw = parse(&text("coordinate pattern general", "3 3 2\n1 2\n3 1\n"), "f").unwrap();
        assert_eq!((raw.edges, raw.weights), (vec![(0, 1), (2, 0)], None));
        let body = "2 2 2\n1 1 5\n2 1 0.5\n";
        let raw = parse(&text("coordinate real symmetric", body), "f").unwrap();
        assert_eq!(raw.edges, [(0, 0), (1, 0), (0, 1)]);
        assert_eq!(raw.weights.unwrap(), [5.0, 0.5, 0.5]);
        let raw = parse(&text("coordinate integer skew-symmetric", "2 2 1\n2 1 3\n"), "f").unwrap();
        assert_eq!(raw.weights.unwrap(), [3.0, -3.0]);
    }

    #[test]
    fn strangers_are_refused() {
        let error =
            |banner: &str, body: &str| parse(&text(banner, body), "f").unwrap_err().to_string();
        assert!(error("array real general", "1 1\n1\n").contains("array matrices are not read"));
        assert!(error("coordinate complex general", "").contains("complex entries are not read"));
        let general = "coordinate pattern general";
        assert!(error(general, "2 3 0\n").contains("2 x 3"));
        assert!(error(general, "2 2 2\n1 1\n").contains("2 entries are claimed, 1 found"));
        assert!(error(general, "2 2 1\n0 1\n").starts_with("f, line 4: row and column"));
        assert!(error(general, "9999999999 9999999999 0\n").contains("too many"));
    }
}
