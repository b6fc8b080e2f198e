//! Texts that are nearly right: of random bytes, Matrix Market and WebGraph files are refused in the first line.

use crate::reader::check;
use crate::scratch::Scratch;
use crate::{Seeds, Test};
use arbitrary::{Arbitrary, Unstructured};
use magnon::data::{LoadConfig, load};
use std::fmt::{self, Display, Write};

/// Bytes that look like chance, of several lengths.
pub fn seeds() -> Seeds {
    let mut state = 1u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    [16, 64, 256, 1024].map(|length| (0..length).map(|_| byte()).collect()).to_vec()
}

/// A number that is mostly in order.
#[derive(Arbitrary, Clone, Copy)]
enum Number {
    Small(u8),
    Small2(u8),
    Large(u64),
    Signed(i32),
    Real(f64),
    Word,
}

impl Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Small(value) | Self::Small2(value) => write!(out, "{}", value % 8),
            Self::Large(value) => write!(out, "{value}"),
            Self::Signed(value) => write!(out, "{value}"),
            Self::Real(value) => write!(out, "{value:e}"),
            Self::Word => write!(out, "nan"),
        }
    }
}

#[derive(Arbitrary)]
struct Market {
    field: u8,
    symmetry: u8,
    nodes: Number,
    columns: Option<Number>,
    /// What the file says, where it does not say the truth.
    claimed: Option<Number>,
    comment: bool,
    entries: Vec<[Number; 3]>,
}

impl Market {
    fn text(&self) -> String {
        let fields = ["pattern", "integer", "real", "double", "complex"];
        let symmetries = ["general", "symmetric", "skew-symmetric", "hermitian"];
        let field = fields[usize::from(self.field) % fields.len()];
        let symmetry = symmetries[usize::from(self.symmetry) % symmetries.len()];
        let comment = if self.comment { "% a comment\n\n" } else { "" };
        let mut text = format!("%%MatrixMarket matrix coordinate {field} {symmetry}\n{comment}");
        let columns = self.columns.unwrap_or(self.nodes);
        let truth = Number::Large(self.entries.len() as u64);
        let claimed = self.claimed.unwrap_or(truth);
        let _ = writeln!(text, "{} {columns} {claimed}", self.nodes);
        for [row, column, value] in &self.entries {
            let _ = match field {
                "pattern" => writeln!(text, "{row} {column}"),
                _ => writeln!(text, "{row} {column} {value}"),
            };
        }
        text
    }
}

pub fn matrix_market() -> Test {
    text_test("m.mtx", |bytes| Market::arbitrary(bytes).map(|market| market.text()))
}

#[derive(Arbitrary)]
struct Successors {
    claimed: Option<Number>,
    lines: Vec<Vec<Number>>,
}

impl Successors {
    fn text(&self) -> String {
        let truth = Number::Large(self.lines.len() as u64);
        let mut text = format!("{}\n", self.claimed.unwrap_or(truth));
        for line in &self.lines {
            let words: Vec<String> = line.iter().map(Number::to_string).collect();
            let _ = writeln!(text, "{}", words.join(" "));
        }
        text
    }
}

pub fn adjacency_list() -> Test {
    text_test("w.graph-txt", |bytes| Successors::arbitrary(bytes).map(|graph| graph.text()))
}

fn text_test(name: &'static str, text: fn(&mut Unstructured) -> arbitrary::Result<String>) -> Test {
    let scratch = Scratch::new();
    Box::new(move |input| {
        let Ok(text) = text(&mut Unstructured::new(input)) else { return };
        scratch.put(name, Some(text.as_bytes()));
        if let Ok(dataset) = load(&scratch.path().join(name), &LoadConfig::default()) {
            check(&dataset);
        }
    })
}
