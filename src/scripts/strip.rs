//! Scripts without what only people read, while compiling: a third of the text.

/// How long a script is without it.
pub const fn length(text: &str) -> usize {
    let (mut rest, mut length) = (text.as_bytes(), 0);
    while let Some((line, after)) = next_line(rest) {
        length += line.len();
        rest = after;
    }
    length
}

/// A script without it: lines of comment, empty lines, indentation.
#[expect(clippy::indexing_slicing, reason = "evaluated while compiling")]
pub const fn strip<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let (mut rest, mut stripped, mut at) = (text.as_bytes(), [0; LENGTH], 0);
    while let Some((mut line, after)) = next_line(rest) {
        while let Some((byte, more)) = line.split_first() {
            stripped[at] = *byte;
            at += 1;
            line = more;
        }
        rest = after;
    }
    stripped
}

/// The text again: whole lines of a text are one.
pub const fn text(stripped: &[u8]) -> &str {
    match str::from_utf8(stripped) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// The next line with code, its end included, and what follows it.
const fn next_line(mut text: &[u8]) -> Option<(&[u8], &[u8])> {
    loop {
        match text {
            [] => return None,
            [b' ' | b'\n', rest @ ..] => text = rest,
            [b'-', b'-', ..] => (_, text) = line(text),
            [..] => return Some(line(text)),
        }
    }
}

/// The text to the end of its first line, and what follows.
const fn line(text: &[u8]) -> (&[u8], &[u8]) {
    let mut length = 0;
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        length += 1;
        rest = after;
        if *byte == b'\n' {
            break;
        }
    }
    text.split_at(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_left() {
        const TEXT: &str = "-- What it does.\n\nlocal a = '--'\n  -- why\n  b = a -- here\nend";
        const STRIPPED: [u8; length(TEXT)] = strip(TEXT);
        assert_eq!(text(&STRIPPED), "local a = '--'\nb = a -- here\nend");
    }
}
