//! Turns rows of CSV into objects: the first row names the fields.
//!
//! Cells are divided by commas, by semicolons, as spreadsheets of many languages write them, or by tabs. Rows end with LF, with
//! CR LF, or with CR alone if the first one does. An input that seems to be cut is refused: nothing is sent of a part.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read};
use std::sync::Once;

use serde_json::{Map, Value};

use crate::printable::printable;
use crate::screen::Screen;

/// The longest row, in bytes. The memory of a run would grow with a longer one.
const MAX_ROW: u64 = 64 * 1024 * 1024;
/// The fields that are ids.
const IDS: [&str; 6] = ["user", "id", "target", "author", "on", "of"];
/// A file may be read twice, and its warning is printed once.
static WARNING: Once = Once::new();

/// A row as an object.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// Line number, from 1.
    pub number: u64,
    /// Length in the file, in bytes.
    pub bytes: u64,
    /// The fields that are not empty.
    pub fields: Map<String, Value>,
}

/// Returns whether a command has a field.
pub type IsField = fn(&str) -> bool;

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

    /// Returns the field of each column; `None` for one that is left out. Without pairs, the first row may write fields in
    /// upper case.
    fn fields(&self, columns: &[String], is_field: IsField) -> Result<Vec<Option<String>>, String> {
        if let Some((_, missing)) = self.0.iter().find(|(_, name)| !columns.contains(name)) {
            return Err(format!("the first row has no column '{missing}'"));
        }
        let field = |column: &String| {
            if self.0.is_empty() {
                let lower = column.to_lowercase();
                let is_spelling = !is_field(column) && is_field(&lower);
                return Some(if is_spelling { lower } else { column.clone() });
            }
            let pair = self.0.iter().find(|(_, name)| name == column);
            pair.map(|(field, _)| field.clone())
        };
        let fields: Vec<_> = columns.iter().map(field).collect();
        let kept = || {
            let pairs = fields.iter().zip(columns);
            pairs.filter_map(|(field, column)| Some((field.as_ref()?, column)))
        };
        if let Some(name) = repeated(kept().map(|(field, _)| field)) {
            let column = kept().find(|(field, _)| *field == name);
            let name = printable(column.map_or(name, |(_, column)| column));
            return Err(format!("the first row has more than one column '{name}'"));
        }
        // A column without a name may be empty.
        let is_unknown = |name: &str| !is_field(name) && !name.starts_with(UNNAMED);
        let unknown = kept()
            .map(|(field, _)| field.as_str())
            .filter(|name| is_unknown(name));
        let unknown: Vec<_> = unknown.collect();
        match unknown.is_empty() {
            true => Ok(fields),
            false => Err(format!(
                "the first row has unknown fields: {}: --columns FIELD=COLUMN,… names the columns to read",
                printable(&unknown.join(", "))
            )),
        }
    }
}

/// Begins the field of a cell without a name.
const UNNAMED: &str = "column ";

