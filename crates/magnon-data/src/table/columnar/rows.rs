//! The rows of a Parquet file, a batch after the other.

use super::footer::read_footer;
use super::holds::is_list;
use super::pages::{Claims, claims_of};
use super::room::Room;
use crate::DataError;
use arrow_schema::{DataType, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;
use std::ops::Range;
use std::sync::Arc;

/// Rows that are decoded at a time.
pub(crate) const BATCH: usize = 8192;

/// A file whose footer was checked.
pub(crate) struct Rows<R> {
    source: Arc<R>,
    metadata: ArrowReaderMetadata,
    rows: usize,
    /// The places of each column's parts among all that have pages.
    leaves: Vec<Range<usize>>,
}

impl<R: ChunkReader + 'static> Rows<R> {
    /// Reads the footer and checks it.
    pub(crate) fn open(source: Arc<R>, room: &Room) -> Result<Self, DataError> {
        let metadata = read_footer(source.as_ref(), room)?;
        let rows = metadata.metadata().file_metadata().num_rows();
        let rows = usize::try_from(rows).map_err(|_| room.damaged("it claims too many rows"))?;
        let schema = metadata.parquet_schema();
        let mut leaves = vec![0..0; metadata.schema().fields().len()];
        for leaf in 0..schema.num_columns() {
            if let Some(span) = leaves.get_mut(schema.get_column_root_idx(leaf)) {
                *span = if span.start < span.end { span.start } else { leaf }..leaf + 1;
            }
        }
        Ok(Self { source, metadata, rows, leaves })
    }

    /// Number of rows that the groups of rows claim.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// The columns.
    pub(crate) fn schema(&self) -> &Schema {
        self.metadata.schema()
    }

    /// What the pages of a column claim. To be asked before the column is decoded.
    pub(crate) fn claims(&self, field: usize, room: &Room) -> Result<Claims, DataError> {
        let leaves = self.leaves.get(field).cloned().unwrap_or_default();
        let kind = self.schema().fields().get(field).map(|field| field.data_type());
        let mut all = Claims::default();
        for group in self.metadata.metadata().row_groups() {
            let rows = usize::try_from(group.num_rows()).unwrap_or(0);
            for chunk in group.columns().get(leaves.clone()).unwrap_or_default() {
                let claims = claims_of(&self.source, chunk, rows, room)?;
                // The decoder fills what is missing of lists with a fixed length.
                let places = match kind {
                    Some(DataType::FixedSizeList(_, length)) => {
                        usize::try_from(*length).unwrap_or(usize::MAX).saturating_mul(rows)
                    }
                    Some(kind) if is_list(kind) => 0,
                    _ => rows,
                };
                if (places as u64) > claims.values {
                    let name = chunk.column_path().string();
                    let problem = format!(
                        "the column '{name}' has {} values for {rows} rows: it lacks cells or lists",
                        claims.values
                    );
                    return Err(DataError::format(room.file(), problem));
                }
                all = all.and(claims);
            }
        }
        Ok(all)
    }

    /// How many rows can be decoded at a time, where each might have the longest text of columns that claim so.
    pub(crate) fn fitting(&self, claims: Claims, room: &Room) -> usize {
        let rows = room.limit() / claims.largest.max(1);
        usize::try_from(rows).unwrap_or(BATCH).clamp(1, BATCH)
    }

    /// Reads some columns, which come in their order.
    pub(crate) fn batches(
        &self,
        fields: &[usize],
        rows: usize,
        room: &Room,
    ) -> Result<ParquetRecordBatchReader, DataError> {
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), fields.iter().copied());
        let source = Source(self.source.clone());
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(source, self.metadata.clone());
        let reader = builder.with_projection(mask).with_batch_size(rows).build();
        reader.map_err(|error| DataError::format(room.file(), error.to_string()))
    }

    /// Checks how many rows came.
    pub(crate) fn check_found(&self, found: usize, room: &Room) -> Result<(), DataError> {
        if found == self.rows {
            return Ok(());
        }
        Err(room.damaged(format!("it has {found} rows, but claims {}", self.rows)))
    }
}

/// A source that is shared by readers.
struct Source<R>(Arc<R>);

impl<R: ChunkReader> parquet::file::reader::Length for Source<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Source<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> parquet::errors::Result<R::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}
