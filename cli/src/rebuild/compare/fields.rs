//! Hashes, compared field by field.

use std::collections::HashMap;

use activity_rank::activity::Mark;

use super::difference::Kind;

/// A field's value as it is compared; none where it says nothing.
#[must_use]
pub fn said(kind: Kind, field: &str, value: String) -> Option<String> {
    match kind {
        Kind::Mark if field.starts_with('~') => Some(value),
        Kind::Mark => Some(told_mark(&value).unwrap_or(value)),
        // The number in the audit list is nobody's business here.
        Kind::Flag => {
            let flags = value.split(',').next().unwrap_or_default();
            (!flags.is_empty()).then(|| flags.to_owned())
        }
        Kind::Board
        | Kind::History
        | Kind::DayMark
        | Kind::UndoMemory
        | Kind::Profile
        | Kind::Audit
        | Kind::Tombstone => Some(value),
    }
}

/// A mark in words: `changed,points,date,kinds[,group…]`. That it was repeated is left out: a repeat
/// changes nothing, so the journal does not tell of it.
fn told_mark(value: &str) -> Option<String> {
    let Mark {
        changed,
        amounts,
        place,
    } = Mark::parse(value)?;
    let points: Vec<String> = amounts.iter().map(i64::to_string).collect();
    let kinds: String = place.kinds.iter().map(|kind| kind.letter()).collect();
    let told = [
        changed.to_string(),
        points.join("/"),
        place.date.to_string(),
        kinds,
    ];
    Some([&told[..], &place.groups].concat().join(","))
}

/// Whether more is held than is told: what would be lost.
#[must_use]
pub fn is_more(kind: Kind, held: Option<&str>, told: Option<&str>) -> bool {
    let (Some(held), Some(told)) = (held, told) else {
        return held.is_some();
    };
    let number = |text: &str| text.parse::<i64>().unwrap_or(0);
    match kind {
        Kind::History => match (held.split_once(' '), told.split_once(' ')) {
            (Some(held), Some(told)) => {
                number(held.0) > number(told.0) || number(held.1) > number(told.1)
            }
            (Some(_) | None, Some(_) | None) => true,
        },
        Kind::UndoMemory | Kind::Tombstone => number(held) > number(told),
        Kind::Flag => held.chars().any(|flag| !told.contains(flag)),
        Kind::Profile => true,
        Kind::DayMark => number(held) & !number(told) != 0,
        // That it stands is told; since when, and for how much, the journal knows better.
        Kind::Mark | Kind::Board | Kind::Audit => false,
    }
}

/// Fields that differ, each with what is held and told of it.
#[must_use]
pub fn compare(
    held: &HashMap<String, String>,
    told: &HashMap<String, String>,
) -> Vec<(String, Option<String>, Option<String>)> {
    let mut fields = Vec::new();
    for (field, value) in held {
        let other = told.get(field);
        if other != Some(value) {
            fields.push((field.clone(), Some(value.clone()), other.cloned()));
        }
    }
    for (field, value) in told.iter().filter(|(field, _)| !held.contains_key(*field)) {
        fields.push((field.clone(), None, Some(value.clone())));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_and_a_number_of_the_audit_list_are_not_compared() {
        let said = |kind, field, value: &str| said(kind, field, value.to_owned());
        for (mark, told) in [
            ("2101795132800000,eu", "1795132800000,2,2026-11-20,dw,eu"),
            (
                "2101795132800000:1795132800005,eu",
                "1795132800000,2,2026-11-20,dw,eu",
            ),
            ("1 -2/-1/0 20777 dw:3", "1,-2/-1/0,2026-11-20,dw"),
            ("else", "else"),
        ] {
            assert_eq!(said(Kind::Mark, "like:x", mark).as_deref(), Some(told));
        }
        assert_eq!(said(Kind::Mark, "~wave", "12").as_deref(), Some("12"));
        assert_eq!(said(Kind::Flag, "42", "hf,7").as_deref(), Some("hf"));
        assert_eq!(said(Kind::Flag, "42", ",7"), None);
    }

    #[test]
    fn what_would_be_lost_is_told_from_what_would_come_back() {
        for (kind, held, told, more) in [
            (Kind::History, Some("2 4"), Some("2 4"), false),
            (Kind::History, Some("2 4"), Some("1 6"), true),
            (Kind::History, Some("1 -4"), Some("1 -2"), false),
            (Kind::Mark, Some("1,2"), None, true),
            (Kind::Mark, None, Some("1,2"), false),
            (Kind::Mark, Some("9,2"), Some("1,2"), false),
            (Kind::UndoMemory, Some("9"), Some("1"), true),
            (Kind::DayMark, Some("3"), Some("1"), true),
            (Kind::DayMark, Some("4"), Some("12"), false),
            (Kind::Flag, Some("h"), Some("hf"), false),
            (Kind::Flag, Some("hs"), Some("h"), true),
            (Kind::Profile, Some("{}"), Some("[]"), true),
        ] {
            assert_eq!(
                is_more(kind, held, told),
                more,
                "{kind:?} {held:?} {told:?}"
            );
        }
    }
}