/// Returns a text without the escapes of tab-separated values, as `mariadb --batch` prints them.
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
/// Returns an error if the input cannot be read, is empty, is not UTF-8 or seems to be cut, or if the first row has an unknown
/// field, or lacks a column that is read or has it twice.
pub fn read(
    input: impl BufRead,
    columns: &Columns,
    is_field: IsField,
    mut each: impl FnMut(Row) -> bool,
) -> io::Result<()> {
    let (delimiter, line, input) = begin(input)?;
    let mut reader = Reader {
        input,
        delimiter,
        end: None,
        line,
        bytes: 0,
        is_cut: false,
    };
    let Some((_, header)) = reader.row()? else {
        // The query before a pipe may have failed: nothing would differ from nothing.
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "no header row: it is empty",
        ));
    };
    let names = header.iter().enumerate();
    let names: Vec<_> = names.map(|(index, name)| field_name(index, name)).collect();
    let fields = columns.fields(&names, is_field).map_err(invalid)?;
    let (mut has_rows, mut decimal_ids) = (false, BTreeMap::new());
    let mut start = reader.bytes;
    while let Some((number, cells)) = reader.row()? {
        if reader.is_cut && cells.len() < fields.len() {
            return Err(invalid(format!(
                "line {number}: the last row has {} of {} cells and no end: the file may be incomplete",
                cells.len(),
                fields.len()
            )));
        }
        let mut row = Row {
            number,
            bytes: reader.bytes - start,
            fields: Map::new(),
        };
        for (index, cell) in cells.into_iter().enumerate() {
            let name = fields.get(index).cloned();
            let Some(name) = name.unwrap_or_else(|| Some(field_name(index, b""))) else {
                continue;
            };
            let text = String::from_utf8(cell).map_err(|_| {
                invalid(format!(
                    "line {number} is not UTF-8: save the file as UTF-8"
                ))
            })?;
            let text = match (delimiter, text.as_str()) {
                (b'\t', "NULL" | "\\N") => String::new(),
                (b'\t', text) => unescape(text),
                _ => text,
            };
            if text.is_empty() {
                continue;
            }
            if let Some(id) = IDS.iter().find(|id| **id == name) {
                let digits = text.strip_suffix(".0").unwrap_or_default();
                let is_decimal = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                *decimal_ids.entry(*id).or_insert(true) &= is_decimal;
            }
            let value = value(&name, text);
            row.fields.insert(name, value);
        }
        (has_rows, start) = (true, reader.bytes);
        if !each(row) {
            return Ok(());
        }
    }
    decimal_ids.retain(|_, is_decimal| *is_decimal);
    if !has_rows {
        warn("no row follows the header");
    } else if !decimal_ids.is_empty() {
        let names: Vec<_> = decimal_ids.into_keys().collect();
        let names = names.join(", ");
        warn(&format!(
            "all ids of {names} end in .0, as programs write numbers: 42.0 is another id than 42"
        ));
    }
    Ok(())
}

fn warn(what: &str) {
    WARNING.call_once(|| Screen::print_error(&format!("warning: {what}")));
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Returns the delimiter, the number of the line with the header and the input from there on. A line `sep=;` before it names the
/// delimiter, as spreadsheets write it. Otherwise it is a tab if the header has one, or the more frequent of comma and semicolon.
fn begin<R: BufRead>(mut input: R) -> io::Result<(u8, u64, impl BufRead)> {
    let mut first = Vec::new();
    let mut is_open = true;
    while is_open && (first.len() as u64) < MAX_ROW {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| b"\r\n".contains(byte));
        is_open = end.is_none() && !buffer.is_empty();
        let length = end.map_or(buffer.len(), |end| end + 1);
        first.extend_from_slice(buffer.get(..length).unwrap_or_default());
        input.consume(length);
    }
    if first.starts_with("\u{feff}".as_bytes()) {
        first.drain(..3);
    }
    if let Some([delimiter] | [delimiter, b'\r' | b'\n']) = first.strip_prefix(b"sep=") {
        let delimiter = *delimiter;
        if first.ends_with(b"\r") && input.fill_buf()?.first() == Some(&b'\n') {
            input.consume(1);
        }
        return Ok((delimiter, 2, io::Cursor::new(Vec::new()).chain(input)));
    }
    let number = |delimiter: u8| first.iter().filter(|byte| **byte == delimiter).count();
    let delimiter = match (number(b'\t'), number(b',') < number(b';')) {
        (1.., _) => b'\t',
        (0, true) => b';',
        (0, false) => b',',
    };
    Ok((delimiter, 1, io::Cursor::new(first).chain(input)))
}

/// Divides an input into rows and cells.
struct Reader<R> {
    input: R,
    delimiter: u8,
    /// The byte that ends a row after the first one: LF, before which a CR is left out, or CR.
    end: Option<u8>,
    /// Number of the line that is read.
    line: u64,
    /// Bytes that are read.
    bytes: u64,
    /// Whether the last row ended with the input.
    is_cut: bool,
}

