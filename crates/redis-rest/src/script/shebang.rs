//! Removes the shebang line of a script, such as `#!lua flags=allow-key-locking,no-writes`, or its
//! `allow-key-locking` flag, also from the flag tables of a function library.

const FLAG: &str = "allow-key-locking";

/// Returns whether a script may start with a shebang line.
pub(super) fn may_have_shebang(script: &[u8]) -> bool {
    matches!(script.first(), Some(b'#' | b'\n' | b'\r'))
}

/// Returns the script with an empty line in place of its shebang line, or `None` if it has none for
/// Lua.
pub(super) fn without_shebang(script: &[u8]) -> Option<Vec<u8>> {
    if !script.starts_with(b"#!lua") {
        return without_flag(script);
    }
    let end = script.iter().position(|byte| *byte == b'\n');
    Some(
        script
            .split_at_checked(end.unwrap_or(script.len()))?
            .1
            .to_vec(),
    )
}

/// Returns the script without the flag, or `None` if it does not have the flag.
///
/// Line numbers do not change, so that error messages point to the line in the original script.
pub(super) fn without_flag(script: &[u8]) -> Option<Vec<u8>> {
    // Redis accepts a shebang only on the first line. The hosted service also accepts it after empty
    // lines and then ignores its flags. In that case the whole line is removed.
    let empty_lines = script
        .iter()
        .take_while(|byte| matches!(byte, b'\n' | b'\r'))
        .count();
    let (before, rest) = script.split_at_checked(empty_lines)?;
    let end = rest
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(rest.len());
    let (line, after) = rest.split_at_checked(end)?;
    let line = str::from_utf8(line).ok()?;
    if !line.starts_with("#!") || !flags(line).any(|flag| flag == FLAG) {
        return None;
    }
    let line = if empty_lines == 0 {
        line_without_flag(line)
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

/// Returns the shebang line without the flag, or an empty line if nothing else follows `#!lua`.
fn line_without_flag(line: &str) -> String {
    let accepted: Vec<&str> = flags(line)
        .filter(|flag| *flag != FLAG && !flag.is_empty())
        .collect();
    let list = format!("flags={}", accepted.join(","));
    let words: Vec<&str> = line
        .split_ascii_whitespace()
        .filter(|word| !word.starts_with("flags="))
        .chain((!accepted.is_empty()).then_some(list.as_str()))
        .collect();
    // `#!lua` alone is the default, and Redis 6 does not support shebang lines.
    if words.len() < 2 {
        String::new()
    } else {
        words.join(" ")
    }
}

/// Returns a function library without the flag in its `flags = {…}` tables, or `None` if it does not
/// have the flag.
pub(super) fn without_function_flag(library: &[u8]) -> Option<Vec<u8>> {
    let library = str::from_utf8(library).ok()?;
    let mut rewritten = library.to_owned();
    for quote in ['\'', '"'] {
        let flag = format!("{quote}{FLAG}{quote}");
        while let Some(at) = rewritten.find(&flag) {
            let (before, found) = rewritten.split_at_checked(at)?;
            let after = found.strip_prefix(flag.as_str())?;
            // A Lua table may end with a comma, but must not start with one.
            let after = after.trim_start_matches([' ', '\t']);
            let after = after.strip_prefix(',').unwrap_or(after);
            rewritten = [before, after].concat();
        }
    }
    (rewritten != library).then(|| rewritten.into_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{may_have_shebang, without_flag, without_function_flag, without_shebang};

    fn script(text: &str) -> Option<String> {
        without_flag(text.as_bytes()).and_then(|script| String::from_utf8(script).ok())
    }

    fn library(text: &str) -> Option<String> {
        without_function_flag(text.as_bytes()).and_then(|library| String::from_utf8(library).ok())
    }

    #[test]
    fn flag_is_removed_from_shebang() {
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
    fn scripts_without_flag_are_unchanged() {
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
    fn shebang_is_removed() {
        for (sent, rewritten) in [
            ("#!lua flags=no-writes\nreturn 1", Some("\nreturn 1")),
            ("#!lua\r\nreturn 1", Some("\nreturn 1")),
            ("#!lua", Some("")),
            ("\n#!lua flags=allow-key-locking\nx", Some("\n\nx")),
            ("#!js\nx", None),
            ("return 1 -- #!lua\n", None),
        ] {
            let script = without_shebang(sent.as_bytes());
            assert_eq!(script.as_deref(), rewritten.map(str::as_bytes), "{sent:?}");
        }
    }

    #[test]
    fn flag_is_removed_from_library_tables() {
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
        fn line_numbers_do_not_change(before in "\n{0,3}", flags in "[a-z,-]{0,20}", after in "(\n|[a-z]){0,20}") {
            let sent = format!("{before}#!lua flags=allow-key-locking,{flags}\n{after}");
            let lines = |text: &str| text.split('\n').count();
            prop_assert_eq!(script(&sent).map(|rewritten| lines(&rewritten)), Some(lines(&sent)));
        }

        #[test]
        fn any_bytes_are_accepted(script: Vec<u8>) {
            for rewritten in [without_flag(&script), without_shebang(&script)] {
                prop_assert!(rewritten.is_none() || may_have_shebang(&script));
            }
            let _ = without_function_flag(&script);
        }
    }
}
