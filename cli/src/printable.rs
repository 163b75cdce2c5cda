//! Text of others, made safe for a terminal.
//!
//! A member's name may hold escape sequences that move the cursor, rename the window or turn the
//! direction of reading. None of them reaches the screen.

/// The text with every character that steers a terminal replaced by `�`.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| {
            if steers(c) {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect()
}

/// JSON with control characters escaped that JSON itself allows raw: DEL and U+0080 to U+009F,
/// among them the one-character form of `ESC [`.
#[must_use]
pub fn printable_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if steers(c) && !c.is_ascii_whitespace() {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Control characters, line and paragraph separators, and the marks that turn reading direction.
/// All lie below U+FFFF, so that four hex digits write them.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_lose_their_escape() {
        assert_eq!(printable("\u{1b}[2JAda\u{9b}0m\n"), "�[2JAda�0m�");
    }

    #[test]
    fn names_cannot_turn_the_direction_of_the_line() {
        assert_eq!(printable("a\u{202e}b\u{2066}c"), "a�b�c");
    }

    #[test]
    fn wide_and_accented_characters_stay() {
        assert_eq!(printable("艾达 Ádà 🦀"), "艾达 Ádà 🦀");
    }

    #[test]
    fn json_keeps_its_meaning() -> Result<(), serde_json::Error> {
        let raw = "{\n \"name\": \"a\u{9b}\u{7f}\u{202e}b\"}";
        let safe = printable_json(raw);
        assert_eq!(safe, "{\n \"name\": \"a\\u009b\\u007f\\u202eb\"}");
        let (before, after): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(raw)?, serde_json::from_str(&safe)?);
        assert_eq!(before, after);
        Ok(())
    }
}
