//! Base64url without padding (RFC 7515, 2), canonical form only.
//!
//! A second encoding of the same bytes would be a second token with the same signature.

/// Decodes a text; `None` if it is not the canonical encoding of its bytes.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut bits: u32 = 0;
        for byte in group {
            bits = bits << 6 | value(*byte)?;
        }
        // Four characters are three bytes. A shorter group has unused bits, which must be 0.
        let (count, unused_bits) = match group.len() {
            4 => (3, 0),
            3 => (2, 2),
            2 => (1, 4),
            _ => return None,
        };
        if bits & ((1 << unused_bits) - 1) != 0 {
            return None;
        }
        let [_, group @ ..] = (bits >> unused_bits << (8 * (3 - count))).to_be_bytes();
        bytes.extend(group.iter().take(count));
    }
    Some(bytes)
}

fn value(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn canonical_encodings_are_decoded() {
        let cases: [(&str, &[u8]); 7] = [
            ("", b""),
            ("Zg", b"f"),
            ("Zm8", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYg", b"foob"),
            ("-_-_", &[0xfb, 0xff, 0xbf]),
            ("AAD_", &[0, 0, 0xff]),
        ];
        for (text, bytes) in cases {
            assert_eq!(decode(text).as_deref(), Some(bytes), "{text}");
        }
    }

    #[test]
    fn other_encodings_are_rejected() {
        for text in [
            "A", "Zg==", "Zm8=", "Zh", "Zm9", "Zm 9v", "+/+/", "Zm9vY", "Zm9v\n", "é",
        ] {
            assert_eq!(decode(text), None, "{text:?}");
        }
    }
}
