//! An activity that is taken is as the API documents it, for every caller and by every rule.

use std::sync::LazyLock;

use activity_rank::activity::{Activity, Plan, read_item};
use activity_rank::calendar::{Calendar, Instant, Utc};
use activity_rank::caller::Caller;
use activity_rank::config::{Config, Rule, Scopes, Vars};
use activity_rank::error::Error;
use activity_rank::redis::Pipeline;
use activity_rank::token::Member;
use serde_json::{Value, json};

use super::ids::is_id;
use super::keys;

/// 2026-11-20T08:00:00Z
const NOW: Instant = Instant(1_795_161_600_000);

/// Reads any bytes as a body of `POST /v1/activity`.
pub fn check(body: &[u8]) {
    match parse(body) {
        Some(Value::Array(items)) => items.iter().take(8).for_each(check_item),
        Some(item) => check_item(&item),
        None => {}
    }
}

/// The one place where bytes become JSON here.
fn parse(body: &[u8]) -> Option<Value> {
    activity_rank::json::read(body).ok()
}

/// The default rules; others; and a prefix that would be told apart from neither.
static CONFIGS: LazyLock<[Config; 2]> = LazyLock::new(|| {
    let rules = json!({
        "visit": {"once": "standing", "undo": true, "by": "service"},
        "like": {"once": "day", "undo": false, "points": 0.5, "daily_cap": 2.5},
        "a": {"points": 1, "cooldown": 60},
    });
    let vars = |prefix: &str, rules: Value| {
        let vars = json!({
            "UPSTASH_REDIS_REST_URL": "https://store", "UPSTASH_REDIS_REST_TOKEN": "token",
            "POINT_DECIMALS": 2, "PREFIX": prefix, "RULES": rules,
        });
        Config::read(&Vars::new(vars.as_object().expect("a table").clone())).expect("valid")
    };
    [vars("ar", json!({})), vars("a:r.0", rules)]
});

fn check_item(item: &Value) {
    let own = sent_user(item).unwrap_or_else(|| "42".to_owned());
    let users = [Some(own), Some("another".to_owned()), None];
    for config in CONFIGS.iter() {
        let read = |caller: &Caller| read_item(item, caller, &config.rules, NOW);
        let service = read(&Caller::Service(Scopes::ALL));
        assert_eq!(
            matches!(service, Err(Error::InvalidRequest(..))),
            !is_valid(item),
            "{item}: {service:?}"
        );
        taken_as_documented(item, &service, config);
        for user in &users {
            let member = |id: &String| Member {
                id: id.clone(),
                groups: Vec::new(),
                profile: None,
            };
            let outcome = read(&Caller::User(user.as_ref().map(member)));
            compare(item, user.as_deref(), &outcome, &service);
        }
    }
}

/// The content of a request, by the words of the documentation.
fn is_valid(item: &Value) -> bool {
    let known = ["user", "action", "target", "undo", "at", "groups"];
    let Value::Object(fields) = item else {
        return false;
    };
    let action = item["action"].as_str();
    let target = item["target"].as_str().unwrap_or_default();
    let at = fields.get("at").is_none_or(|at| {
        at.as_str()
            .and_then(Instant::parse)
            .is_some_and(|at| at.0 <= NOW.0 + 60_000)
    });
    let groups = fields.get("groups").is_none_or(|groups| {
        let groups = groups.as_array().map(Vec::as_slice);
        groups.is_some_and(|groups| {
            let repeated = |(place, group)| groups[..place].contains(group);
            groups.len() <= 4
                && groups.iter().all(|group| group.as_str().is_some_and(is_id))
                && !groups.iter().enumerate().any(repeated)
        })
    });
    fields.keys().all(|field| known.contains(&field.as_str()))
        && sent_user(item).is_some_and(|user| is_id(&user))
        && action.is_some()
        && (1..=512).contains(&target.len())
        && !target.contains(|c: char| c < ' ' || ('\u{7f}'..='\u{9f}').contains(&c))
        && (action != Some("visit") || target.starts_with('/'))
        && fields.get("undo").is_none_or(Value::is_boolean)
        && at
        && groups
}

/// A text, or an integer as its decimal text.
fn sent_user(item: &Value) -> Option<String> {
    let user = item.get("user")?;
    match user {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        // `42.0` is an integer too, as long as it stands for one alone.
        Value::Number(number) => {
            let number = number.as_f64().filter(|number| number.fract() == 0.0)?;
            (number.abs() < 2f64.powi(53)).then(|| (number as i64).to_string())
        }
        _ => None,
    }
}

