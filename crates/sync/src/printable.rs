//! Untrusted text, made safe to print on a terminal.
//!
//! A user's name may contain escape sequences that move the cursor, rename the window or reverse
//! the text direction. They are replaced before printing.

/// Replaces every character that controls a terminal with `�`.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| {
            if is_control(c) {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect()
}

/// Escapes the control characters that JSON allows unescaped: DEL and U+0080 to U+009F, which
/// include the one-character form of `ESC [`. The value of the JSON does not change.
#[must_use]
pub fn printable_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if is_control(c) && !c.is_ascii_whitespace() {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Returns whether the character is a control character, a line or paragraph separator, or changes
/// the text direction. All of them are below U+FFFF, so four hex digits can escape them.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_characters_and_direction_marks_are_replaced() {
        assert_eq!(printable("\u{1b}[2JAda\u{9b}0m\n"), "�[2JAda�0m�");
        assert_eq!(printable("a\u{202e}b\u{2066}c"), "a�b�c");
        assert_eq!(printable("艾达 Ádà 🦀"), "艾达 Ádà 🦀");
    }

    #[test]
    fn escaped_json_has_the_same_value() -> Result<(), serde_json::Error> {
        let raw = "{\n \"name\": \"a\u{9b}\u{7f}\u{202e}b\"}";
        let safe = printable_json(raw);
        assert_eq!(safe, "{\n \"name\": \"a\\u009b\\u007f\\u202eb\"}");
        let (before, after): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(raw)?, serde_json::from_str(&safe)?);
        assert_eq!(before, after);
        Ok(())
    }
}
