//! Files of dumps: compressed or not, and the COPY blocks of `pg_dump`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use activity_rank_sync::{Failure, Progress};
use flate2::bufread::MultiGzDecoder;

use crate::upload::csv::unescape;
use crate::upload::source::check_encoding;

/// How a gzip file begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The longest line of a dump, in bytes. The memory of a run would grow with a longer one.
const MAX_LINE: u64 = 64 * 1024 * 1024;
/// Lines between two messages of progress.
const LINES: u64 = 100_000;

/// Opens a file, also a gzipped one; `-` is standard input.
///
/// # Errors
///
/// [`Failure::File`] if it cannot be read, or is neither UTF-8 nor ASCII.
pub fn open(name: &str) -> Result<Box<dyn BufRead>, Failure> {
    let open = || -> io::Result<Box<dyn BufRead>> {
        let input: Box<dyn Read> = match name {
            "-" => Box::new(io::stdin()),
            name => Box::new(File::open(name)?),
        };
        let mut input = BufReader::new(input);
        let mut input: Box<dyn BufRead> = match input.fill_buf()?.starts_with(&GZIP) {
            true => Box::new(BufReader::new(MultiGzDecoder::new(input))),
            false => Box::new(input),
        };
        check_encoding(input.fill_buf()?)?;
        Ok(input)
    };
    open().map_err(|cause| failure(name, cause))
}

/// Opens a file of lines as [`open`] does. A line that is too long is an error.
///
/// # Errors
///
/// As [`open`].
pub fn open_lines(name: &str) -> Result<impl BufRead, Failure> {
    Ok(Lines {
        input: open(name)?,
        line: 1,
        bytes: 0,
    })
}

/// An input whose lines have a limit: a small file may be compressed from a line of any length.
struct Lines {
    input: Box<dyn BufRead>,
    line: u64,
    /// Bytes of the line so far.
    bytes: u64,
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Lines {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.bytes > MAX_LINE {
            let what = format!("line {} has more than {} MB", self.line, MAX_LINE >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The buffer is full already.
        let read = self.input.fill_buf().unwrap_or_default();
        let read = read.get(..amount).unwrap_or_default();
        for part in read.split_inclusive(|byte| *byte == b'\n') {
            self.bytes += part.len() as u64;
            if part.ends_with(b"\n") {
                (self.line, self.bytes) = (self.line + 1, 0);
            }
        }
        self.input.consume(amount);
    }
}

/// Returns the failure of a file.
pub fn failure(name: &str, cause: io::Error) -> Failure {
    let name = match name {
        "-" => "standard input",
        name => name,
    };
    Failure::File {
        name: name.to_owned(),
        cause,
    }
}

/// A row of a COPY block.
pub struct CopyRow<'a> {
    /// The table, without its schema.
    pub table: &'a str,
    /// Number of the line in the dump, from 1.
    pub line: u64,
    columns: &'a [String],
    cells: Vec<&'a str>,
}

impl CopyRow<'_> {
    /// Returns the text of a column; `None` for NULL or a column that the table lacks.
    pub fn text(&self, column: &str) -> Option<String> {
        let index = self.columns.iter().position(|name| name == column)?;
        match *self.cells.get(index)? {
            "\\N" => None,
            text => Some(unescape(text)),
        }
    }

    /// Returns the whole number of a column; `None` if it has none.
    pub fn integer(&self, column: &str) -> Option<i64> {
        self.text(column)?.parse().ok()
    }

    /// Returns whether a column is true.
    pub fn is_true(&self, column: &str) -> bool {
        self.text(column).as_deref() == Some("t")
    }
}

