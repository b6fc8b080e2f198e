//! Products with maps: dense, sparse, over edges, and filters.

use super::map::{Csr, Kind};
use super::{Cpu, Map, gather, product, scatter};
use crate::compute::{Done, Side};
use crate::compute::{Scalar, Shape};

impl<T: Scalar> Cpu<T> {
    /// Products with sparse rows and with filters.
    pub(super) fn apply(
        &self,
        map: &Map<T>,
        side: Side,
        values: Option<&Vec<T>>,
        x: (&[T], Shape),
        y: (&mut [T], Shape),
        add: bool,
    ) -> Done {
        let field = map.shape.field();
        let product = gather::Product {
            x,
            field,
            left: &[],
            own: &[],
            add,
            parallel: self.parallel,
            instructions: self.instructions,
        };
        match &map.kind {
            Kind::Dense(numbers) => {
                let numbers = values.unwrap_or(numbers);
                // Rows that are not asked for come last.
                let rows = if side == Side::Adjoint { x.1.rows() } else { y.1.rows() };
                let shape = map.shape.with_rows(rows);
                let left = product::Operand::new(numbers, shape, side == Side::Adjoint);
                let right = product::Operand::new(x.0, x.1, false);
                product::product(left, right, y, add, self.parallel);
            }
            Kind::Sparse(rows) => {
                let (stored, values) = (rows.values.len(), values.unwrap_or(&rows.values));
                match side {
                    Side::Forward => {
                        let (offsets, columns) = (&rows.offsets, &rows.columns);
                        product.run(gather::Stored { offsets, columns, values }, stored, y);
                    }
                    Side::Adjoint => match &rows.turned {
                        Some(turned) if std::ptr::eq(values, &rows.values) => {
                            let Csr { offsets, columns, values, .. } = &**turned;
                            product.run(gather::Stored { offsets, columns, values }, stored, y);
                        }
                        _ => self.scatter(rows, values, x, y, add),
                    },
                }
            }
            Kind::Edges(edges) => gather::edges(edges, side, product, y),
            Kind::Filter { edges, series, seen } => {
                self.filter((edges, series, seen), field, side, x, y, add)?;
            }
        }
        Ok(())
    }

    /// x = Mᵀ y for sparse rows M; both blocks may be prefixes of what M has.
    fn scatter(
        &self,
        rows: &Csr<T>,
        values: &[T],
        y: (&[T], Shape),
        x: (&mut [T], Shape),
        add: bool,
    ) {
        let count = rows.offsets.len() - 1;
        let parts = scatter::parts(count, x.1.rows(), values.len());
        let product = scatter::Scatter {
            rows,
            values,
            y: y.0,
            width: y.1.width(),
            parallel: self.parallel,
            instructions: self.instructions,
        };
        if parts == 1 && !add {
            product.run_whole(x.0);
            return;
        }
        let mut room = self.take(parts * x.0.len());
        product.run(x.0, &mut room, add);
        self.give(room);
    }
}
