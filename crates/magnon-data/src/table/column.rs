//! Columns of a table.

use crate::DataError;
use crate::allocate::collect;
use std::borrow::Cow;
use std::sync::Arc;

/// A column and what it is called.
#[derive(Debug)]
pub(crate) struct Column {
    /// The header, or `column 3` where there is none.
    pub(crate) name: String,
    pub(crate) cells: Cells,
    /// Where a word stands in a column that starts with numbers: the line and the word.
    pub(crate) stray: Option<(usize, String)>,
    /// The line of the first cell that is no finite number, where the table has lines.
    pub(crate) gap: Option<usize>,
    /// What the file says that it holds, where that is neither numbers nor text.
    pub(crate) kind: Option<String>,
}

/// What a column holds, known before its cells are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "columnar"), allow(dead_code))] // texts are read whole
pub(crate) enum Holds {
    /// Numbers.
    Numbers,
    /// Lists, which become a column per place.
    Lists,
    /// Text.
    Words,
    /// Dates or times, which are read as text.
    Dates(&'static str),
    /// What can be used for nothing.
    Other(String),
}

/// The cells of a column.
#[derive(Debug, PartialEq)]
pub(crate) enum Cells {
    /// Numbers; NaN where a cell is empty. Whole numbers are exact: those that double precision could
    /// not hold are kept as words.
    Numbers(Vec<f64>),
    /// Words; `None` where a cell is empty. Words that are the same may share their place.
    Words(Vec<Option<Arc<str>>>),
    /// What can be used for nothing.
    #[cfg_attr(not(feature = "columnar"), allow(dead_code))]
    // only columnar files have such columns
    Other,
}

impl Cells {
    /// The cell of a row as text; `None` where it is empty.
    pub(crate) fn text(&self, row: usize) -> Option<Cow<'_, str>> {
        match self {
            Self::Numbers(numbers) => {
                let number = numbers.get(row).filter(|number| !number.is_nan());
                number.map(|number| number.to_string().into())
            }
            Self::Words(words) => words.get(row)?.as_deref().map(Cow::Borrowed),
            Self::Other => None,
        }
    }

    /// The cell of a row as text that is shared; `None` where it is empty.
    pub(crate) fn shared(&self, row: usize) -> Option<Arc<str>> {
        match self {
            Self::Words(words) => words.get(row).cloned().flatten(),
            _ => self.text(row).map(Arc::from),
        }
    }

    /// Whether no two cells are the same and none is empty.
    pub(crate) fn are_distinct(&self, file: &str) -> Result<bool, DataError> {
        fn distinct<T: Ord>(mut keys: Vec<T>) -> bool {
            keys.sort_unstable();
            keys.windows(2).all(|pair| pair[0] != pair[1])
        }
        match self {
            Self::Numbers(numbers) => {
                let bits = collect(numbers.iter().map(|number| number.to_bits()), file)?;
                Ok(numbers.iter().all(|number| !number.is_nan()) && distinct(bits))
            }
            Self::Words(words) => {
                let known = collect(words.iter().map(Option::as_deref), file)?;
                Ok(known.iter().all(Option::is_some) && distinct(known))
            }
            Self::Other => Ok(false),
        }
    }

    /// Whether these are numbers of which some are missing, or beyond what a feature holds.
    pub(crate) fn has_gaps(&self) -> bool {
        match self {
            Self::Numbers(numbers) => numbers.iter().any(|number| !(*number as f32).is_finite()),
            Self::Words(_) | Self::Other => false,
        }
    }

    /// Whether these are finite numbers of which some are beyond single precision.
    pub(crate) fn are_too_large(&self) -> bool {
        matches!(self, Self::Numbers(numbers) if numbers.iter().all(|number| number.is_finite()))
            && self.has_gaps()
    }

    /// Whether these are numbers, but not one for each of so many rows.
    pub(crate) fn has_gaps_in(&self, rows: usize) -> bool {
        self.has_gaps() || matches!(self, Self::Numbers(numbers) if numbers.len() < rows)
    }

    /// Whether all cells are whole numbers from 0.
    pub(crate) fn are_counts(&self) -> bool {
        match self {
            Self::Numbers(numbers) => numbers.iter().all(|&n| n >= 0.0 && n.fract() == 0.0),
            Self::Words(_) | Self::Other => false,
        }
    }
}

/// How many examples of something are named.
pub(crate) const NAMED: usize = 3;

/// Words that mark an empty cell of any table.
pub(crate) fn is_missing(field: &[u8]) -> bool {
    const WORDS: [&[u8]; 9] =
        [b"", b"?", b"nan", b"na", b"n/a", b"#n/a", b"none", b"null", b"<na>"];
    field.len() <= 4 && WORDS.contains(&field.to_ascii_lowercase().as_slice())
}

impl Column {
    /// A column with nothing more to say about it.
    pub(crate) fn new(name: String, cells: Cells) -> Self {
        Self { name, cells, stray: None, gap: None, kind: None }
    }

    /// A column without cells that holds what it says.
    #[cfg(feature = "columnar")]
    pub(crate) fn held(name: String, holds: &Holds) -> Self {
        let (cells, kind) = match holds {
            Holds::Numbers => (Cells::Numbers(Vec::new()), None),
            Holds::Words => (Cells::Words(Vec::new()), None),
            Holds::Dates(kind) => (Cells::Words(Vec::new()), Some((*kind).to_owned())),
            Holds::Lists => (Cells::Other, Some("lists".to_owned())),
            Holds::Other(kind) => (Cells::Other, Some(kind.clone())),
        };
        Self { kind, ..Self::new(name, cells) }
    }

    /// An error where no cell of the column can be used as `role`.
    pub(crate) fn check(&self, role: &str) -> Result<(), String> {
        match (&self.cells, &self.kind) {
            (Cells::Other, kind) => Err(format!(
                "the column '{}' holds {}, which cannot be used as {role}: convert it to text or numbers",
                self.name,
                kind.as_deref().unwrap_or("values of another type")
            )),
            _ => Ok(()),
        }
    }

    /// A column of texts, which are numbers where all of them are. Texts that are the same may share their place.
    pub(crate) fn from_texts(name: String, mut texts: Vec<Option<Arc<str>>>) -> Self {
        for text in &mut texts {
            if text.as_deref().is_some_and(|text| is_missing(text.as_bytes())) {
                *text = None;
            }
        }
        let number = |text: &Arc<str>| Self::number(text);
        let numbers: Option<Vec<f64>> =
            texts.iter().map(|text| text.as_ref().map_or(Some(f64::NAN), number)).collect();
        Self::new(name, numbers.map_or_else(|| Cells::Words(texts), Cells::Numbers))
    }

    /// Whether all texts that are not missing are numbers.
    pub(crate) fn are_numbers<'a>(mut texts: impl Iterator<Item = &'a str>) -> bool {
        texts.all(|text| is_missing(text.as_bytes()) || Self::number(text).is_some())
    }

    fn number(text: &str) -> Option<f64> {
        match text {
            "true" | "True" => Some(1.0),
            "false" | "False" => Some(0.0),
            // Longer numbers may be ids, which double precision would change.
            text if text.len() > 15 && text.bytes().all(|byte| byte.is_ascii_digit()) => None,
            text => text.parse().ok(),
        }
    }
}
