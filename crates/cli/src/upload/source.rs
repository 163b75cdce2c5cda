//! An input file: a regular file, a pipe or standard input, read line by line, row by row or element by element.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};

use serde_json::Value;

use crate::failure::Failure;
use crate::upload::csv::{Columns, IsField};
use crate::upload::{array, csv};

/// Maximum length of a line, in bytes. A longer line does not fit into a request, so its text is not
/// kept.
const MAX_LINE_BYTES: u64 = 256 * 1024;

/// An open input.
#[derive(Debug)]
pub struct Source {
    name: String,
    input: Input,
    layout: Layout,
}

/// How the input is divided.
#[derive(Clone, Debug, Default)]
enum Layout {
    /// JSON lines, or one JSON array.
    #[default]
    Json,
    /// Rows of CSV.
    Csv(Columns, IsField),
}

#[derive(Debug)]
enum Input {
    /// A regular file: its size is known, and it can be read twice.
    Regular(File),
    /// A pipe or a device.
    Stream(File),
    Stdin,
}

/// A line of the input, unparsed.
#[derive(Debug, PartialEq, Eq)]
pub struct RawLine {
    /// Line number, from 1.
    pub number: u64,
    /// Length including the line terminator, in bytes.
    pub bytes: u64,
    /// Content including the line terminator, or `None` if longer than 256 KiB.
    pub text: Option<Vec<u8>>,
}

impl Source {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::File`] if the file cannot be opened.
    pub fn open(name: &str) -> Result<Self, Failure> {
        if name == "-" {
            return Ok(Self {
                name: "standard input".to_owned(),
                input: Input::Stdin,
                layout: Layout::default(),
            });
        }
        let open = || {
            let file = File::open(name)?;
            Ok(match file.metadata()?.is_file() {
                true => Input::Regular(file),
                false => Input::Stream(file),
            })
        };
        let name = name.to_owned();
        match open() {
            Ok(input) => Ok(Self {
                name,
                input,
                layout: Layout::default(),
            }),
            Err(cause) => Err(Failure::File { name, cause }),
        }
    }

    /// Reads lines that this program has written to a file.
    #[must_use]
    pub fn from_file(name: &str, file: File) -> Self {
        Self {
            name: name.to_owned(),
            input: Input::Regular(file),
            layout: Layout::default(),
        }
    }

    /// Reads rows of CSV in the place of JSON.
    #[must_use]
    pub fn with_csv(self, columns: Columns, is_field: IsField) -> Self {
        Self {
            layout: Layout::Csv(columns, is_field),
            ..self
        }
    }

    /// Returns the size in bytes, or `None` if it is unknown.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match &self.input {
            Input::Regular(file) => file.metadata().ok().map(|metadata| metadata.len()),
            Input::Stream(_) | Input::Stdin => None,
        }
    }

    /// Reads all lines, then rewinds for a second pass. A stream is first copied to a temporary file.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::File`] if the input cannot be read or copied.
    pub fn read_ahead(&mut self, mut each: impl FnMut(RawLine)) -> Result<(), Failure> {
        let mut read = || -> io::Result<()> {
            let mut file = match &mut self.input {
                Input::Regular(file) => file.try_clone()?,
                Input::Stream(stream) => spool(stream)?,
                Input::Stdin => spool(&mut io::stdin().lock())?,
            };
            self.layout.read(BufReader::new(&mut file), |line| {
                each(line);
                true
            })?;
            file.rewind()?;
            self.input = Input::Regular(file);
            Ok(())
        };
        read().map_err(|cause| Failure::File {
            name: self.name.clone(),
            cause,
        })
    }

    /// Calls `each` for every line until it returns `false`.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::File`] if the input cannot be read.
    pub fn read(self, each: impl FnMut(RawLine) -> bool) -> Result<(), Failure> {
        let input: Box<dyn BufRead> = match self.input {
            Input::Regular(file) | Input::Stream(file) => Box::new(BufReader::new(file)),
            Input::Stdin => Box::new(io::stdin().lock()),
        };
        let name = self.name;
        let read = self.layout.read(input, each);
        read.map_err(|cause| Failure::File { name, cause })
    }
}

