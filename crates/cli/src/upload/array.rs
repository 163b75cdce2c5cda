//! Divides a JSON array into its elements, without keeping the whole array.

use std::io::{self, BufRead, ErrorKind};

/// An element, unparsed.
#[derive(Debug)]
pub struct Element {
    /// Number of the line on which it begins, from 1.
    pub number: u64,
    /// Length in the file with what separates it from the element before, in bytes.
    pub bytes: u64,
    /// Content, or `None` if it is too long.
    pub text: Option<Vec<u8>>,
}

/// Returns whether the input begins with an array: its first character other than white space is `[`.
///
/// # Errors
///
/// Returns an error if the input cannot be read.
pub fn begins(input: &mut impl BufRead) -> io::Result<bool> {
    let start = input.fill_buf()?;
    let start = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(start);
    Ok(start.trim_ascii_start().first() == Some(&b'['))
}

/// Calls `each` for every element until it returns `false`. Elements need not be valid: the parser of an element refuses it.
/// The text of elements of more than `max_bytes` is not kept.
///
/// # Errors
///
/// Returns an error if the input cannot be read, if the array is not closed, or if text follows it.
pub fn read(
    mut input: impl BufRead,
    max_bytes: u64,
    mut each: impl FnMut(Element) -> bool,
) -> io::Result<()> {
    let mut elements = Elements {
        max_bytes,
        ..Elements::default()
    };
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        let length = buffer.len();
        for byte in buffer {
            if let Some(element) = elements.push(*byte)?
                && !each(element)
            {
                return Ok(());
            }
        }
        input.consume(length);
    }
    match elements.position {
        Position::After => Ok(()),
        Position::Before | Position::Inside => Err(invalid(
            ErrorKind::UnexpectedEof,
            "the JSON array has no end: the file may be incomplete",
        )),
    }
}

fn invalid(kind: ErrorKind, what: &str) -> io::Error {
    io::Error::new(kind, what)
}

/// Where the next byte is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// Before the array.
    #[default]
    Before,
    /// In the array.
    Inside,
    /// After the array.
    After,
}

/// The state between two bytes.
#[derive(Debug, Default)]
struct Elements {
    max_bytes: u64,
    position: Position,
    /// Newlines so far.
    newlines: u64,
    /// Bytes since the last element.
    bytes: u64,
    /// The current element, as far as it fits into a request.
    text: Vec<u8>,
    /// Its length.
    length: u64,
    /// The line on which it begins.
    line: u64,
    /// Open brackets and braces of the element.
    depth: u32,
    is_string: bool,
    is_escaped: bool,
    /// Whether a comma precedes, and nothing follows it yet.
    is_after_comma: bool,
}

