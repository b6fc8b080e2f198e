//! Products of sparse matrices that are applied in every step, made small beforehand.

use magnon_core::compute::PreciseRows;

/// Appends the entries of a row of a matrix to a list: columns, ascending, and values.
pub(super) type Source<'a> = Box<dyn Fn(u32, &mut Vec<(u32, f64)>) + 'a>;

/// Some rows of a product F₁·F₂·…·F_m, as factors that are applied from the last to the first.
///
/// The factors have fewer rows and entries than those that they come from: a row is there where a column of the factor
/// before asks for it and it is not zero, and two factors are one where their product stores no more than both.
pub(super) struct Chain {
    /// The first one has the rows that were asked for.
    pub factors: Vec<PreciseRows>,
    /// The columns that are left of the last one; all of them where their number was given.
    pub columns: Option<Vec<u32>>,
}

impl Chain {
    /// Rows of the product of the `sources`. With `cols`, the last of them has that many columns, which stay as they are.
    pub fn new(rows: &[u32], sources: &[Source], cols: Option<usize>) -> Self {
        let (mut wanted, mut factors) = (rows.to_vec(), Vec::with_capacity(sources.len()));
        for (k, source) in sources.iter().enumerate() {
            let mut factor = select(&wanted, source);
            match cols.filter(|_| k + 1 == sources.len()) {
                Some(cols) => factor.cols = cols,
                None => wanted = number_columns(&mut factor),
            }
            factors.push(factor);
        }
        drop_zeros(&mut factors);
        fuse(&mut factors);
        Self { factors, columns: cols.is_none().then_some(wanted) }
    }
}

/// The rows of a source.
fn select(rows: &[u32], source: &Source) -> PreciseRows {
    let (mut made, mut row) = (PreciseRows::empty(0), Vec::new());
    for &u in rows {
        row.clear();
        source(u, &mut row);
        made.push_row(row.iter().copied());
    }
    made
}

/// Numbers the columns that have entries, in their order, and says which they are.
fn number_columns(matrix: &mut PreciseRows) -> Vec<u32> {
    let bound = matrix.columns.iter().max().map_or(0, |&most| most as usize + 1);
    let mut places = vec![0; bound];
    matrix.columns.iter().for_each(|&column| places[column as usize] = 1);
    let there: Vec<u32> = (0..bound as u32).filter(|&at| places[at as usize] == 1).collect();
    (0..).zip(&there).for_each(|(place, &column)| places[column as usize] = place);
    matrix.columns.iter_mut().for_each(|column| *column = places[*column as usize]);
    matrix.cols = there.len();
    there
}

/// Only the given columns, which ascend.
fn keep_columns(matrix: &PreciseRows, columns: &[usize]) -> PreciseRows {
    const GONE: u32 = u32::MAX;
    let mut places = vec![GONE; matrix.cols];
    (0..).zip(columns).for_each(|(place, &column)| places[column] = place);
    let mut kept = PreciseRows::empty(columns.len());
    for u in 0..matrix.rows() {
        let entries = matrix.row(u).map(|(column, value)| (places[column as usize], value));
        kept.push_row(entries.filter(|&(place, _)| place != GONE));
    }
    kept
}

/// A product, where it stores no more than both factors and takes not much longer than applying them does.
fn product(a: &PreciseRows, b: &PreciseRows) -> Option<PreciseRows> {
    let most = a.stored() + b.stored();
    let mut steps = EFFORT * most;
    let mut product = PreciseRows::empty(b.cols);
    let (mut sums, mut there, mut row) = (vec![0.0; b.cols], Vec::new(), Vec::new());
    for u in 0..a.rows() {
        for (v, left) in a.row(u) {
            for (column, right) in b.row(v as usize) {
                steps = steps.checked_sub(1)?;
                if sums[column as usize] == 0.0 {
                    there.push(column);
                }
                sums[column as usize] += left * right;
            }
        }
        there.sort_unstable();
        there.dedup();
        for column in there.drain(..) {
            let sum = std::mem::take(&mut sums[column as usize]);
            // In single precision, too.
            (sum as f32).is_finite().then(|| row.push((column, sum)))?;
        }
        product.push_row(row.drain(..));
        if product.stored() > most {
            return None;
        }
    }
    Some(product)
}

/// Multiplications that are spent on a product that may not be kept, for each entry of its factors.
const EFFORT: usize = 8;

/// Leaves out rows of zeros, and the columns that would meet them.
fn drop_zeros(factors: &mut [PreciseRows]) {
    for k in (1..factors.len()).rev() {
        let offsets = &factors[k].offsets;
        let rows: Vec<usize> =
            (0..factors[k].rows()).filter(|&u| offsets[u] < offsets[u + 1]).collect();
        if rows.len() < factors[k].rows() {
            factors[k - 1] = keep_columns(&factors[k - 1], &rows);
            factors[k] = factors[k].select(rows);
        }
    }
}

