//! Features that stay on disk: blocks of their columns are read when they are needed.

#[cfg(feature = "columnar")]
mod by_id;
mod elements;
mod npy;
#[cfg(feature = "columnar")]
mod parquet;
pub(crate) mod safetensors;
mod source;

use super::allocate::zeroed;
use super::dataset::{FeatureNorm, Scaling};
use super::{DataError, Dataset, LoadConfig};
use bytemuck::cast_slice;
use magnon_core::matrix::Features;
use magnon_core::matrix::Matrix;
use source::Source;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A table of features in a file, a row for each node of a graph.
pub struct FeatureFile {
    path: PathBuf,
    nodes: usize,
    source: Box<dyn Source>,
    /// The node of each row of the file, [`ABSENT`] where it has none; `None` where rows stand in the nodes' order.
    places: Option<Vec<u32>>,
    remarks: Vec<String>,
}

/// What decides about the numbers, beside the bytes of the file: its path, and which node each row belongs to.
impl fmt::Debug for FeatureFile {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let places = self.places.as_deref().map(|places| crc32fast::hash(cast_slice(places)));
        let size = (self.source.rows(), self.cols());
        write!(f, "{:?} {size:?} {places:?}", self.path)
    }
}

/// The place of a row that belongs to no node.
const ABSENT: u32 = u32::MAX;

/// What features stand beside: a graph whose nodes have names, and how tables are read.
#[cfg_attr(not(feature = "columnar"), allow(dead_code))] // arrays have neither ids nor columns to choose from
struct Beside<'a> {
    dataset: &'a Dataset,
    config: &'a LoadConfig,
}

/// A file that was opened.
struct Opened {
    source: Box<dyn Source>,
    places: Option<Vec<u32>>,
    remarks: Vec<String>,
}

impl Opened {
    /// Rows in the order of the nodes.
    fn in_order(source: impl Source + 'static) -> Self {
        Self { source: Box::new(source), places: None, remarks: Vec::new() }
    }
}

/// A kind of file whose columns can be read apart.
struct Kind {
    /// How its names end.
    endings: &'static [&'static str],
    open: fn(&Path, &Beside) -> Result<Opened, DataError>,
}

/// The kinds of files.
const KINDS: &[Kind] = &[
    Kind { endings: &["npy"], open: npy::open },
    Kind { endings: &["safetensors"], open: safetensors::open },
    #[cfg(feature = "columnar")]
    Kind { endings: &["parquet", "pq"], open: parquet::open },
];

/// The kind of a file, by the ending of its name.
fn kind_of(path: &Path) -> Option<&'static Kind> {
    let ending = path.extension()?.to_str()?;
    KINDS.iter().find(|kind| kind.endings.contains(&ending))
}

/// What is done to features that are read in parts; the same as to those that are read whole.
#[derive(Clone, Debug, Default)]
pub struct PartScaling {
    scaling: Scaling,
    /// The sum of absolute values of each row, where rows are divided by it.
    row_sums: Vec<f64>,
}

impl PartScaling {
    /// What was done, in words; `None` where nothing was.
    pub fn words(&self) -> Option<&'static str> {
        self.scaling.words()
    }
}

impl FeatureFile {
    /// Whether columns of a file can be read apart, by the ending of its name.
    pub fn is_one(path: &Path) -> bool {
        kind_of(path).is_some()
    }

