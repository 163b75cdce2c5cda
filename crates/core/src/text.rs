//! Texts that people read: names, titles and reasons.

/// The most combining characters of one letter: Burmese letters have up to five, and more run out of their line.
const MAX_COMBINING: usize = 5;

/// Returns a text of one line as it is stored: not longer than a number of characters, nothing in it that changes the
/// lines or the direction of the text around it, something visible, and without what shows nothing.
///
/// # Errors
///
/// Returns what is valid.
pub fn check(text: &str, max_characters: usize) -> Result<String, String> {
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
    let visible = visible(text);
    if visible.is_empty() {
        return Err("must contain a visible character".to_owned());
    }
    Ok(visible)
}

/// Returns a text without white space at its ends, invisible characters that change no other one, and combining characters
/// without a letter or beyond [`MAX_COMBINING`] of it.
fn visible(text: &str) -> String {
    let is_right_to_left = text.chars().any(is_right_to_left);
    let (mut visible, mut before, mut combining) = (String::new(), ' ', 0);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let next = rest.clone().next().unwrap_or(' ');
        let is_kept = match c {
            // They join letters of Arabic and Indian scripts, and emoji.
            '\u{200C}' | '\u{200D}' => {
                before >= '\u{600}' && next >= '\u{600}' && !is_invisible(next)
            }
            '\u{61C}' | '\u{200E}' | '\u{200F}' => is_right_to_left,
            // Selectors of variants: of emoji, and of Mongolian and East Asian letters.
            '\u{FE00}'..='\u{FE0F}' => {
                !before.is_alphanumeric() && !before.is_whitespace() || next == '\u{20E3}'
            }
            '\u{180B}'..='\u{180F}' | '\u{E0100}'..='\u{E01EF}' => before >= '\u{1800}',
            // The letters of a flag.
            '\u{E0020}'..='\u{E007F}' => matches!(before, '\u{1F3F4}' | '\u{E0020}'..='\u{E007F}'),
            c if c.is_whitespace() || !is_invisible(c) => {
                combining = if is_combining(c) { combining + 1 } else { 0 };
                combining == 0 || !before.is_whitespace() && combining <= MAX_COMBINING
            }
            _ => false,
        };
        if is_kept {
            visible.push(c);
            before = c;
        }
    }
    visible.trim().to_owned()
}