/// Multiplies neighbours for as long as that makes less of them.
fn fuse(factors: &mut Vec<PreciseRows>) {
    let mut at = 0;
    while at + 1 < factors.len() {
        match product(&factors[at], &factors[at + 1]) {
            Some(product) => {
                factors[at] = product;
                factors.remove(at + 1);
                // What was too much beside two may not be beside one.
                at = at.saturating_sub(1);
            }
            None => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(rows: usize, cols: usize, at: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
        (0..rows).map(|u| (0..cols).map(|v| at(u, v)).collect()).collect()
    }

    fn times(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let sum = |u: usize, v: usize| (0..b.len()).map(|w| a[u][w] * b[w][v]).sum();
        dense(a.len(), b[0].len(), sum)
    }

    fn source(matrix: &[Vec<f64>]) -> Source<'_> {
        Box::new(|u, row| {
            let entries = (0..).zip(&matrix[u as usize]).filter(|(_, x)| **x != 0.0);
            row.extend(entries.map(|(v, &x)| (v, x)));
        })
    }

    fn stored(chain: &Chain) -> Vec<usize> {
        chain.factors.iter().map(PreciseRows::stored).collect()
    }

    /// What a chain gives, by dense products.
    fn whole(chain: &Chain) -> Vec<Vec<f64>> {
        let matrices = chain.factors.iter().map(|factor| {
            let entry = |u: usize, v: usize| factor.row(u).find(|&(at, _)| at as usize == v);
            dense(factor.rows(), factor.cols, |u, v| entry(u, v).map_or(0.0, |(_, x)| x))
        });
        matrices.reduce(|a, b| times(&a, &b)).unwrap()
    }

    /// A chain is the product of dense matrices, whatever was left out or multiplied.
    #[test]
    fn a_chain_is_the_product() {
        let a = dense(12, 12, |u, v| if (3 * u + 5 * v) % 7 == 1 { 1.0 + u as f64 } else { 0.0 });
        // Half of its rows are zero, and some of its columns.
        let b = dense(12, 12, |u, v| if u % 2 == 0 && (u + v) % 5 == 2 { -0.5 } else { 0.0 });
        let c = dense(12, 4, |u, v| if u != 6 && (u + v) % 3 == 0 { 0.25 * v as f64 } else { 0.0 });
        let expected = times(&times(&a, &b), &c);
        let rows = [7, 0, 3];
        let chain = Chain::new(&rows, &[source(&a), source(&b), source(&c)], Some(4));
        for (row, &u) in whole(&chain).iter().zip(&rows) {
            assert_eq!(*row, expected[u as usize]);
        }
        assert_eq!(chain.columns, None);
        let chain = Chain::new(&rows, &[source(&a), source(&b)], None);
        let (columns, product) = (chain.columns.clone().unwrap(), times(&a, &b));
        for (row, &u) in whole(&chain).iter().zip(&rows) {
            for (v, &x) in (0..12).zip(&product[u as usize]) {
                let found =
                    columns.iter().position(|&column| column == v).map_or(0.0, |at| row[at]);
                assert_eq!(found, x);
            }
        }
    }

    /// Choices of one column are taken into their neighbours, and a full square into neither.
    #[test]
    fn products_are_made_where_they_are_small() {
        let choice = dense(40, 40, |u, v| f64::from(u8::from(u / 4 == v)));
        let full = dense(40, 40, |u, v| f64::from(u8::from(u < 10 && v < 40)));
        let thin = dense(40, 40, |u, v| f64::from(u8::from(v == 5 || u == 5)));
        let rows: Vec<u32> = (0..40).collect();
        let chain = Chain::new(&rows, &[source(&choice), source(&full)], Some(40));
        assert_eq!(stored(&chain), [40, 400]);
        let turned = dense(40, 40, |u, v| choice[v][u]);
        let chain = Chain::new(&rows, &[source(&turned), source(&choice)], Some(40));
        assert_eq!(stored(&chain), [10]);
        let chain = Chain::new(&rows, &[source(&thin), source(&thin)], Some(40));
        assert_eq!(stored(&chain), [79, 79]);
    }

    /// Nothing is there to be added up.
    #[test]
    fn rows_of_zeros_stay_where_they_were_asked_for() {
        let zero = dense(3, 3, |_, _| 0.0);
        let chain = Chain::new(&[2, 1], &[source(&zero), source(&zero)], None);
        assert_eq!((chain.factors[0].rows(), stored(&chain)), (2, vec![0]));
        assert_eq!(chain.columns, Some(Vec::new()));
    }
}
