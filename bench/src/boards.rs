//! Whether a contender's boards hold what it was sent, user by user.

use crate::contender::Contender;
use crate::ledger::Ledger;
use crate::load::{TOP, name_of};
use crate::stand::{self, Parts, Stand};
use crate::templates::{Answers, Templates};
use std::collections::{BTreeMap, HashMap};
use test_support::{Answer, Value, json};

/// Compares two boards with the ledger.
pub async fn check(stand: &Stand) -> Result<(), String> {
    let kinds = match stand.who {
        Contender::Ours | Contender::Limit | Contender::Hono => ["day", "all"],
        Contender::Posts => ["day", "month"],
        Contender::Fixed => return Ok(()),
    };
    for kind in kinds {
        let held = read(stand, kind).await?;
        let wrong = wrong(&held, &stand.ledger.borrow());
        if let Some(wrong) = wrong {
            let who = stand.who.title();
            return Err(format!("{who}: the board of kind {kind} is wrong: {wrong}"));
        }
    }
    Ok(())
}

fn wrong(held: &HashMap<String, u64>, ledger: &Ledger) -> Option<String> {
    if !ledger.is_settled() {
        return Some("there are requests without an answer".to_owned());
    }
    let mut users = ledger.points().iter().enumerate();
    users.find_map(|(user, points)| {
        let name = name_of(user);
        let has = held.get(&name).copied().unwrap_or_default();
        (has != *points)
            .then(|| format!("{name} has {has} points instead of {points} (after midnight?)"))
    })
}

/// A whole board.
async fn read(stand: &Stand, kind: &str) -> Result<HashMap<String, u64>, String> {
    let (api, mut held) = (stand.reader(), HashMap::new());
    let users = stand.ledger.borrow().users();
    for offset in (0..users).step_by(100) {
        let page = format!("/v1/ranking/{kind}?limit=100&offset={offset}");
        let answer = api.get(&page).await;
        let entries = answer.body["entries"].as_array();
        let entries = entries.ok_or_else(|| format!("{page}: {}", answer.text))?;
        for entry in entries {
            let (id, score) = (entry["user"]["id"].as_str(), entry["score"].as_u64());
            let row = id.zip(score).ok_or_else(|| format!("{page}: {entry}"))?;
            held.insert(row.0.to_owned(), row.1);
        }
    }
    Ok(held)
}

/// Whether Hono answers as the Worker does, over the same boards.
pub async fn same_answers(
    stands: &[Stand],
    parts: &Parts,
    words: &(Templates, Answers),
) -> Result<(), String> {
    let Some(ours) = stands.iter().find(|stand| stand.who == Contender::Ours) else {
        return Ok(());
    };
    let hono = stand::builder(Contender::Hono, "bench-ours", words);
    let worker = hono.store(&parts.gateway.url()).start();
    let hono = worker.api();
    let ours = ours.reader();
    let standing = format!("/v1/ranking/day/users/{}?around=2", name_of(7));
    for path in [TOP, &standing] {
        same(path, &ours.get(path).await, &hono.get(path).await)?;
    }
    let path = "/v1/activity";
    // The first activity of all, once more.
    let like = json!({"user": name_of(0), "action": "like", "target": "post-0"});
    let answers = (ours.post(path, &like).await, hono.post(path, &like).await);
    same(path, &answers.0, &answers.1)
}

fn same(path: &str, ours: &Answer, theirs: &Answer) -> Result<(), String> {
    let (ours, theirs) = (shown(ours), shown(theirs));
    match ours == theirs {
        true => Ok(()),
        false => Err(format!("{path}: ours is\n{ours:#}\nand Hono's\n{theirs:#}")),
    }
}

/// The body and the headers, without what may differ.
fn shown(answer: &Answer) -> Value {
    let names = answer.headers.iter().map(|(name, value)| {
        let differs = ["date", "etag", "x-request-id"];
        let value = (!differs.contains(&name.as_str())).then(|| value.to_str().unwrap_or_default());
        (name.as_str(), value)
    });
    let framing = ["content-length", "transfer-encoding"];
    let headers: BTreeMap<_, _> = names.filter(|(name, _)| !framing.contains(name)).collect();
    let mut body = answer.body.clone();
    // JavaScript writes 99.0 as 99.
    if let Some(percentile) = body.get_mut("percentile") {
        *percentile = json!(percentile.as_f64());
    }
    json!({"headers": headers, "body": body})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_wrong_by_one_activity_more_or_less_of_anybody() {
        let mut ledger = Ledger::new(2);
        let sent = [ledger.fresh(), ledger.fresh()];
        let mut held = HashMap::from([(name_of(0), 2), (name_of(1), 2)]);
        assert!(wrong(&held, &ledger).is_some(), "not answered yet");
        for activity in sent {
            ledger.counted(activity);
        }
        assert_eq!(wrong(&held, &ledger), None);
        ledger.counted(sent[0]);
        assert_eq!(wrong(&held, &ledger), None, "a repeat counts nothing");
        held.insert(name_of(1), 4);
        assert!(wrong(&held, &ledger).is_some());
        held.remove(&name_of(1));
        assert!(wrong(&held, &ledger).is_some());
    }
}
