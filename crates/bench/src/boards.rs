//! Verifies the boards of the contenders, user by user, and their responses.

use crate::contender::{self, Contender, RunningContender};
use crate::load::{ActivityLog, TOP, user_id};
use crate::stack::Stack;
use crate::templates::{Responses, Templates};
use std::collections::{BTreeMap, HashMap};
use test_support::{Answer, Value, json};

/// Compares two boards with the activity log.
pub async fn check(running: &RunningContender) -> Result<(), String> {
    let periods = match running.contender {
        Contender::Ours | Contender::Before | Contender::Limit | Contender::Hono => ["day", "all"],
        Contender::Posts => ["day", "month"],
        Contender::Fixed => return Ok(()),
    };
    for period in periods {
        let scores = read_board(running, period).await?;
        if let Some(difference) = difference(&scores, &running.activity_log.borrow()) {
            let contender = running.contender.title();
            return Err(format!(
                "{contender}: the {period} board is wrong: {difference}"
            ));
        }
    }
    Ok(())
}

fn difference(scores: &HashMap<String, u64>, log: &ActivityLog) -> Option<String> {
    if !log.is_settled() {
        return Some("some requests have no response".to_owned());
    }
    let mut users = log.points().iter().enumerate();
    users.find_map(|(user, points)| {
        let id = user_id(user);
        let score = scores.get(&id).copied().unwrap_or_default();
        (score != *points)
            .then(|| format!("{id} has {score} points instead of {points} (did the day change?)"))
    })
}

/// Reads a complete board.
async fn read_board(
    running: &RunningContender,
    period: &str,
) -> Result<HashMap<String, u64>, String> {
    let (api, mut scores) = (running.board_reader(), HashMap::new());
    let users = running.activity_log.borrow().users();
    for offset in (0..users).step_by(100) {
        let page = format!("/v1/ranking/{period}?limit=100&offset={offset}");
        let response = api.get(&page).await;
        let entries = response.body["entries"].as_array();
        let entries = entries.ok_or_else(|| format!("{page}: {}", response.text))?;
        for entry in entries {
            let (id, score) = (entry["user"]["id"].as_str(), entry["score"].as_u64());
            let row = id.zip(score).ok_or_else(|| format!("{page}: {entry}"))?;
            scores.insert(row.0.to_owned(), row.1);
        }
    }
    Ok(scores)
}

/// Asserts that Hono responds as the Worker does, on the same boards.
pub async fn compare_responses(
    running: &[RunningContender],
    stack: &Stack,
    templates: &(Templates, Responses),
) -> Result<(), String> {
    let ours = running
        .iter()
        .find(|running| running.contender == Contender::Ours);
    let Some(ours) = ours else {
        return Ok(());
    };
    let hono = contender::builder(Contender::Hono, "bench-ours", templates);
    let worker = hono.store(&stack.gateway.url()).start();
    let hono = worker.api();
    let ours = ours.board_reader();
    let standing = format!("/v1/ranking/day/users/{}?around=2", user_id(7));
    for path in [TOP, &standing] {
        compare(path, &ours.get(path).await, &hono.get(path).await)?;
    }
    let path = "/v1/activity";
    // A repetition of the first activity.
    let like = json!({"user": user_id(0), "action": "like", "target": "post-0"});
    let responses = (ours.post(path, &like).await, hono.post(path, &like).await);
    compare(path, &responses.0, &responses.1)
}

fn compare(path: &str, ours: &Answer, theirs: &Answer) -> Result<(), String> {
    let (ours, theirs) = (comparable(ours), comparable(theirs));
    match ours == theirs {
        true => Ok(()),
        false => Err(format!(
            "{path}: our response is\n{ours:#}\nHono's is\n{theirs:#}"
        )),
    }
}

/// Returns body and headers without the parts that may differ.
fn comparable(response: &Answer) -> Value {
    let names = response.headers.iter().map(|(name, value)| {
        let varying = ["date", "etag", "x-request-id"];
        let value = (!varying.contains(&name.as_str())).then(|| value.to_str().unwrap_or_default());
        (name.as_str(), value)
    });
    let framing = ["content-length", "transfer-encoding"];
    let headers: BTreeMap<_, _> = names.filter(|(name, _)| !framing.contains(name)).collect();
    let mut body = response.body.clone();
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
    fn board_with_one_activity_more_or_less_is_wrong() {
        let mut log = ActivityLog::new(2);
        let sent = [log.fresh(), log.fresh()];
        let mut scores = HashMap::from([(user_id(0), 2), (user_id(1), 2)]);
        assert!(difference(&scores, &log).is_some(), "requests are pending");
        for activity in sent {
            log.counted(activity);
        }
        assert_eq!(difference(&scores, &log), None);
        log.counted(sent[0]);
        assert_eq!(
            difference(&scores, &log),
            None,
            "a repetition does not count"
        );
        scores.insert(user_id(1), 4);
        assert!(difference(&scores, &log).is_some());
        scores.remove(&user_id(1));
        assert!(difference(&scores, &log).is_some());
    }
}
