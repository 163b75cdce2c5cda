//! Estimates of the width of a text. A picture cannot measure the fonts of its reader.

/// Returns the width of a text in hundredths of the font size.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

fn width_of(character: char) -> usize {
    match character {
        // Marks and joiners.
        '\u{300}'..='\u{36f}'
        | '\u{64b}'..='\u{65f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{fe00}'..='\u{fe0f}' => 0,
        ' ' | '!' | '\'' | ',' | '.' | ':' | ';' | '|' | 'I' | 'f' | 'i' | 'j' | 'l' | 't'
        | '·' => 34,
        '%' | '…' | '@' | 'M' | 'W' | 'm' | 'w' => 95,
        'A'..='Z' | '#' => 72,
        ..'\u{1100}' => 60,
        // East Asian characters and emoji.
        _ => 108,
    }
}

/// Returns a text that is at most `max` wide, in hundredths of the font size: with an ellipsis if it is cut.
pub(super) fn fitting(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let (mut rest, mut cut) = (max.saturating_sub(width_of('…')), String::new());
    for character in text.chars() {
        let Some(left) = rest.checked_sub(width_of(character)) else {
            break;
        };
        rest = left;
        cut.push(character);
    }
    // A joiner would join the ellipsis.
    let kept = cut.trim_end_matches([' ', '\u{200d}']).len();
    cut.truncate(kept);
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_text_is_cut_at_its_width() {
        assert_eq!(fitting("Ada", 300), "Ada");
        assert_eq!(fitting("Ada Lovelace", 460), "Ada Lo…");
        assert_eq!(fitting("活跃的成员", 400), "活跃…");
        assert_eq!(fitting("👩\u{200d}👩\u{200d}👧", 260), "👩…");
        assert_eq!(fitting("Ada", 0), "…");
    }

    proptest! {
        #[test]
        fn fitting_text_fits(text in ".{0,40}", max in 95_usize..2000) {
            let cut = fitting(&text, max);
            prop_assert!(width(&cut) <= max, "{}", cut);
        }
    }
}