/// Where the next byte of a row is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// At the beginning of a cell.
    Start,
    /// In a cell without quotation marks.
    Plain,
    /// Behind the quotation mark of this line.
    Quoted(u64),
    /// Behind the end of a quotation that begins in this line.
    Closed(u64),
}

impl<R: BufRead> Reader<R> {
    fn next(&mut self) -> io::Result<Option<u8>> {
        let byte = self.input.fill_buf()?.first().copied();
        if byte.is_some() {
            self.input.consume(1);
            self.bytes += 1;
            self.line += u64::from(byte == Some(self.end.unwrap_or(b'\n')));
        }
        Ok(byte)
    }

    /// Returns the next row that is not blank, and the number of its first line; `None` at the end.
    fn row(&mut self) -> io::Result<Option<(u64, Vec<Vec<u8>>)>> {
        let (mut number, mut start) = (self.line, self.bytes);
        let (mut cells, mut cell, mut position) = (Vec::new(), Vec::new(), Position::Start);
        // Only these have quotation marks.
        let has_quotes = self.delimiter != b'\t';
        loop {
            let byte = self.next()?;
            if self.bytes - start > MAX_ROW {
                let what = match position {
                    Position::Quoted(line) => {
                        format!("the quotation mark of line {line} is not closed")
                    }
                    _ => format!("line {number} has no end"),
                };
                return Err(invalid(format!("{what} within {} MB", MAX_ROW >> 20)));
            }
            let is_end = match (byte, self.end) {
                (None, _) | (Some(b'\r' | b'\n'), None) => true,
                (Some(byte), end) => Some(byte) == end,
            };
            match (byte, position) {
                (None, Position::Quoted(line)) => {
                    return Err(invalid(format!(
                        "the quotation mark of line {line} is never closed"
                    )));
                }
                (Some(b'"'), Position::Quoted(line)) => position = Position::Closed(line),
                (Some(byte), Position::Quoted(_)) => cell.push(byte),
                _ if is_end => {
                    self.end_row(byte)?;
                    if position == Position::Plain && cell.last() == Some(&b'\r') {
                        cell.pop();
                    }
                    let is_quoted = matches!(position, Position::Closed(_));
                    let is_blank = cells.is_empty() && cell.is_empty() && !is_quoted;
                    match (byte, is_blank) {
                        (None, true) => return Ok(None),
                        (Some(_), true) => {
                            (number, start, position) = (self.line, self.bytes, Position::Start);
                        }
                        (_, false) => {
                            cells.push(cell);
                            return Ok(Some((number, cells)));
                        }
                    }
                }
                (Some(byte), _) if byte == self.delimiter => {
                    cells.push(std::mem::take(&mut cell));
                    position = Position::Start;
                }
                (Some(b'"'), Position::Start) if has_quotes => {
                    position = Position::Quoted(self.line)
                }
                (Some(b'"'), Position::Closed(line)) => {
                    cell.push(b'"');
                    position = Position::Quoted(line);
                }
                (Some(b'\r' | b' '), Position::Closed(_)) => {}
                (Some(_), Position::Closed(begin)) => {
                    let line = self.line;
                    return Err(invalid(format!(
                        "line {line}: text follows the end of a quotation that begins in line {begin}"
                    )));
                }
                (Some(byte), Position::Start | Position::Plain) => {
                    cell.push(byte);
                    position = Position::Plain;
                }
                (None, _) => {}
            }
        }
    }

    /// Ends a row with a byte, or with the input. The first row says how all others end.
    fn end_row(&mut self, byte: Option<u8>) -> io::Result<()> {
        self.is_cut = byte.is_none();
        if self.end.is_some() || self.is_cut {
            return Ok(());
        }
        let is_alone = byte == Some(b'\r') && self.input.fill_buf()?.first() != Some(&b'\n');
        self.end = Some(if is_alone { b'\r' } else { b'\n' });
        if is_alone {
            self.line += 1;
        } else if byte == Some(b'\r') {
            self.next()?;
        }
        Ok(())
    }
}