/// Calls `each` for every row of the tables. Returns the optional tables that the dump lacks.
///
/// # Errors
///
/// [`Failure::File`] if the dump cannot be read, ends within a table or lacks a required one: with a part of a dump it would
/// look as if the rest had been deleted.
pub fn read_copy<'t>(
    name: &str,
    required: &[&'t str],
    optional: &[&'t str],
    progress: &dyn Progress,
    mut each: impl FnMut(&CopyRow<'_>),
) -> Result<Vec<&'t str>, Failure> {
    let mut input = open_lines(name)?;
    let tables = [required, optional].concat();
    let (mut line, mut number, mut missing) = (Vec::new(), 0, tables.clone());
    // The table and the columns of the block.
    let mut block: Option<(String, Vec<String>)> = None;
    loop {
        line.clear();
        let bytes = input.read_until(b'\n', &mut line);
        if bytes.map_err(|cause| failure(name, cause))? == 0 {
            break;
        }
        number += 1;
        if number % LINES == 0 {
            progress.advance(0, crate::count::count(number, "line"));
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        match &block {
            None => {
                block = header(text);
                let table = block.as_ref().map(|(table, _)| table.as_str());
                missing.retain(|name| Some(*name) != table);
            }
            Some(_) if text == "\\." => block = None,
            Some((table, columns)) if tables.contains(&table.as_str()) => each(&CopyRow {
                table,
                line: number,
                columns,
                cells: text.split('\t').collect(),
            }),
            Some(_) => {}
        }
    }
    let (absent, missing): (Vec<_>, Vec<_>) = missing
        .into_iter()
        .partition(|name| optional.contains(name));
    match (&block, missing.as_slice()) {
        (None, []) => Ok(absent),
        (Some((table, _)), _) => Err(invalid(name, format!("ends within the table {table}"))),
        (None, missing) => {
            let missing = missing.join(", ");
            let expected = "expected the output of pg_dump in plain format";
            Err(invalid(
                name,
                format!("has no COPY block of {missing}: {expected}"),
            ))
        }
    }
}

/// Returns the failure of a file with unusable content.
pub fn invalid(name: &str, what: String) -> Failure {
    failure(name, io::Error::new(io::ErrorKind::InvalidData, what))
}

/// Parses the first line of a block: `COPY public.users (id, username, "order") FROM stdin;`.
fn header(line: &str) -> Option<(String, Vec<String>)> {
    let rest = line.strip_prefix("COPY ")?;
    let (table, rest) = rest.split_once(" (")?;
    let (columns, _) = rest.split_once(") FROM stdin;")?;
    let table = table.rsplit('.').next().unwrap_or(table);
    let plain = |name: &str| name.trim_matches('"').to_owned();
    Some((plain(table), columns.split(", ").map(plain).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_copy_blocks_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let dump = "SET x;\nCOPY public.posts (id, raw) FROM stdin;\n1\tposts\n\\.\n\nCOPY public.users (id, \"name\", admin) FROM stdin;\n\
                    7\ta\\tb\\\\c\\nd\tt\n8\t\\N\tf\n\\.\n";
        std::fs::write(&file, dump).unwrap();
        let mut found = Vec::new();
        let name = file.path().to_string_lossy();
        let absent = read_copy(
            &name,
            &["users"],
            &["votes"],
            &crate::progress::Progress::new(None),
            |row| {
                let id = row.integer("id");
                found.push((
                    row.line,
                    id,
                    row.text("name"),
                    row.is_true("admin"),
                    row.text("x"),
                ));
            },
        );
        assert_eq!(absent.unwrap(), ["votes"]);
        let name = Some("a\tb\\c\nd".to_owned());
        let expected = [
            (7, Some(7), name, true, None),
            (8, Some(8), None, false, None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn part_of_a_dump_is_refused() {
        let users = "COPY public.users (id) FROM stdin;\n7\n";
        let absent = "has no COPY block of posts: expected the output of pg_dump in plain format";
        for (dump, error) in [
            (users.to_owned(), "ends within the table users"),
            (format!("{users}\\.\n"), absent),
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(&file, dump).unwrap();
            let name = file.path().to_string_lossy();
            let read = read_copy(
                &name,
                &["posts", "users"],
                &["votes"],
                &crate::progress::Progress::new(None),
                |_| (),
            );
            assert_eq!(read.unwrap_err().to_string(), format!("{name}: {error}"));
        }
    }
}
