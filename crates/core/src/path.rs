//! The normal form of visited paths: the many spellings of one page are one target.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::fmt::Write;

/// Returns a text in Unicode Normalization Form C. The Worker calls the platform's function, because
/// the tables would be a fifth of the wasm.
pub type ToNfc = fn(&str) -> String;

/// The ASCII characters that the normal form escapes besides controls: those of the path
/// percent-encode set of the URL Standard.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// Returns the normal form of a path; `None` for a text that does not begin with a slash.
///
/// White space at both ends, the query and the fragment are removed, and dot segments are resolved
/// as in the URL Standard, where `\` is a slash. Escapes of valid UTF-8 are decoded, except of
/// `/ ? # % \` and control characters, and the text is brought into Normalization Form C. It is
/// escaped again with upper-case digits, and empty segments and the last `/` are removed. The normal
/// form of a normal form is the same text.
#[must_use]
pub fn normal_form(target: &str, to_nfc: ToNfc) -> Option<String> {
    let is_space = |c: char| c.is_whitespace() || c == '\u{FEFF}';
    let target = target.trim_matches(is_space);
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let rest = path.strip_prefix(['/', '\\'])?;
    let mut segments: Vec<&str> = Vec::new();
    for segment in rest.split(['/', '\\']) {
        match dots(segment) {
            Some(2) => {
                segments.pop();
            }
            Some(_) => {}
            None => segments.push(segment),
        }
    }
    let mut form = String::with_capacity(path.len());
    for segment in segments.into_iter().filter(|segment| !segment.is_empty()) {
        form.push('/');
        push_segment(&mut form, segment, to_nfc);
    }
    if form.is_empty() {
        form.push('/');
    }
    Some(form)
}

/// Returns the number of dots of a segment `.` or `..`, of which each dot may be escaped.
fn dots(segment: &str) -> Option<usize> {
    match without_dot(segment)? {
        "" => Some(1),
        rest => without_dot(rest)?.is_empty().then_some(2),
    }
}

/// Returns a text without its first character, which must be a dot or an escaped one.
fn without_dot(text: &str) -> Option<&str> {
    let mut dots = [".", "%2e", "%2E"].into_iter();
    dots.find_map(|dot| text.strip_prefix(dot))
}

/// Appends the normal form of a segment.
fn push_segment(form: &mut String, segment: &str, to_nfc: ToNfc) {
    let mut bytes = Vec::new();
    let mut rest = segment;
    while let Some(start) = rest.find('%') {
        let (plain, escaped) = rest.split_at(start);
        bytes.extend_from_slice(plain.as_bytes());
        let Some(escape) = escaped.get(..3).filter(|escape| is_escape(escape)) else {
            push_run(form, &mut bytes, to_nfc);
            form.push_str("%25");
            rest = escaped.get(1..).unwrap_or_default();
            continue;
        };
        match percent_decode_str(escape).next() {
            Some(byte) if !is_kept(byte) => bytes.push(byte),
            Some(byte) => {
                push_run(form, &mut bytes, to_nfc);
                push_escape(form, byte);
            }
            None => {}
        }
        rest = escaped.get(3..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    push_run(form, &mut bytes, to_nfc);
}

fn is_escape(text: &str) -> bool {
    let digits = text.as_bytes().get(1..).unwrap_or_default();
    digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether an ASCII byte stays escaped: decoded it would mean something else, or nothing.
fn is_kept(byte: u8) -> bool {
    byte.is_ascii_control() || b"/?#%\\".contains(&byte)
}

/// Appends decoded bytes, and clears them. Bytes that are not UTF-8 are escaped again.
fn push_run(form: &mut String, bytes: &mut Vec<u8>, to_nfc: ToNfc) {
    for chunk in bytes.utf8_chunks() {
        // Control characters from U+0080 on are valid UTF-8, but stay escaped.
        for text in chunk.valid().split_inclusive(is_c1_control) {
            let plain = text.trim_end_matches(is_c1_control);
            if plain.is_ascii() {
                form.extend(utf8_percent_encode(plain, ESCAPED));
            } else {
                form.extend(utf8_percent_encode(&to_nfc(plain), ESCAPED));
            }
            let control = text.get(plain.len()..).unwrap_or_default();
            form.extend(utf8_percent_encode(control, ESCAPED));
        }
        for byte in chunk.invalid() {
            push_escape(form, *byte);
        }
    }
    bytes.clear();
}

fn is_c1_control(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{9F}')
}

fn push_escape(form: &mut String, byte: u8) {
    // Writing to a string cannot fail.
    let _ = write!(form, "%{byte:02X}");
}

#[cfg(test)]
mod tests {
    use super::normal_form;
    use proptest::prelude::*;
    use serde::Deserialize;
    use unicode_normalization::UnicodeNormalization;

    #[derive(Deserialize)]
    struct Vector {
        path: String,
        normal: String,
    }

    fn normal(path: &str) -> Option<String> {
        normal_form(path, |text| text.nfc().collect())
    }

    #[test]
    fn vectors_have_their_normal_form() {
        let vectors = include_str!("../../../tests/vectors/visit_paths.json");
        let vectors: Vec<Vector> = serde_json::from_str(vectors).unwrap();
        assert!(vectors.len() >= 60);
        for Vector {
            path,
            normal: expected,
        } in vectors
        {
            assert_eq!(normal(&path), Some(expected), "{path:?}");
        }
    }

    #[test]
    fn other_text_has_none() {
        for text in ["", "a", "https://example.com/a", "?/"] {
            assert_eq!(normal(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn normal_form_is_its_own(path in "/([a-c./\\\\%?#\u{301}\u{e9}\u{212A} ]|%[0-9A-Fa-f]{2}|%C[23]%[89AB][0-9]){0,24}") {
            let form = normal(&path).unwrap();
            prop_assert_eq!(normal(&form), Some(form.clone()));
            prop_assert!(form.is_ascii() && form.starts_with('/'));
            prop_assert!(form == "/" || !form.ends_with('/'));
            prop_assert!(!form.contains("//") && !form.contains(['?', '#', '\\', ' ']));
        }

        #[test]
        fn spellings_have_one_form(segments in prop::collection::vec("[a-z0-9~!é字]{1,6}", 1..4)) {
            let path = format!("/{}", segments.join("/"));
            let expected = normal(&path);
            let escape = |text: &str| -> String {
                text.bytes().map(|byte| if byte == b'/' { "/".to_owned() } else { format!("%{byte:02x}") }).collect()
            };
            for spelling in [
                escape(&path),
                format!(" {path} "),
                format!("{path}/"),
                format!("/.{path}/x/.."),
                format!("{path}?a=/#/"),
                path.replace('/', "//"),
                path.nfd().collect(),
                escape(&path.nfd().collect::<String>()),
            ] {
                prop_assert_eq!(&normal(&spelling), &expected, "{}", spelling);
            }
        }
    }
}