/// Returns the first character of a text as people see it: with combining characters, and joined ones.
pub(crate) fn first_character(text: &str) -> String {
    let (mut first, mut is_joined) = (String::new(), true);
    for c in text.chars() {
        let belongs = matches!(c, '\u{200D}' | '\u{FE00}'..='\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}');
        if !is_joined && !belongs && !is_combining(c) {
            break;
        }
        is_joined = c == '\u{200D}';
        first.push(c);
    }
    first
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

/// Returns whether a character is a letter of Hebrew, Arabic or another script from right to left.
fn is_right_to_left(c: char) -> bool {
    let is_in_block = matches!(
        c,
        '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}'
    );
    is_in_block && c.is_alphabetic()
}

/// Returns whether a character is drawn with the one before it.
fn is_combining(c: char) -> bool {
    let edges = COMBINING.partition_point(|edge| u32::from(*edge) <= u32::from(c));
    edges & 1 == 1
}

/// The general category M of Unicode 17.0, in the basic plane: the first character of each run, and the first one after it.
const COMBINING: [u16; 316] = [
    0x300, 0x370, 0x483, 0x48a, 0x591, 0x5be, 0x5bf, 0x5c0, 0x5c1, 0x5c3, 0x5c4, 0x5c6, 0x5c7,
    0x5c8, 0x610, 0x61b, 0x64b, 0x660, 0x670, 0x671, 0x6d6, 0x6dd, 0x6df, 0x6e5, 0x6e7, 0x6e9,
    0x6ea, 0x6ee, 0x711, 0x712, 0x730, 0x74b, 0x7a6, 0x7b1, 0x7eb, 0x7f4, 0x7fd, 0x7fe, 0x816,
    0x81a, 0x81b, 0x824, 0x825, 0x828, 0x829, 0x82e, 0x859, 0x85c, 0x897, 0x8a0, 0x8ca, 0x8e2,
    0x8e3, 0x904, 0x93a, 0x93d, 0x93e, 0x950, 0x951, 0x958, 0x962, 0x964, 0x981, 0x984, 0x9bc,
    0x9bd, 0x9be, 0x9ce, 0x9d7, 0x9d8, 0x9e2, 0x9e4, 0x9fe, 0xa04, 0xa3c, 0xa52, 0xa70, 0xa72,
    0xa75, 0xa76, 0xa81, 0xa84, 0xabc, 0xabd, 0xabe, 0xace, 0xae2, 0xae4, 0xafa, 0xb04, 0xb3c,
    0xb3d, 0xb3e, 0xb58, 0xb62, 0xb64, 0xb82, 0xb83, 0xbbe, 0xbce, 0xbd7, 0xbd8, 0xc00, 0xc05,
    0xc3c, 0xc3d, 0xc3e, 0xc57, 0xc62, 0xc64, 0xc81, 0xc84, 0xcbc, 0xcbd, 0xcbe, 0xcd7, 0xce2,
    0xce4, 0xcf3, 0xd04, 0xd3b, 0xd3d, 0xd3e, 0xd4e, 0xd57, 0xd58, 0xd62, 0xd64, 0xd81, 0xd84,
    0xdca, 0xde0, 0xdf2, 0xdf4, 0xe31, 0xe32, 0xe34, 0xe3b, 0xe47, 0xe4f, 0xeb1, 0xeb2, 0xeb4,
    0xebd, 0xec8, 0xecf, 0xf18, 0xf1a, 0xf35, 0xf36, 0xf37, 0xf38, 0xf39, 0xf3a, 0xf3e, 0xf40,
    0xf71, 0xf85, 0xf86, 0xf88, 0xf8d, 0xfbd, 0xfc6, 0xfc7, 0x102b, 0x103f, 0x1056, 0x105a, 0x105e,
    0x1061, 0x1062, 0x1065, 0x1067, 0x106e, 0x1071, 0x1075, 0x1082, 0x108e, 0x108f, 0x1090, 0x109a,
    0x109e, 0x135d, 0x1360, 0x1712, 0x1716, 0x1732, 0x1735, 0x1752, 0x1754, 0x1772, 0x1774, 0x17b4,
    0x17d4, 0x17dd, 0x17de, 0x180b, 0x180e, 0x180f, 0x1810, 0x1885, 0x1887, 0x18a9, 0x18aa, 0x1920,
    0x193c, 0x1a17, 0x1a1c, 0x1a55, 0x1a80, 0x1ab0, 0x1b05, 0x1b34, 0x1b45, 0x1b6b, 0x1b74, 0x1b80,
    0x1b83, 0x1ba1, 0x1bae, 0x1be6, 0x1bf4, 0x1c24, 0x1c38, 0x1cd0, 0x1cd3, 0x1cd4, 0x1ce9, 0x1ced,
    0x1cee, 0x1cf4, 0x1cf5, 0x1cf7, 0x1cfa, 0x1dc0, 0x1e00, 0x20d0, 0x20f1, 0x2cef, 0x2cf2, 0x2d7f,
    0x2d80, 0x2de0, 0x2e00, 0x302a, 0x3030, 0x3099, 0x309b, 0xa66f, 0xa673, 0xa674, 0xa67e, 0xa69e,
    0xa6a0, 0xa6f0, 0xa6f2, 0xa802, 0xa803, 0xa806, 0xa807, 0xa80b, 0xa80c, 0xa823, 0xa828, 0xa82c,
    0xa82d, 0xa880, 0xa882, 0xa8b4, 0xa8c6, 0xa8e0, 0xa8f2, 0xa8ff, 0xa900, 0xa926, 0xa92e, 0xa947,
    0xa954, 0xa980, 0xa984, 0xa9b3, 0xa9c1, 0xa9e5, 0xa9e6, 0xaa29, 0xaa37, 0xaa43, 0xaa44, 0xaa4c,
    0xaa4e, 0xaa7b, 0xaa7e, 0xaab0, 0xaab1, 0xaab2, 0xaab5, 0xaab7, 0xaab9, 0xaabe, 0xaac0, 0xaac1,
    0xaac2, 0xaaeb, 0xaaf0, 0xaaf5, 0xaaf7, 0xabe3, 0xabeb, 0xabec, 0xabee, 0xfb1e, 0xfb1f, 0xfe00,
    0xfe10, 0xfe20, 0xfe30,
];

/// Returns whether a character shows nothing: white space, the braille blank, annotations, and what Unicode lists
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
                | '\u{FFF0}'..='\u{FFFB}'
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
            ("\u{61C}\u{200F}\u{200D}\u{E0041}\u{FFF9}", visible),
            ("\u{335}\u{E47} \u{301}\u{94D}\u{20DD}", visible),
        ] {
            let error = check(text, 80).err().unwrap_or_default();
            assert_eq!(error.trim_start_matches("must "), expected, "{text:?}");
        }
    }

    #[test]
    fn text_is_stored_without_what_shows_nothing() {
        for text in [
            "Ada Lovelace",
            "\u{5E9}\u{5DC}\u{5D5}\u{5DD} \u{200F}Ada",
            "👩\u{200D}💻",
            "❤\u{FE0F}\u{200D}🔥",
            "1\u{FE0F}\u{20E3}",
            "🏴\u{E0067}\u{E0062}\u{E007F}",
            "葛\u{E0100}",
            "می\u{200C}خواهم",
            "क्\u{200D}ष",
            "မြွှေ့",
            "e\u{301}\u{323}",
            "山田\u{3000}太郎",
        ] {
            assert_eq!(check(text, 80).as_deref(), Ok(text), "{text:?}");
        }
        for text in [
            " Ada\u{A0}",
            "Ada \u{3164}",
            "A\u{200B}da",
            "\u{2800} Ada",
            "Ada\u{FE0F}",
            "A\u{200D}da\u{200C}",
            "A\u{200E}d\u{AD}a",
            "\u{335}Ada\u{E0041}",
            "\u{FE0F}Ada",
        ] {
            assert_eq!(check(text, 80).as_deref(), Ok("Ada"), "{text:?}");
        }
        let stacked = format!("Z{}a", "\u{301}".repeat(78));
        let expected = format!("Z{}a", "\u{301}".repeat(5));
        assert_eq!(check(&stacked, 80), Ok(expected));
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
