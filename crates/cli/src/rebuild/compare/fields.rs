//! Compares hashes field by field.

use std::collections::HashMap;

use activity_rank_core::account::Accounts;
use activity_rank_store::count::ActiveRecord;
use activity_rank_store::keys::Keys;

use super::findings::Kind;

/// Field of the register: the number of the last registration.
const REGISTRATIONS: &str = "#";

/// Returns the part of a field's value that is compared, or `None` if nothing is.
#[must_use]
pub fn comparable(kind: Kind, field: &str, value: String) -> Option<String> {
    match kind {
        // The marker records when expiries were set.
        Kind::History | Kind::ActiveRecord if field == Keys::MARKER => None,
        // The fingerprint, watched boards, or a position of deliveries.
        Kind::Profile if field.starts_with(Keys::FINGERPRINT) => None,
        // The journal may lack the last numbers of registrations.
        Kind::Target if field == REGISTRATIONS => None,
        // The instant of a cooldown.
        Kind::ActiveRecord if field.starts_with('~') => Some(value),
        Kind::ActiveRecord => Some(format_active_record(&value).unwrap_or(value)),
        // The user's number in the audit log is not compared, nor a list of accounts: each account names the member.
        // Exclusions are.
        Kind::Flag => {
            let mut parts = value.splitn(3, ',');
            let mut flags = parts.next().unwrap_or_default().to_owned();
            let accounts = Accounts::new(parts.nth(1).unwrap_or_default());
            if accounts.member().is_some() {
                flags.push_str(accounts.text());
            }
            for exclusion in accounts.exclusions() {
                flags.push(' ');
                flags.push_str(exclusion);
            }
            (!flags.is_empty()).then_some(flags)
        }
        Kind::Board
        | Kind::History
        | Kind::DailyRecord
        | Kind::UndoRecord
        | Kind::Profile
        | Kind::Pauses
        | Kind::AuditLog
        | Kind::Tombstone
        | Kind::Target
        | Kind::ListedTarget
        | Kind::Event => Some(value),
    }
}

/// Formats an active record as `instant,points,date,periods[,group…][;received]`. The instant of the last
/// repeat is omitted, because a repeat changes nothing and is not in the journal.
fn format_active_record(value: &str) -> Option<String> {
    let ActiveRecord {
        at,
        amounts,
        boards,
    } = ActiveRecord::parse(value)?;
    let points: Vec<String> = amounts.iter().map(i64::to_string).collect();
    let (periods, groups) = boards.render();
    let (points, date) = (points.join("/"), boards.date);
    let record = format!("{at},{points},{date},{periods},{groups}");
    let record = record.trim_end_matches(',');
    Some(match value.split_once(';') {
        Some((_, received)) => format!("{record};{received}"),
        None => record.to_owned(),
    })
}

/// Returns whether the stored value exceeds the expected one, so that a rebuild would lose data.
#[must_use]
pub fn is_excess(kind: Kind, stored: Option<&str>, expected: Option<&str>) -> bool {
    let (Some(stored), Some(expected)) = (stored, expected) else {
        return stored.is_some();
    };
    let number = |text: &str| text.parse::<i64>().unwrap_or(0);
    match kind {
        Kind::History => match (stored.split_once(' '), expected.split_once(' ')) {
            (Some(stored), Some(expected)) => {
                number(stored.0) > number(expected.0) || number(stored.1) > number(expected.1)
            }
            (Some(_) | None, Some(_) | None) => true,
        },
        Kind::UndoRecord | Kind::Tombstone => number(stored) > number(expected),
        Kind::Flag => stored.chars().any(|flag| !expected.contains(flag)),
        Kind::Profile | Kind::Pauses | Kind::Target | Kind::Event => true,
        Kind::DailyRecord => number(stored) & !number(expected) != 0,
        // Both records exist; the journal is the authority for their content.
        Kind::ActiveRecord | Kind::Board | Kind::AuditLog | Kind::ListedTarget => false,
    }
}

/// Returns the fields that differ, each with its stored and its expected value.
#[must_use]
pub fn compare(
    live: &HashMap<String, String>,
    shadow: &HashMap<String, String>,
) -> Vec<(String, Option<String>, Option<String>)> {
    let mut fields = Vec::new();
    for (field, value) in live {
        let other = shadow.get(field);
        if other != Some(value) {
            fields.push((field.clone(), Some(value.clone()), other.cloned()));
        }
    }
    for (field, value) in shadow
        .iter()
        .filter(|(field, _)| !live.contains_key(*field))
    {
        fields.push((field.clone(), None, Some(value.clone())));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_and_audit_numbers_are_not_compared() {
        let comparable = |kind, field, value: &str| comparable(kind, field, value.to_owned());
        let record = "1795132800000,2,2026-11-20,dw,eu";
        let received = format!("{record};2wa;3.17;1;a;b,c");
        for (record, expected) in [
            ("2101795132800000,eu", record),
            ("2101795132800000:1795132800005,eu", record),
            ("1 -2/-1/0 20777 dw:3", "1,-2/-1/0,2026-11-20,dw"),
            ("1 5/0 20777 e,hackathon", "1,5/0,2026-11-20,e,hackathon"),
            ("2101795132800000:5,eu;2wa;3.17;1;a;b,c", &received),
            ("else", "else"),
        ] {
            let record = comparable(Kind::ActiveRecord, "like:x", record);
            assert_eq!(record.as_deref(), Some(expected));
        }
        let cooldown = comparable(Kind::ActiveRecord, "~wave", "12");
        assert_eq!(cooldown.as_deref(), Some("12"));
        assert_eq!(comparable(Kind::Flag, "!42", "hf,7").as_deref(), Some("hf"));
        assert_eq!(comparable(Kind::Flag, "!42", ",7"), None);
        let account = comparable(Kind::Flag, "!42", "f,7,>2 9");
        assert_eq!(account.as_deref(), Some("f>2 9"));
        assert_eq!(comparable(Kind::Flag, "!9", ",7,3 1=42"), None);
        assert_eq!(comparable(Kind::ActiveRecord, "\t", "20777"), None);
        assert_eq!(comparable(Kind::Target, "#", "17"), None);
        assert_eq!(comparable(Kind::Profile, "\t", "v3"), None);
        assert_eq!(comparable(Kind::Profile, "\t#3", "7-0"), None);
        assert_eq!(comparable(Kind::Profile, "42", "{}").as_deref(), Some("{}"));
    }

    #[test]
    fn excess_is_data_that_a_rebuild_loses() {
        for (kind, stored, expected, excess) in [
            (Kind::History, Some("2 4"), Some("2 4"), false),
            (Kind::History, Some("2 4"), Some("1 6"), true),
            (Kind::History, Some("1 -4"), Some("1 -2"), false),
            (Kind::ActiveRecord, Some("1,2"), None, true),
            (Kind::ActiveRecord, None, Some("1,2"), false),
            (Kind::ActiveRecord, Some("9,2"), Some("1,2"), false),
            (Kind::UndoRecord, Some("9"), Some("1"), true),
            (Kind::DailyRecord, Some("3"), Some("1"), true),
            (Kind::DailyRecord, Some("4"), Some("12"), false),
            (Kind::Flag, Some("h"), Some("hf"), false),
            (Kind::Flag, Some("hs"), Some("h"), true),
            (Kind::Profile, Some("{}"), Some("[]"), true),
        ] {
            let found = is_excess(kind, stored, expected);
            assert_eq!(found, excess, "{kind:?} {stored:?} {expected:?}");
        }
    }
}
