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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{without_flag, without_function_flag};

    fn script(text: &str) -> Option<String> {
        without_flag(text.as_bytes()).and_then(|script| String::from_utf8(script).ok())
    }

    fn library(text: &str) -> Option<String> {
        without_function_flag(text.as_bytes()).and_then(|library| String::from_utf8(library).ok())
    }

    #[test]
    fn the_flag_goes_and_the_line_stays() {
        for (sent, rewritten) in [
            ("#!lua flags=allow-key-locking\nreturn 1", "\nreturn 1"),
            ("#!lua flags=allow-key-locking\r\nreturn 1", "\nreturn 1"),
            ("#!lua flags=allow-key-locking", ""),
            (
                "#!lua  flags=no-writes,allow-key-locking,allow-stale \nx",
                "#!lua flags=no-writes,allow-stale\nx",
            ),
            ("#!lua name=a flags=allow-key-locking\nx", "#!lua name=a\nx"),
            ("\n\n#!lua flags=allow-key-locking,no-writes\nx", "\n\n\nx"),
        ] {
            assert_eq!(script(sent).as_deref(), Some(rewritten), "{sent:?}");
        }
    }

    #[test]
    fn other_scripts_are_left_alone() {
        for sent in [
            "",
            "return 1",
            "#!lua flags=no-writes\nx",
            "#!lua\nx",
            "-- #!lua flags=allow-key-locking\nx",
        ] {
            assert_eq!(script(sent), None, "{sent:?}");
        }
        assert_eq!(script("#!lua flags=no-writes\n-- allow-key-locking"), None);
        assert_eq!(without_flag(b"#!lua flags=allow-key-locking\xff\nx"), None);
    }

    #[test]
    fn a_librarys_tables_stay_tables() {
        for (sent, rewritten) in [
            ("flags={'allow-key-locking'}", "flags={}"),
            (
                "flags={ \"allow-key-locking\" , 'no-writes' }",
                "flags={  'no-writes' }",
            ),
            (
                "flags={'no-writes','allow-key-locking'}",
                "flags={'no-writes',}",
            ),
        ] {
            assert_eq!(library(sent).as_deref(), Some(rewritten), "{sent}");
        }
        assert_eq!(library("flags={'no-writes'} -- allow-key-locking"), None);
    }

    proptest! {
        #[test]
        fn line_numbers_hold(before in "\n{0,3}", flags in "[a-z,-]{0,20}", after in "(\n|[a-z]){0,20}") {
            let sent = format!("{before}#!lua flags=allow-key-locking,{flags}\n{after}");
            let lines = |text: &str| text.split('\n').count();
            prop_assert_eq!(script(&sent).map(|rewritten| lines(&rewritten)), Some(lines(&sent)));
        }

        #[test]
        fn any_bytes_are_a_script(script: Vec<u8>) {
            let _ = without_flag(&script);
            let _ = without_function_flag(&script);
        }
    }
}