/// What a trusted service may send, and how it arrives.
fn taken_as_documented(item: &Value, outcome: &Result<(Activity, Rule), Error>, config: &Config) {
    let action = item["action"].as_str().unwrap_or_default();
    let rule = config.rules.get(action);
    match outcome {
        Ok((activity, found)) => {
            assert_eq!(Some(found), rule);
            assert!(
                !activity.undo || found.undo,
                "{item}: undone against the rule"
            );
            arrived(item, activity);
            again(activity, *found, config);
            planned(activity, *found, config);
        }
        Err(Error::InvalidRequest(_, faults)) => {
            let pointed = |pointer: &str| pointer.starts_with('/');
            assert!(
                faults
                    .iter()
                    .all(|fault| pointed(&fault.pointer) && !fault.detail.is_empty())
            );
            assert!(item.is_object() != faults.is_empty(), "{item}: {faults:?}");
        }
        Err(Error::UnknownAction(_)) => assert_eq!(rule, None),
        Err(Error::NotUndoable(_)) => assert!(rule.is_some_and(|rule| !rule.undo)),
        Err(other) => panic!("{item}: {other:?}"),
    }
}

fn arrived(item: &Value, activity: &Activity) {
    let Activity {
        user,
        action,
        target,
        undo,
        at,
        dated,
        held,
        groups,
    } = activity;
    assert!(is_id(user) && groups.iter().all(|group| is_id(group)));
    assert_eq!(Some(user), sent_user(item).as_ref());
    assert_eq!(item["action"], **action);
    assert_eq!(item.get("undo").is_some_and(|undo| undo == true), *undo);
    assert_eq!(item.get("at").is_some(), *dated);
    assert!(*dated || *at == NOW);
    assert!(!held);
    assert_eq!(
        item.get("groups").cloned().unwrap_or(json!([])),
        json!(groups)
    );
    let sent = item["target"].as_str().expect("a text");
    if action == "visit" {
        assert_eq!(target, super::path::visited(sent));
    } else {
        assert_eq!(target, sent);
    }
}

/// What was read, written and read again, is the same.
fn again(activity: &Activity, rule: Rule, config: &Config) {
    let Activity {
        user,
        action,
        target,
        undo,
        at,
        dated,
        held: _,
        groups,
    } = activity;
    // Of a page whose path ends with a slash a link has one more, which is dropped.
    let slash = action == "visit" && target != "/" && target.ends_with('/');
    let target = if slash {
        format!("{target}/")
    } else {
        target.clone()
    };
    let mut written =
        json!({"user": user, "action": action, "target": target, "undo": undo, "groups": groups});
    if *dated {
        written["at"] = json!(at.to_string());
    }
    let written = parse(written.to_string().as_bytes()).expect("JSON");
    let again = read_item(&written, &Caller::Service(Scopes::ALL), &config.rules, NOW);
    assert_eq!(again, Ok((activity.clone(), rule)), "{written}");
}

/// What it would make Redis do stays under the prefix, and names the mark as it was sent.
fn planned(activity: &Activity, rule: Rule, config: &Config) {
    let calendar = Calendar::new("UTC", Box::new(Utc));
    let mut plan = Plan::new(config, &calendar, NOW, 0);
    plan.add(activity, rule);
    let pipeline = Pipeline::new(vec![plan.command(true)]);
    let arguments = keys::all_under(&config.prefix, &pipeline);
    let mark = format!("{}:{}", activity.action, activity.target);
    assert!(
        arguments.iter().any(|command| command.contains(&mark)),
        "no {mark:?}"
    );
}

/// A user may do less than a service, and never for another.
fn compare(
    item: &Value,
    user: Option<&str>,
    outcome: &Result<(Activity, Rule), Error>,
    service: &Result<(Activity, Rule), Error>,
) {
    match (outcome, service) {
        (Ok((activity, rule)), _) => {
            assert_eq!(outcome, service);
            assert_eq!(user, Some(&*activity.user), "{item}: counted for another");
            assert!(!activity.dated && activity.groups.is_empty() && !rule.service_only);
        }
        (Err(Error::Forbidden(_)), service) => {
            assert!(
                !matches!(service, Err(Error::InvalidRequest(..))),
                "{item}: content comes first"
            );
        }
        (Err(_), _) => assert_eq!(outcome, service, "{item}"),
    }
}
