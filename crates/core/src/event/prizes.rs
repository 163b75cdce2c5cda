//! The prizes of an event: titles for ranks.

use crate::text;
use serde::Serialize;
use serde_json::Value;

const MAX_PRIZES: usize = 20;
const MAX_RANK: u32 = 1000;
const MAX_TITLE_CHARACTERS: usize = 200;

/// A prize for some ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Prize {
    /// The ranks: `1`, or a range such as `2-10`.
    ranks: String,
    /// The title: 1 to 200 characters.
    title: String,
}

/// Parses ranks without leading zeros.
fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let rank = |text: &str| -> Option<u32> {
        let rank = text.parse().ok()?;
        (text == u32::to_string(&rank) && (1..=MAX_RANK).contains(&rank)).then_some(rank)
    };
    let (first, last) = (rank(first)?, rank(last)?);
    (first < last || !text.contains('-')).then_some((first, last))
}

/// Parses the field `prizes`: ranks ascend, and no rank has two prizes.
pub(super) fn read(value: Option<&Value>) -> Result<Vec<Prize>, String> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    let items = value.as_array().ok_or("must be a list of prizes")?;
    if items.len() > MAX_PRIZES {
        return Err(format!("must be at most {MAX_PRIZES} prizes"));
    }
    let (mut prizes, mut before) = (Vec::new(), 0);
    for item in items {
        let field = |name: &str| item.get(name).and_then(Value::as_str);
        let fields = item.as_object().filter(|fields| fields.len() == 2);
        let (ranks, title) = fields
            .and_then(|_| field("ranks").zip(field("title")))
            .ok_or("each must be an object with the texts ranks and title")?;
        let (first, last) = range(ranks).ok_or_else(|| {
            format!("ranks must be a rank from 1 to {MAX_RANK}, or a range such as 2-10: {ranks}")
        })?;
        if first <= before {
            return Err(format!(
                "ranks must be after the ranks of the prize before: {ranks}"
            ));
        }
        text::check(title, MAX_TITLE_CHARACTERS).map_err(|detail| format!("title {detail}"))?;
        before = last;
        prizes.push(Prize {
            ranks: ranks.to_owned(),
            title: title.to_owned(),
        });
    }
    Ok(prizes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ranks_ascend() {
        let prizes = json!([
            {"ranks": "1", "title": "A book"}, {"ranks": "2-10", "title": "A sticker"},
            {"ranks": "1000", "title": "The last"},
        ]);
        let read = read(Some(&prizes)).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), prizes);
    }

    #[test]
    fn invalid_prizes_are_refused() {
        let prize = |ranks: &str| json!({"ranks": ranks, "title": "t"});
        for ranks in [
            "", "0", "01", "1001", "2-2", "3-2", "1-", "-1", "1-2-3", "+1", "1 ",
        ] {
            let detail = read(Some(&json!([prize(ranks)]))).unwrap_err();
            assert!(
                detail.starts_with("ranks must be a rank from 1 to 1000"),
                "{ranks}: {detail}"
            );
        }
        let texts = "each must be an object with the texts ranks and title";
        let order = "ranks must be after the ranks of the prize before: 3";
        let blank = "title must contain a visible character";
        let many: Value = (1..=21).map(|rank| prize(&rank.to_string())).collect();
        for (prizes, expected) in [
            (json!({}), "must be a list of prizes"),
            (json!([{"ranks": "1"}]), texts),
            (json!([{"ranks": 1, "title": "t"}]), texts),
            (json!([prize("1-3"), prize("3")]), order),
            (json!([{"ranks": "1", "title": " "}]), blank),
            (many, "must be at most 20 prizes"),
        ] {
            assert_eq!(read(Some(&prizes)).unwrap_err(), expected, "{prizes}");
        }
        assert_eq!(read(None), Ok(Vec::new()));
    }
}
