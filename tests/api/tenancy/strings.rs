//! Text with a meaning in some format that a value passes through.

use fastrand::Rng;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

/// Redis keys of other tenants.
pub const FOREIGN_KEYS: [&str; 14] = [
    "{mine2:0}e",
    "{mine2:0}1i",
    "{mine2:0}p",
    "{mine2:0}1ba:all",
    "{mine2:0}1m:42",
    "{min:0}1m:42",
    "{mine}",
    "{mine",
    "mine:0",
    "mine",
    "m:42",
    "42",
    "*",
    "a\r\nb",
];

/// Syntax of globs, key names, the Redis protocol, JSON, Lua, URLs and HTTP.
const PIECES: [&str; 44] = [
    "{",
    "}",
    "{}",
    "}{",
    "{mine:0}",
    "{mine:0}1ba:all",
    "{mine2:0}",
    ":",
    "::",
    "|",
    "@",
    "#",
    "~",
    "*",
    "?",
    "[a-z]*",
    "[^x]",
    "\\",
    "\r\n",
    "\n",
    "\t",
    "\0",
    "\u{7f}",
    "\u{85}",
    "\"",
    "'",
    "`",
    "*2\r\n$3\r\nDEL\r\n$4\r\nmine\r\n",
    "$-1\r\n",
    "+OK\r\n",
    "\r\nFLUSHALL\r\n",
    "\"],[\"DEL\",\"mine\"],[\"",
    "\\u0022",
    "\\ud800",
    "{\"a\":",
    "' .. redis.call('FLUSHALL') .. '",
    "]] redis.call('DEL','mine') --",
    "%s",
    "%00",
    "%7Bmine2:0%7D",
    "%",
    "../../",
    "&group=",
    "\u{fffd}",
];

/// Dates, times and numbers, valid and almost valid.
const VALUES: [&str; 38] = [
    "2026-11-20",
    "2024-02-29",
    "2023-02-29",
    "0000-01-01",
    "0001-01-01",
    "9999-12-31",
    "2026-13-01",
    "2026-11-20 ",
    "-2026-11-2",
    "٢٠٢٦-١١-٢٠",
    "2026-W47",
    "2026-11-20T08:00:00Z",
    "2026-11-20T08:00:00.123456789+23:59",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:60Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20t08:00:00z",
    "1",
    "0",
    "100",
    "101",
    "-1",
    "+1",
    "1.0",
    "1e3",
    "0x10",
    "4294967296",
    "99999999999999999999",
    "NaN",
    "inf",
    "١",
    " 1",
    "null",
    "true",
    ",",
    "42,7",
    "42,,7",
    "",
];

const ID: &[u8] = b"ABZabz0189_.:@|-";

/// Returns arbitrary text, most often with a meaning in some format.
pub fn any(random: &mut Rng) -> String {
    match random.u8(..16) {
        0 | 1 => id(random),
        2 | 3 => almost_id(random),
        4 => pick(random, &FOREIGN_KEYS).to_owned(),
        5 | 6 => pick(random, &VALUES).to_owned(),
        7 => {
            let key = pick(random, &FOREIGN_KEYS);
            encoded(random, key)
        }
        8 => unicode(random),
        9 => {
            let piece = pick(random, &PIECES);
            piece.repeat(random.usize(1..4000 / piece.len()))
        }
        10 => {
            let text = any(random);
            encoded(random, &text)
        }
        _ => (0..random.usize(1..5)).map(|_| piece(random)).collect(),
    }
}

/// Returns a valid id.
pub fn id(random: &mut Rng) -> String {
    if random.bool() {
        return pick(random, &["42", "7", "ada", "a:b", "x|y", "u@x.org"]).to_owned();
    }
    let length = random.usize(1..=64);
    let characters = (0..length).map(|_| char::from(ID[random.usize(..ID.len())]));
    characters.collect()
}

/// Returns one of several strings.
pub fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(..from.len())]
}

/// Percent-encodes every non-alphanumeric byte, or a random part of the bytes.
pub fn encoded(random: &mut Rng, text: &str) -> String {
    if random.bool() {
        return percent_encode(text.as_bytes(), NON_ALPHANUMERIC).to_string();
    }
    let byte = |byte: u8| match random.u8(..3) {
        0 => format!("%{byte:02x}"),
        _ if byte.is_ascii_graphic() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn piece(random: &mut Rng) -> String {
    match random.u8(..4) {
        0 => id(random),
        1 => pick(random, &VALUES).to_owned(),
        _ => pick(random, &PIECES).to_owned(),
    }
}

fn almost_id(random: &mut Rng) -> String {
    let mut text = id(random);
    match random.u8(..5) {
        0 => text = text.repeat(65 / text.len() + 1),
        1 => text = ".".repeat(random.usize(1..4)),
        _ => {
            let at = random.usize(..=text.len());
            text.insert_str(at, pick(random, &PIECES));
        }
    }
    text
}

fn unicode(random: &mut Rng) -> String {
    let length = random.usize(..200);
    (0..length).map(|_| random.char(..)).collect()
}
