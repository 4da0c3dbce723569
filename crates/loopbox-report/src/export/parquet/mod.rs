//! Many reports as Parquet tables: flat columns, for any SQL engine. One table has a row for each report,
//! another one a row for each screen with display frames.
//!
//! The columns are documented in `docs/parquet.md`; tests compare it with what is written. New columns are
//! added at the end; no column is renamed or changes its meaning. Rows have no order.

mod reports;
mod screens;

pub use reports::ReportRow;
pub use screens::ScreenRow;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::Write;
use std::marker::PhantomData;
use std::sync::Arc;

/// How many rows a row group has. A reader can skip whole groups, and a writer holds the rows of one group in
/// memory.
pub const ROW_GROUP: usize = 4_096;

/// A row of a table.
pub trait Row: Sized + 'static {
    /// The name and version of the columns' contract, in the metadata of the file.
    const SCHEMA: &'static str;
    /// The name of the table's message type in the Parquet schema.
    const NAME: &'static str;
    /// The columns in order, with their names.
    const COLUMNS: &'static [(&'static str, Column<Self>)];
}

/// How a column is read from a row. It decides the type of the column.
#[derive(Debug)]
pub enum Column<R> {
    /// UTF-8 text; the empty text is null.
    Text(fn(&R) -> &str),
    /// A whole number.
    Integer(fn(&R) -> Option<i64>),
    /// A real number.
    Real(fn(&R) -> Option<f64>),
    /// Milliseconds since 1970, UTC.
    Time(fn(&R) -> Option<i64>),
    /// A JSON object as text.
    Json(fn(&R) -> &str),
    /// Yes or no; never null in the rows of this version.
    Flag(fn(&R) -> bool),
}

impl<R> Column<R> {
    /// The column's type, as the documentation names it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Integer(_) => "integer",
            Self::Real(_) => "real",
            Self::Time(_) => "timestamp",
            Self::Json(_) => "text, JSON",
            Self::Flag(_) => "boolean",
        }
    }
}

/// A Parquet file being written.
pub struct Table<R, W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: PhantomData<fn(&R)>,
}

impl<R: Row, W: Write + Send> std::fmt::Debug for Table<R, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("rows", &R::NAME).finish_non_exhaustive()
    }
}

impl<R: Row, W: Write + Send> Table<R, W> {
    /// Starts a file.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn new(out: W) -> Result<Self> {
        let fields = R::COLUMNS.iter().map(|(name, get)| field(name, get)).collect::<Result<Vec<_>>>()?;
        let schema = Type::group_type_builder(R::NAME).with_fields(fields).build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![KeyValue::new(
                "loopbox.schema".to_owned(),
                R::SCHEMA.to_owned(),
            )]))
            .set_created_by(concat!("loopbox ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        Ok(Self { writer, rows: PhantomData })
    }

    /// Appends rows as one row group; see [`ROW_GROUP`].
    ///
    /// # Errors
    /// When the output cannot be written to.
    pub fn write(&mut self, rows: &[R]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for (_, get) in R::COLUMNS {
            write_column(&mut group, rows, get)?;
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file. Before that it cannot be read.
    ///
    /// # Errors
    /// When the output cannot be written to.
    pub fn finish(self) -> Result<()> {
        self.writer.close()?;
        Ok(())
    }
}

fn field<R>(name: &str, get: &Column<R>) -> Result<Arc<Type>> {
    let (physical, logical) = match get {
        // Readers map Parquet's JSON type in different ways, text in one.
        Column::Text(_) | Column::Json(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Column::Integer(_) => (Physical::INT64, None),
        Column::Real(_) => (Physical::DOUBLE, None),
        Column::Flag(_) => (Physical::BOOLEAN, None),
        Column::Time(_) => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
    };
    let field = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

fn write_column<R, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[R],
    get: &Column<R>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    match get {
        Column::Text(get) | Column::Json(get) => {
            let values =
                rows.iter().map(|r| Some(get(r)).filter(|text| !text.is_empty()).map(ByteArray::from));
            let (values, levels) = present(values);
            column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
        Column::Integer(get) | Column::Time(get) => {
            let (values, levels) = present(rows.iter().map(get));
            column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Column::Real(get) => {
            let (values, levels) = present(rows.iter().map(get));
            column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
        Column::Flag(get) => {
            let (values, levels) = present(rows.iter().map(|r| Some(get(r))));
            column.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    column.close()
}

/// The values without the missing ones, and for each row 1 if it has a value, else 0: Parquet's form of
/// optional values.
fn present<T>(values: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<i16>) {
    let mut levels = Vec::new();
    let values = values.inspect(|value| levels.push(i16::from(value.is_some()))).flatten().collect();
    (values, levels)
}

/// A JSON object of texts.
fn object<'t>(pairs: impl Iterator<Item = (&'t str, &'t str)>) -> String {
    let map: serde_json::Map<String, serde_json::Value> =
        pairs.map(|(name, value)| (name.to_string(), value.into())).collect();
    serde_json::Value::Object(map).to_string()
}

/// The names and types of the columns that a section of a page lists, from its heading to the next one; for
/// tests.
#[cfg(any(test, feature = "test-support"))]
pub fn documented(page: &str, heading: &str) -> Vec<(String, String)> {
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap_or_default();
    let cells = section.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let name = cells.next()?.trim().trim_end_matches('`').to_string();
        Some((name, cells.next()?.trim().to_string()))
    });
    cells.collect()
}

/// The names and types of the columns that are written, for tests.
#[cfg(any(test, feature = "test-support"))]
pub fn written<R: Row>() -> Vec<(String, String)> {
    R::COLUMNS.iter().map(|(name, get)| ((*name).to_string(), get.type_name().to_string())).collect()
}