impl Layout {
    /// Calls `each` for every line, row or element until it returns `false`.
    fn read(
        &self,
        mut input: impl BufRead,
        mut each: impl FnMut(RawLine) -> bool,
    ) -> io::Result<()> {
        check_encoding(input.fill_buf()?)?;
        match self {
            Self::Csv(columns, is_field) => csv::read(input, columns, *is_field, |row| {
                each(RawLine {
                    number: row.number,
                    bytes: row.bytes,
                    text: Some(Value::Object(row.fields).to_string().into_bytes()),
                })
            }),
            Self::Json if array::begins(&mut input)? => {
                array::read(input, MAX_LINE_BYTES, |element| {
                    each(RawLine {
                        number: element.number,
                        bytes: element.bytes,
                        text: element.text,
                    })
                })
            }
            Self::Json => Lines::new(input).read(each),
        }
    }
}

/// Refuses an input by its first bytes that no command reads as it is: each of its lines would be a fault.
///
/// # Errors
///
/// Returns an error that says what the input is.
pub fn check_encoding(start: &[u8]) -> io::Result<()> {
    let what = match start {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, ..] | [_, 0, ..] => {
            "the file is UTF-16: save it as UTF-8"
        }
        [0x1f, 0x8b, ..] => "the file is compressed: zcat FILE | activity-rank … -",
        [b'P', b'K', 3, 4, ..] => {
            "the file is a spreadsheet or an archive: save it as CSV in UTF-8"
        }
        _ => return Ok(()),
    };
    Err(io::Error::new(ErrorKind::InvalidData, what))
}

/// Copies a stream to an unnamed temporary file, which the system removes with the process.
fn spool(stream: &mut impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(stream, &mut file)?;
    file.rewind()?;
    Ok(file)
}

struct Lines<R> {
    input: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    fn new(input: R) -> Self {
        Self { input, number: 0 }
    }

    /// Refuses an input without a line that is not blank: the program before a pipe may have failed.
    fn read(mut self, mut each: impl FnMut(RawLine) -> bool) -> io::Result<()> {
        let mut is_empty = true;
        while let Some(line) = self.next()? {
            let text = line.text.as_deref();
            is_empty &= text.is_some_and(|text| text.trim_ascii().is_empty());
            if !each(line) {
                return Ok(());
            }
        }
        match is_empty {
            true => Err(io::Error::new(ErrorKind::UnexpectedEof, "it is empty")),
            false => Ok(()),
        }
    }

    fn next(&mut self) -> io::Result<Option<RawLine>> {
        let mut text = Vec::new();
        let mut bytes = self
            .input
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut text)?;
        if bytes == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mut text = Some(text);
        if bytes as u64 == MAX_LINE_BYTES
            && text.as_ref().is_some_and(|text| !text.ends_with(b"\n"))
        {
            let rest = self.input.skip_until(b'\n')?;
            bytes += rest;
            // Without a rest, the file ends exactly at the limit.
            text = text.filter(|_| rest == 0);
        }
        Ok(Some(RawLine {
            number: self.number,
            bytes: bytes as u64,
            text,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_number_and_length() -> io::Result<()> {
        let mut lines = Lines::new(&b"ab\r\n\nc"[..]);
        let line = |number, text: &[u8]| {
            Some(RawLine {
                number,
                bytes: text.len() as u64,
                text: Some(text.to_vec()),
            })
        };
        assert_eq!(lines.next()?, line(1, b"ab\r\n"));
        assert_eq!(lines.next()?, line(2, b"\n"));
        assert_eq!(lines.next()?, line(3, b"c"));
        assert_eq!(lines.next()?, None);
        Ok(())
    }

    #[test]
    fn overlong_line_is_skipped() -> io::Result<()> {
        let long = vec![b'x'; 600_000];
        let input = [long.as_slice(), b"\nnext\n"].concat();
        let mut lines = Lines::new(input.as_slice());
        assert_eq!(
            lines.next()?,
            Some(RawLine {
                number: 1,
                bytes: 600_001,
                text: None
            })
        );
        assert_eq!(
            lines.next()?,
            Some(RawLine {
                number: 2,
                bytes: 5,
                text: Some(b"next\n".to_vec())
            })
        );
        Ok(())
    }
}
