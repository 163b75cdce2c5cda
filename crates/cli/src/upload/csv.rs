//! Turns rows of CSV into JSON lines: the first row names the fields.

use std::collections::BTreeSet;
use std::io::{self, Read};

use csv::{ByteRecord, Position, ReaderBuilder, Terminator};
use serde_json::{Map, Value};

/// A row as a JSON line.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// Line number, from 1.
    pub number: u64,
    /// Length in the file, in bytes.
    pub bytes: u64,
    /// JSON object.
    pub json: Vec<u8>,
}

/// The columns to read, or all of them under their own names.
#[derive(Clone, Debug, Default)]
pub struct Columns(Vec<(String, String)>);

impl Columns {
    /// Parses pairs of field and column, such as `user=member_id,action=type`. With pairs, all other columns are
    /// left out.
    ///
    /// # Errors
    ///
    /// Returns the pair that is not one, or the name that occurs twice.
    pub fn parse(text: &str) -> Result<Self, String> {
        let pair = |pair: &str| {
            let (field, column) = pair.split_once('=').unwrap_or_default();
            let (field, column) = (field.trim().to_owned(), column.trim().to_owned());
            if field.is_empty() || column.is_empty() {
                return Err(format!("'{pair}' is not FIELD=COLUMN"));
            }
            Ok((field, column))
        };
        let pairs: Vec<_> = text.split(',').map(pair).collect::<Result<_, _>>()?;
        let fields = repeated(pairs.iter().map(|(field, _)| field));
        if let Some(name) = fields.or_else(|| repeated(pairs.iter().map(|(_, column)| column))) {
            return Err(format!("'{name}' is given twice"));
        }
        Ok(Self(pairs))
    }

    /// Returns the field of each column; `None` for one that is left out.
    fn fields(&self, columns: Vec<String>) -> io::Result<Vec<Option<String>>> {
        let invalid = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
        if let Some((_, missing)) = self.0.iter().find(|(_, name)| !columns.contains(name)) {
            return invalid(format!("the first row has no column '{missing}'"));
        }
        let is_read =
            |column: &&String| self.0.is_empty() || self.0.iter().any(|(_, name)| name == *column);
        if let Some(name) = repeated(columns.iter().filter(is_read)) {
            return invalid(format!("the first row has more than one column '{name}'"));
        }
        if self.0.is_empty() {
            return Ok(columns.into_iter().map(Some).collect());
        }
        let field = |column: &String| {
            let pair = self.0.iter().find(|(_, name)| name == column);
            pair.map(|(field, _)| field.clone())
        };
        Ok(columns.iter().map(field).collect())
    }
}

/// How cells are separated and quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// By commas, with quotes.
    Csv,
    /// By tabs, with `\t`, `\n` and `\\` in cells and `NULL` or `\N` for no value, as `mariadb --batch` prints them.
    Tsv,
}

impl Dialect {
    /// Returns the dialect of a first row.
    #[must_use]
    pub fn of(header: &[u8]) -> Self {
        match header.contains(&b'\t') {
            true => Self::Tsv,
            false => Self::Csv,
        }
    }

    /// Returns the text of a cell; empty for no value.
    fn cell(self, text: &str) -> String {
        match (self, text) {
            (Self::Csv, text) => text.to_owned(),
            (Self::Tsv, "NULL" | "\\N") => String::new(),
            (Self::Tsv, text) => unescape(text),
        }
    }
}

/// Returns a text without the escapes of tab-separated values.
#[must_use]
pub fn unescape(text: &str) -> String {
    let (mut plain, mut chars) = (String::with_capacity(text.len()), text.chars());
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('v') => '\u{b}',
                Some('0') => '\0',
                Some(other) => other,
                None => '\\',
            },
            c => c,
        });
    }
    plain
}

/// Returns the first name that occurs twice.
fn repeated<'a>(names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let mut seen = BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}

/// Calls `each` for every row after the first until it returns `false`. Empty cells are left out. A cell
/// beyond the names becomes a field `column 7`, which is refused with the line.
///
/// # Errors
///
/// Returns an error if the input cannot be read, or if a column that is read is missing or occurs twice.
pub fn read(
    input: impl Read,
    dialect: Dialect,
    columns: &Columns,
    mut each: impl FnMut(Row) -> bool,
) -> io::Result<()> {
    // Rows that end with "\r\n" would be counted as one line less: the reader stops before "\n".
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .terminator(Terminator::Any(b'\n'))
        .quoting(dialect == Dialect::Csv)
        .delimiter(match dialect {
            Dialect::Csv => b',',
            Dialect::Tsv => b'\t',
        })
        .from_reader(input);
    let names: Vec<String> = reader
        .byte_headers()?
        .iter()
        .enumerate()
        .map(|(index, name)| field_name(index, name))
        .collect();
    let fields = columns.fields(names)?;
    let mut record = ByteRecord::new();
    let mut start = reader.position().byte();
    while reader.read_byte_record(&mut record)? {
        let end = reader.position().byte();
        let row = Row {
            number: record.position().map_or(0, Position::line),
            bytes: end - start,
            json: json(&fields, &record, dialect),
        };
        start = end;
        // A line with nothing but "\r" is blank.
        if record.as_slice() != b"\r" && !each(row) {
            break;
        }
    }
    Ok(())
}