impl Elements {
    /// Takes the next byte, and returns the element that it completes.
    fn push(&mut self, byte: u8) -> io::Result<Option<Element>> {
        self.bytes += 1;
        self.newlines += u64::from(byte == b'\n');
        match self.position {
            Position::Before if byte == b'[' => self.position = Position::Inside,
            Position::After if !byte.is_ascii_whitespace() => {
                let line = self.newlines + 1;
                let what = format!("line {line}: text follows the end of the JSON array");
                return Err(invalid(ErrorKind::InvalidData, &what));
            }
            Position::Before | Position::After => {}
            Position::Inside if self.is_string => {
                self.keep(byte);
                self.is_string = self.is_escaped || byte != b'"';
                self.is_escaped = byte == b'\\' && !self.is_escaped;
            }
            Position::Inside => match byte {
                b',' if self.depth == 0 => {
                    let element = self.take();
                    self.is_after_comma = true;
                    return Ok(Some(element));
                }
                b']' if self.depth == 0 => {
                    self.position = Position::After;
                    let is_element = self.length > 0 || self.is_after_comma;
                    return Ok(is_element.then(|| self.take()));
                }
                byte if self.length == 0 && byte.is_ascii_whitespace() => {}
                byte => {
                    self.keep(byte);
                    match byte {
                        b'"' => self.is_string = true,
                        b'[' | b'{' => self.depth += 1,
                        b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                }
            },
        }
        Ok(None)
    }

    fn keep(&mut self, byte: u8) {
        if self.length == 0 {
            self.line = self.newlines + 1;
        }
        self.length += 1;
        if self.length <= self.max_bytes {
            self.text.push(byte);
        }
    }

    fn take(&mut self) -> Element {
        let text = std::mem::take(&mut self.text);
        let is_complete = self.length <= self.max_bytes;
        let line = if self.length == 0 {
            self.newlines + 1
        } else {
            self.line
        };
        self.length = 0;
        // Nothing is between two commas, or after the last one: no value.
        let text = if text.is_empty() { b",".to_vec() } else { text };
        Element {
            number: line,
            bytes: std::mem::take(&mut self.bytes),
            text: is_complete.then_some(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(json: &str) -> io::Result<Vec<(u64, String)>> {
        let mut found = Vec::new();
        read(json.as_bytes(), 100, |element| {
            let text = element.text.unwrap_or_default();
            found.push((element.number, String::from_utf8_lossy(&text).into_owned()));
            true
        })?;
        Ok(found)
    }

    fn expected(elements: &[(u64, &str)]) -> Vec<(u64, String)> {
        let owned = elements
            .iter()
            .map(|(line, text)| (*line, (*text).to_owned()));
        owned.collect()
    }

    #[test]
    fn elements_have_their_first_line() -> io::Result<()> {
        let json =
            "\u{feff}\n[\n  {\"a\": \"],\\\"[\"},\n  {\n    \"b\": [1, {\"c\": 2}]\n  }\n]\n";
        let found = [
            (3, "{\"a\": \"],\\\"[\"}"),
            (4, "{\n    \"b\": [1, {\"c\": 2}]\n  }\n"),
        ];
        assert_eq!(elements(json)?, expected(&found));
        assert_eq!(elements("[1,2]")?, expected(&[(1, "1"), (1, "2")]));
        assert_eq!(elements("[ ]")?, []);
        Ok(())
    }

    #[test]
    fn bytes_add_up_to_the_array() -> io::Result<()> {
        let mut bytes = 0;
        read(&b"[ {\"a\":1} ,\n{} ]"[..], 100, |element| {
            bytes += element.bytes;
            true
        })?;
        assert_eq!(bytes, 16);
        Ok(())
    }

    #[test]
    fn overlong_element_has_no_text() -> io::Result<()> {
        let json = format!("[\"{}\", 1]", "x".repeat(99));
        let found = elements(&json)?;
        assert_eq!(found, expected(&[(1, ""), (1, "1")]));
        Ok(())
    }

    #[test]
    fn missing_element_is_an_invalid_one() -> io::Result<()> {
        assert_eq!(
            elements("[1,,2]")?,
            expected(&[(1, "1"), (1, ","), (1, "2")])
        );
        let trailing = expected(&[(1, "1"), (2, ",")]);
        assert_eq!(elements("[1,\n ]")?, trailing);
        assert_eq!(elements("[,]")?, expected(&[(1, ","), (1, ",")]));
        Ok(())
    }

    #[test]
    fn incomplete_array_is_an_error() {
        let error = |json| elements(json).map_err(|error| error.to_string());
        let incomplete = Err("the JSON array has no end: the file may be incomplete".to_owned());
        for json in ["[", "[{\"a\": 1}", "[{\"a\": 1},", "[\"]"] {
            assert_eq!(error(json), incomplete, "{json}");
        }
        let follows = Err("line 2: text follows the end of the JSON array".to_owned());
        assert_eq!(error("[1]\n{\"a\": 1}"), follows);
    }

    #[test]
    fn array_begins_after_white_space() -> io::Result<()> {
        for json in ["[", " \n[1]", "\u{feff}["] {
            assert!(begins(&mut json.as_bytes())?, "{json}");
        }
        for json in ["", "{\"a\": []}", "x["] {
            assert!(!begins(&mut json.as_bytes())?, "{json}");
        }
        Ok(())
    }
}
