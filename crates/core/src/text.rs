//! Texts that people read: names, titles and reasons.

/// Checks a text of one line: not longer than a number of characters, nothing in it that changes
/// the lines or the direction of the text around it, and something visible.
///
/// # Errors
///
/// Returns what is valid.
pub fn check(text: &str, max_characters: usize) -> Result<(), String> {
    let characters = text.chars().count();
    if !(1..=max_characters).contains(&characters) {
        return Err(format!("must be 1 to {max_characters} characters"));
    }
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    if text.chars().any(|c| matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err("must not contain line or paragraph separators".to_owned());
    }
    if text.chars().any(is_bidirectional_control) {
        return Err("must not contain bidirectional embeddings, overrides or isolates".to_owned());
    }
    if text.chars().all(is_invisible) {
        return Err("must contain a visible character".to_owned());
    }
    Ok(())
}

/// Returns a text for HTML and XML, without the characters that XML cannot contain.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// Returns whether a character embeds, overrides or isolates a direction of text (Unicode Standard
/// Annex 9, explicit directional formatting).
fn is_bidirectional_control(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a character shows nothing: white space, the braille blank, and what Unicode lists
/// as `Default_Ignorable_Code_Point`.
fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '\u{AD}'
                | '\u{34F}'
                | '\u{61C}'
                | '\u{115F}'..='\u{1160}'
                | '\u{17B4}'..='\u{17B5}'
                | '\u{180B}'..='\u{180F}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2060}'..='\u{206F}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}'
                | '\u{FEFF}'
                | '\u{FFA0}'
                | '\u{FFF0}'..='\u{FFF8}'
                | '\u{1BCA0}'..='\u{1BCA3}'
                | '\u{1D173}'..='\u{1D17A}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

#[cfg(test)]
mod tests {
    use super::{check, escaped};

    #[test]
    fn text_is_one_visible_line() {
        let long = "é".repeat(81);
        let (length, control) = ("be 1 to 80 characters", "not contain control characters");
        let separators = "not contain line or paragraph separators";
        let direction = "not contain bidirectional embeddings, overrides or isolates";
        let visible = "contain a visible character";
        for (text, expected) in [
            ("Ada", ""),
            ("\u{5E9}\u{5DC}\u{5D5}\u{5DD} \u{200F}Ada", ""),
            ("👩\u{200D}💻", ""),
            ("", length),
            (&long, length),
            ("A\nda", control),
            ("A\u{85}da", control),
            ("A\u{2028}da", separators),
            ("A\u{2029}da", separators),
            ("\u{202E}adA", direction),
            ("A\u{2068}da", direction),
            ("  ", visible),
            ("\u{200B}\u{3164}\u{2800}\u{FE0F}", visible),
        ] {
            let error = check(text, 80).err().unwrap_or_default();
            assert_eq!(error.trim_start_matches("must "), expected, "{text:?}");
        }
    }

    #[test]
    fn markup_is_escaped() {
        let text = "<a href=\"x\">R&D</a>\u{7}\u{ffff}";
        assert_eq!(
            escaped(text),
            "&lt;a href=&quot;x&quot;&gt;R&amp;D&lt;/a&gt;"
        );
    }
}
