//! The first line of a script: `#!lua flags=allow-key-locking,no-writes`.

const FLAG: &str = "allow-key-locking";

/// The script without the flag, or nothing if it has none. Lines keep their numbers, so that
/// errors point where the author looks.
pub(crate) fn without_flag(script: &[u8]) -> Option<Vec<u8>> {
    // Redis wants a shebang on the very first line; the hosted service lets empty lines precede
    // it and then ignores its flags, so here such a line goes altogether.
    let blank = script
        .iter()
        .take_while(|byte| matches!(byte, b'\n' | b'\r'))
        .count();
    let (before, rest) = script.split_at_checked(blank)?;
    let end = rest
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(rest.len());
    let (line, after) = rest.split_at_checked(end)?;
    let line = str::from_utf8(line).ok()?;
    if !line.starts_with("#!") || !flags(line).any(|flag| flag == FLAG) {
        return None;
    }
    let line = if blank == 0 {
        shortened(line)
    } else {
        String::new()
    };
    Some([before, line.as_bytes(), after].concat())
}

fn flags(line: &str) -> impl Iterator<Item = &str> {
    line.split_ascii_whitespace()
        .filter_map(|word| word.strip_prefix("flags="))
        .flat_map(|list| list.split(','))
}

/// The line without the flag; nothing at all if it had no other.
fn shortened(line: &str) -> String {
    let kept: Vec<&str> = flags(line)
        .filter(|flag| *flag != FLAG && !flag.is_empty())
        .collect();
    let list = format!("flags={}", kept.join(","));
    let words: Vec<&str> = line
        .split_ascii_whitespace()
        .filter(|word| !word.starts_with("flags="))
        .chain((!kept.is_empty()).then_some(list.as_str()))
        .collect();
    // `#!lua` alone is what every script is, and Redis 6 knows no such line.
    if words.len() < 2 {
        String::new()
    } else {
        words.join(" ")
    }
}

/// A function library without the flag in its `flags = {…}` tables, or nothing if it has none.
pub(crate) fn without_function_flag(library: &[u8]) -> Option<Vec<u8>> {
    let library = str::from_utf8(library).ok()?;
    let mut own = library.to_owned();
    for quote in ['\'', '"'] {
        let flag = format!("{quote}{FLAG}{quote}");
        while let Some(at) = own.find(&flag) {
            let (before, found) = own.split_at_checked(at)?;
            let after = found.strip_prefix(flag.as_str())?;
            // A comma may follow the last entry of a Lua table, but none may stand first.
            let after = after.trim_start_matches([' ', '\t']);
            let after = after.strip_prefix(',').unwrap_or(after);
            own = [before, after].concat();
        }
    }
    (own != library).then(|| own.into_bytes())
}
