//! The file to send: opened, cut into lines, read a second time where that is needed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

use crate::failure::Failure;

/// Bytes of a line that are kept. A longer one fits in no request, so its rest is skipped unread.
pub const LONGEST_LINE: u64 = 256 * 1024;

/// A file, a pipe or standard input.
#[derive(Debug)]
pub struct Source {
    name: String,
    input: Input,
}

#[derive(Debug)]
enum Input {
    /// Has a size and can be read again.
    Regular(File),
    /// A pipe or a device.
    Stream(File),
    Stdin,
}

/// A line as it stands in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct RawLine {
    /// From 1.
    pub number: u64,
    /// Its length with its end.
    pub bytes: u64,
    /// Its bytes; none if it is longer than [`LONGEST_LINE`].
    pub text: Option<Vec<u8>>,
}

impl Source {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    ///
    /// [`Failure::File`] if that is not possible.
    pub fn open(name: &str) -> Result<Self, Failure> {
        if name == "-" {
            return Ok(Self {
                name: "standard input".to_owned(),
                input: Input::Stdin,
            });
        }
        let failure = |cause| Failure::File {
            name: name.to_owned(),
            cause,
        };
        let file = File::open(name).map_err(failure)?;
        let regular = file.metadata().map_err(failure)?.is_file();
        let input = if regular {
            Input::Regular(file)
        } else {
            Input::Stream(file)
        };
        Ok(Self {
            name: name.to_owned(),
            input,
        })
    }

    /// How long it is, if that is known.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match &self.input {
            Input::Regular(file) => file.metadata().ok().map(|about| about.len()),
            Input::Stream(_) | Input::Stdin => None,
        }
    }

    /// Reads all of it once, so that it can be read again from its beginning.
    ///
    /// # Errors
    ///
    /// [`Failure::File`] if it can't be read.
    pub fn read_ahead(&mut self, mut each: impl FnMut(RawLine)) -> Result<(), Failure> {
        let mut read = || -> io::Result<()> {
            let mut file = match &mut self.input {
                Input::Regular(file) => file.try_clone()?,
                Input::Stream(stream) => spooled(stream)?,
                Input::Stdin => spooled(&mut io::stdin().lock())?,
            };
            let mut lines = Lines::new(BufReader::new(&mut file));
            while let Some(line) = lines.next()? {
                each(line);
            }
            file.rewind()?;
            self.input = Input::Regular(file);
            Ok(())
        };
        read().map_err(|cause| Failure::File {
            name: self.name.clone(),
            cause,
        })
    }

    /// Hands over every line, until `each` wants no more.
    ///
    /// # Errors
    ///
    /// [`Failure::File`] if it can't be read on.
    pub fn read(self, mut each: impl FnMut(RawLine) -> bool) -> Result<(), Failure> {
        let input: Box<dyn BufRead> = match self.input {
            Input::Regular(file) | Input::Stream(file) => Box::new(BufReader::new(file)),
            Input::Stdin => Box::new(io::stdin().lock()),
        };
        let mut lines = Lines::new(input);
        loop {
            match lines.next() {
                Ok(Some(line)) => {
                    if !each(line) {
                        return Ok(());
                    }
                }
                Ok(None) => return Ok(()),
                Err(cause) => {
                    return Err(Failure::File {
                        name: self.name,
                        cause,
                    });
                }
            }
        }
    }
}

/// Keeps a stream in an unnamed file that vanishes with the process.
fn spooled(stream: &mut impl Read) -> io::Result<File> {
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

    fn next(&mut self) -> io::Result<Option<RawLine>> {
        let mut text = Vec::new();
        let mut bytes = self
            .input
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut text)?;
        if bytes == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mut text = Some(text);
        if bytes as u64 == LONGEST_LINE && text.as_ref().is_some_and(|text| !text.ends_with(b"\n"))
        {
            let rest = self.input.skip_until(b'\n')?;
            bytes += rest;
            // The file may end exactly here.
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
    fn lines_are_numbered_and_measured() -> io::Result<()> {
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
    fn an_endless_line_is_skipped_and_the_next_one_read() -> io::Result<()> {
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