/// Returns the name of a column; the first one may begin with a byte order mark.
fn field_name(index: usize, name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let name = name.trim_start_matches('\u{feff}').trim();
    match name {
        "" => format!("column {}", index + 1),
        name => name.to_owned(),
    }
}

/// Returns a row as a JSON object; as it is if a cell is not UTF-8, which is then refused.
fn json(names: &[Option<String>], record: &ByteRecord, dialect: Dialect) -> Vec<u8> {
    let mut fields = Map::new();
    for (index, cell) in record.iter().enumerate() {
        let Ok(text) = std::str::from_utf8(cell) else {
            return record.as_slice().to_vec();
        };
        let text = match index + 1 == record.len() {
            true => text.strip_suffix('\r').unwrap_or(text),
            false => text,
        };
        let text = dialect.cell(text);
        let name = names.get(index).cloned();
        let name = name.unwrap_or_else(|| Some(field_name(index, b"")));
        if let Some(name) = name.filter(|_| !text.is_empty()) {
            let value = value(&name, &text);
            fields.insert(name, value);
        }
    }
    Value::Object(fields).to_string().into_bytes()
}

/// Returns the value of a cell: text, except for the fields that have another type.
fn value(name: &str, text: &str) -> Value {
    match name {
        "undo" | "hidden" | "public_activity" => boolean(text).map(Value::Bool),
        "groups" => Some(text.split(';').map(str::trim).collect()),
        _ => None,
    }
    .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Returns a boolean as spreadsheets and databases write it, in upper or lower case. `None` for any other text, which
/// is then refused with the line.
fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(csv: &[u8]) -> io::Result<Vec<(u64, u64, String)>> {
        let mut lines = Vec::new();
        read(csv, Dialect::Csv, &Columns::default(), |row| {
            let text = String::from_utf8_lossy(&row.json).into_owned();
            lines.push((row.number, row.bytes, text));
            true
        })?;
        Ok(lines)
    }

    #[test]
    fn rows_become_objects_without_empty_cells() -> io::Result<()> {
        let csv = "\u{feff}\"id\", title ,author\r\npost-7,\"A \"\"title\"\",\r\nin two lines\",9\r\n\r\npost-8,,\n";
        let first = r#"{"author":"9","id":"post-7","title":"A \"title\",\r\nin two lines"}"#;
        let expected = [(2, first), (5, r#"{"id":"post-8"}"#)];
        let found = lines(csv.as_bytes())?;
        let texts = found
            .iter()
            .map(|(number, _, text)| (*number, text.as_str()));
        assert!(texts.eq(expected), "{found:?}");
        Ok(())
    }

    #[test]
    fn invalid_columns_are_refused() {
        for text in "user user= =member user=a,user=b user=a,target=a ".split(' ') {
            assert!(Columns::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn repeated_column_may_be_left_out() -> Result<(), Box<dyn std::error::Error>> {
        let columns = Columns::parse("action=kind, target=the post")?;
        let csv = "id,kind,the post, id\n55501,like,a,99901\n";
        let mut found = String::new();
        read(csv.as_bytes(), Dialect::Csv, &columns, |row| {
            found += &String::from_utf8_lossy(&row.json);
            true
        })?;
        assert_eq!(found, r#"{"action":"like","target":"a"}"#);
        assert_eq!(lines(b"id,,\n1,,\n")?.len(), 1);
        Ok(())
    }

    #[test]
    fn booleans_are_those_of_spreadsheets() -> io::Result<()> {
        for (cells, expected) in [
            (["TRUE", "True", "t", "Yes", "y", "1", " true "], "true"),
            (["FALSE", "False", "f", "No", "N", "0", "false"], "false"),
            (["wahr", "2", "on", "-", "null", "truely", "tr ue"], "\""),
        ] {
            for cell in cells {
                for field in ["undo", "hidden", "public_activity"] {
                    let found = lines(format!("{field},id\n{cell},7\n").as_bytes())?;
                    let (_, _, json) = found.into_iter().next().unwrap_or_default();
                    assert!(json.contains(&format!("\"{field}\":{expected}")), "{json}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn bytes_add_up_to_the_rows() -> io::Result<()> {
        let csv = b"id\na\nbb\n";
        let bytes: u64 = lines(csv)?.iter().map(|(_, bytes, _)| bytes).sum();
        assert_eq!(bytes, 5);
        Ok(())
    }

    #[test]
    fn cell_without_a_name_is_a_numbered_field() -> io::Result<()> {
        let found = lines(b"id,,title\na,b,c,d\n")?;
        let expected = r#"{"column 2":"b","column 4":"d","id":"a","title":"c"}"#;
        assert_eq!(found, [(2, 8, expected.to_owned())]);
        assert_eq!(lines(b"id,title\n")?, []);
        assert_eq!(lines(b"")?, []);
        Ok(())
    }
}