/// Returns the name of a column.
fn field_name(index: usize, name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    match name.trim() {
        "" => format!("{UNNAMED}{}", index + 1),
        name => name.to_owned(),
    }
}

/// Returns the value of a cell: text, except for the fields that have another type.
fn value(name: &str, text: String) -> Value {
    match name {
        "undo" | "hidden" | "public_activity" => boolean(&text).map(Value::Bool),
        "groups" => Some(text.split(';').map(str::trim).collect()),
        _ => None,
    }
    .unwrap_or(Value::String(text))
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
        read(
            csv,
            &Columns::default(),
            |_| true,
            |row| {
                lines.push((row.number, row.bytes, Value::Object(row.fields).to_string()));
                true
            },
        )?;
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

    /// Each of these files has the same two rows.
    #[test]
    fn delimiters_and_line_ends_are_found() -> io::Result<()> {
        for csv in [
            "id,title\n7,a;b\n8,c\n",
            "id;title\n7;\"a;b\"\n8;c\n",
            "\u{feff}sep=|\r\nid|title\r\n7|a;b\r\n8|c\r\n",
            "sep=;\rid;title\r7;\"a;b\"\r8;c",
            "id\ttitle\n7\ta;b\n8\tc\n",
            "id,title\r7,\"a;b\" \r\r8,c",
        ] {
            let found = lines(csv.as_bytes())?;
            let texts: Vec<_> = found.iter().map(|(_, _, text)| text.as_str()).collect();
            let expected = [r#"{"id":"7","title":"a;b"}"#, r#"{"id":"8","title":"c"}"#];
            assert_eq!(texts, expected, "{csv:?}");
        }
        Ok(())
    }

    #[test]
    fn unclosed_quotation_is_refused_with_its_line() {
        let unclosed = "the quotation mark of line 3 is never closed";
        let cut = "line 3: the last row has 1 of 2 cells and no end: the file may be incomplete";
        let encoding = "line 3 is not UTF-8: save the file as UTF-8";
        for (row, expected) in [
            (&b"\"b,x\nc,y\n"[..], unclosed),
            (b"b,\"x\nc,\"\"y\"\"\n", unclosed),
            (
                b"b,\"x\nc,\"y\"\n",
                "line 4: text follows the end of a quotation that begins in line 3",
            ),
            (b"b", cut),
            (b"b,\xe4\n", encoding),
        ] {
            let csv = [b"id,name\na,\"x\"\n", row].concat();
            let error = lines(&csv).map_err(|error| error.to_string());
            assert_eq!(error, Err(expected.to_owned()));
        }
    }

    #[test]
    fn first_row_names_known_fields() {
        let unknown = "the first row has unknown fields: Kind, note: --columns FIELD=COLUMN,… names the columns to read";
        let twice = "the first row has more than one column 'User'";
        let is_field: IsField = |name| ["user", "target"].contains(&name);
        for (columns, header, expected) in [
            (None, "User,TARGET,", Ok(())),
            (None, "user,Kind,note", Err(unknown)),
            (None, "User,user", Err(twice)),
            (Some("user=Kind"), "user,Kind,note", Ok(())),
        ] {
            let columns = columns.map(|text| Columns::parse(text).unwrap_or_default());
            let csv = format!("{header}\na,b\n");
            let found = read(
                csv.as_bytes(),
                &columns.unwrap_or_default(),
                is_field,
                |_| true,
            );
            let found = found.map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_owned), "{header}");
        }
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
        let mut found = Vec::new();
        read(
            csv.as_bytes(),
            &columns,
            |_| true,
            |row| {
                found.push(Value::Object(row.fields).to_string());
                true
            },
        )?;
        assert_eq!(found, [r#"{"action":"like","target":"a"}"#]);
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
        Ok(())
    }
}