    /// How names of such files end.
    pub fn endings() -> impl Iterator<Item = &'static str> {
        KINDS.iter().flat_map(|kind| kind.endings.iter().copied())
    }

    /// Opens a file beside the graph of a data set, as [`attach_features`](super::attach_features) reads it.
    pub fn open(path: &Path, dataset: &Dataset, config: &LoadConfig) -> Result<Self, DataError> {
        let label = || path.display().to_string();
        let kind = kind_of(path).ok_or_else(|| {
            let endings: Vec<&str> = Self::endings().collect();
            let problem = format!(
                "features that stay on disk are one of these kinds of files: .{}",
                endings.join(", .")
            );
            DataError::format(label(), problem)
        })?;
        let Opened { source, places, remarks } = (kind.open)(path, &Beside { dataset, config })?;
        let (rows, nodes) = (source.rows(), dataset.graph.nodes());
        if places.is_none() && rows != nodes {
            let problem = format!("the features have {rows} rows, but the graph has {nodes} nodes");
            return Err(DataError::format(label(), problem));
        }
        Ok(Self { path: path.to_owned(), nodes, source, places, remarks })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of rows: the nodes of the graph.
    pub fn rows(&self) -> usize {
        self.nodes
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.source.cols()
    }

    /// What there is to say about the file.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn label(&self) -> String {
        self.path.display().to_string()
    }

    /// Visits every element of the columns, with its node and column. Columns ascend within a row, and rows of the file
    /// within a column.
    fn each(
        &self,
        columns: Range<usize>,
        mut visit: impl FnMut(usize, usize, f32) -> Result<(), String>,
    ) -> Result<(), DataError> {
        let label = self.label();
        self.source.runs(columns, &mut |run| {
            let visited = match &self.places {
                None => run.each(&mut visit),
                Some(places) => run.each(|row, column, value| match places.get(row) {
                    Some(&node) if node != ABSENT => visit(node as usize, column, value),
                    _ => Ok(()),
                }),
            };
            visited.map_err(|problem| DataError::format(&label, problem))
        })
    }

    /// Visits every element of all columns, nodes in their order within a column. Rows that are not in this order are put
    /// so in memory first, `width` columns at a time.
    fn each_in_order(
        &self,
        width: usize,
        mut visit: impl FnMut(usize, usize, f32),
    ) -> Result<(), DataError> {
        let cols = self.cols();
        if self.places.is_none() {
            return self.each(0..cols, |row, column, value| {
                visit(row, column, value);
                Ok(())
            });
        }
        for first in (0..cols).step_by(width.max(1)) {
            let columns = first..(first + width.max(1)).min(cols);
            let Features::Dense(part) = self.columns(columns, &PartScaling::default())? else {
                continue; // columns of a file are dense
            };
            for row in 0..part.rows() {
                part.row(row).iter().zip(first..).for_each(|(&x, column)| visit(row, column, x));
            }
        }
        Ok(())
    }

    /// What a rule does to these features, found in passes over the file, with as many as `width` columns in
    /// memory.
    pub fn survey(&self, norm: FeatureNorm, width: usize) -> Result<PartScaling, DataError> {
        let (rows, cols) = (self.rows(), self.cols());
        if norm == FeatureNorm::None || rows == 0 {
            return Ok(PartScaling::default());
        }
        let (mut sums, mut counts, mut filled) = (vec![0.0; cols], true, 0usize);
        let needs_rows = norm != FeatureNorm::Standard;
        let mut row_sums = zeroed::<f64>(if needs_rows { rows } else { 0 }, &self.label())?;
        self.each_in_order(width, |row, column, value| {
            sums[column] += f64::from(value);
            counts &= value >= 0.0 && value.fract() == 0.0;
            filled += usize::from(value != 0.0);
            if let Some(sum) = row_sums.get_mut(row) {
                *sum += f64::from(value.abs());
            }
        })?;
        let mean: Vec<f64> = sums.iter().map(|sum| sum / rows as f64).collect();
        let dense = norm == FeatureNorm::Auto && filled * 2 >= rows * cols;
        if norm == FeatureNorm::Standard || dense {
            let mut squares = vec![0.0; cols];
            self.each_in_order(width, |_, column, value| {
                squares[column] += (f64::from(value) - mean[column]).powi(2);
            })?;
            let std: Vec<f64> = squares.iter().map(|sum| (sum / rows as f64).sqrt()).collect();
            if norm == FeatureNorm::Standard || magnon_core::matrix::spread(&mean, &std) {
                let std = std.into_iter().map(|std| if std > 0.0 { std } else { 1.0 }).collect();
                let scaling = Scaling::Standard { mean, std };
                return Ok(PartScaling { scaling, row_sums: Vec::new() });
            }
        }
        match norm == FeatureNorm::Row || counts {
            true => Ok(PartScaling { scaling: Scaling::Rows, row_sums }),
            false => Ok(PartScaling::default()),
        }
    }

    /// Some columns, scaled as all are.
    pub fn columns(
        &self,
        columns: Range<usize>,
        scaling: &PartScaling,
    ) -> Result<Features, DataError> {
        let (label, width) = (self.label(), columns.len());
        let bytes = self.rows().saturating_mul(width).saturating_mul(4);
        let matrix = Matrix::<f32>::try_zeros(self.rows(), width);
        let mut matrix =
            matrix.ok_or_else(|| super::allocate::out_of_memory(&label, bytes as u64))?;
        let cells = matrix.as_mut_slice();
        self.each(columns.clone(), |row, column, value| {
            if !value.is_finite() {
                let problem =
                    format!("the feature in row {row}, column {column} is {value}, not finite");
                return Err(problem);
            }
            let value = match &scaling.scaling {
                Scaling::None | Scaling::Joined { .. } => value, // a file has no added columns
                Scaling::Rows => match scaling.row_sums.get(row) {
                    Some(&sum) if sum > 0.0 => (f64::from(value) / sum) as f32,
                    _ => value,
                },
                Scaling::Standard { mean, std } => {
                    ((f64::from(value) - mean[column]) / std[column]) as f32
                }
            };
            cells[row * width + column - columns.start] = value;
            Ok(())
        })?;
        Ok(Features::Dense(matrix))
    }
}
