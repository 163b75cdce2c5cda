//! Properties of activities: each is accepted or refused as the API documents it, for every caller and
//! with every rule.

use std::sync::LazyLock;

use activity_rank_core::activity::{Activity, ActivityReader};
use activity_rank_core::calendar::{Calendar, Instant, Utc};
use activity_rank_core::caller::Caller;
use activity_rank_core::config::{Config, Rule, Scopes, Vars};
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;
use activity_rank_core::token::Member;
use activity_rank_store::count::{Plan, Registrations};
use activity_rank_store::keys::Keys;
use activity_rank_store::redis::Pipeline;
use serde_json::{Value, json};

use super::path::{check_visited_path, to_nfc};
use super::{checked_arguments, is_id};

/// 2026-11-20T08:00:00Z
const NOW: Instant = Instant(1_795_161_600_000);

/// Parses any bytes as the body of `POST /v1/activity`.
pub fn check(body: &[u8]) {
    match parse(body) {
        Some(Value::Array(items)) => items.iter().take(8).for_each(check_item),
        Some(item) => check_item(&item),
        None => {}
    }
}

fn parse(body: &[u8]) -> Option<Value> {
    activity_rank_core::json::read(body).ok()
}

/// The default rules, and other rules with a prefix that contains separators.
static CONFIGS: LazyLock<[Config; 2]> = LazyLock::new(|| {
    let rules = json!({
        "visit": {"once": "standing", "undo": true, "by": "service"},
        "like": {"once": "day", "undo": false, "points": 0.5, "daily_cap": 2.5},
        "a": {"points": 1, "cooldown": 60},
        "follow": [{"points": 1}, {"from": "2026-11-20", "own": true}, {"from": "2026-11-20T08:00:00Z", "points": 3}],
    });
    let vars = |prefix: &str, rules: Value| {
        let vars = json!({
            "UPSTASH_REDIS_REST_URL": "https://store", "UPSTASH_REDIS_REST_TOKEN": "token",
            "POINT_DECIMALS": 2, "PREFIX": prefix, "RULES": rules,
        });
        Config::parse(
            &Vars::new(vars.as_object().expect("a table").clone()),
            Utc::named,
        )
        .expect("valid")
    };
    [vars("ar", json!({})), vars("a:r.0", rules)]
});

fn reader(config: &Config) -> ActivityReader<'_> {
    ActivityReader {
        rules: &config.rules,
        now: NOW,
        to_nfc,
    }
}

fn check_item(item: &Value) {
    let own = user_id(&item["user"]).unwrap_or_else(|| "42".to_owned());
    let users = [Some(own), Some("another".to_owned()), None];
    for config in CONFIGS.iter() {
        let read = |caller: &Caller| reader(config).read(item, caller);
        let service = read(&Caller::Service(Scopes::ALL.into()));
        assert_eq!(
            matches!(service, Err(Error::InvalidRequest(..))),
            !is_valid(item) || !may_have_on(item, config),
            "{item}: {service:?}"
        );
        check_service(item, &service, config);
        for user in &users {
            let member = |id: &String| Member {
                id: id.clone(),
                groups: Vec::new(),
                profile: None,
            };
            let outcome = read(&Caller::User(
                user.as_ref().map(member).ok_or_else(String::new),
            ));
            check_user(item, user.as_deref(), &outcome, &service);
        }
    }
}

/// Returns whether the rule of an action, if there is one, allows the field `on`.
fn may_have_on(item: &Value, config: &Config) -> bool {
    let at = item["at"].as_str().and_then(Instant::parse).unwrap_or(NOW);
    let rule = config
        .rules
        .get(item["action"].as_str().unwrap_or_default(), at);
    item.get("on").is_none() || item["undo"] == true || rule.is_none_or(|rule| rule.on)
}

/// Returns whether an activity is valid by the documentation.
fn is_valid(item: &Value) -> bool {
    let known = [
        "user", "action", "target", "undo", "at", "groups", "on", "author",
    ];
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
            let is_repeated = |(index, group)| groups[..index].contains(group);
            groups.len() <= 4
                && groups.iter().all(|group| group.as_str().is_some_and(is_id))
                && !groups.iter().enumerate().any(is_repeated)
        })
    });
    fields.keys().all(|field| known.contains(&field.as_str()))
        && user_id(&item["user"]).is_some_and(|user| is_id(&user))
        && action.is_some()
        && is_target(&item["target"])
        && (action != Some("visit")
            || target
                .trim()
                .trim_start_matches('\u{feff}')
                .trim_start()
                .starts_with(['/', '\\']))
        && fields.get("undo").is_none_or(Value::is_boolean)
        && fields.get("on").is_none_or(is_target)
        && (item.get("author").is_none()
            || user_id(&item["author"]).is_some_and(|author| is_id(&author)))
        && at
        && groups
}

/// Returns whether a value is 1 to 512 bytes without control characters.
fn is_target(value: &Value) -> bool {
    let target = value.as_str().unwrap_or_default();
    (1..=512).contains(&target.len())
        && !target.contains(|c: char| c < ' ' || ('\u{7f}'..='\u{9f}').contains(&c))
}

/// Returns the user: a string, or an integer as its decimal text.
fn user_id(user: &Value) -> Option<String> {
    match user {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        // `42.0` is an integer too, as long as it is exact.
        Value::Number(number) => {
            let number = number.as_f64().filter(|number| number.fract() == 0.0)?;
            (number.abs() < 2f64.powi(53)).then(|| (number as i64).to_string())
        }
        _ => None,
    }
}

/// Checks the result of a service's request.
fn check_service(item: &Value, outcome: &Result<(Activity, Rule), Error>, config: &Config) {
    let action = item["action"].as_str().unwrap_or_default();
    let at = item["at"].as_str().and_then(Instant::parse).unwrap_or(NOW);
    let rule = config.rules.get(action, at);
    match outcome {
        Ok((activity, found)) => {
            assert_eq!(Some(found), rule);
            assert!(
                !activity.undo || found.undo,
                "{item}: the rule does not allow undo"
            );
            check_parsed(item, activity);
            check_round_trip(activity, *found, config);
            check_command(activity, *found, config);
        }
        Err(Error::InvalidRequest(_, errors)) => {
            assert!(
                errors
                    .listed()
                    .iter()
                    .all(|error| error.pointer.starts_with('/') && !error.detail.is_empty())
            );
            assert!(
                item.is_object() != errors.listed().is_empty(),
                "{item}: {errors:?}"
            );
        }
        Err(Error::UnknownAction(_)) => assert_eq!(rule, None),
        Err(Error::NotUndoable(_)) => assert!(rule.is_some_and(|rule| !rule.undo)),
        Err(other) => panic!("{item}: {other:?}"),
    }
}

fn check_parsed(item: &Value, activity: &Activity) {
    let Activity {
        user,
        action,
        target,
        undo,
        source_gone,
        at,
        dated,
        queued,
        by_member,
        groups,
        on,
        author,
    } = activity;
    assert!(author.as_ref().is_none_or(|author| is_id(author)));
    assert_eq!(item.get("on"), on.as_ref().map(|on| json!(on)).as_ref());
    assert!(is_id(user) && groups.iter().all(|group| is_id(group)));
    assert_eq!(Some(user), user_id(&item["user"]).as_ref());
    assert_eq!(item["action"], **action);
    assert_eq!(item.get("undo").is_some_and(|undo| undo == true), *undo);
    assert_eq!(item.get("source_gone") == Some(&json!(true)), *source_gone);
    assert!(*undo || !source_gone);
    assert_eq!(item.get("at").is_some(), *dated);
    assert!(*dated || *at == NOW);
    assert!(!queued && !by_member);
    assert_eq!(
        item.get("groups").cloned().unwrap_or(json!([])),
        json!(groups)
    );
    let sent = item["target"].as_str().expect("a text");
    if action == "visit" {
        assert_eq!(Some(target), check_visited_path(sent).as_ref());
    } else {
        assert_eq!(target, sent);
    }
}

/// Checks that an activity rendered as JSON parses to the same activity.
fn check_round_trip(activity: &Activity, rule: Rule, config: &Config) {
    let Activity {
        user,
        action,
        target,
        undo,
        source_gone,
        at,
        dated,
        queued: _,
        by_member: _,
        groups,
        on,
        author,
    } = activity;
    let mut rendered =
        json!({"user": user, "action": action, "target": target, "undo": undo, "groups": groups});
    for (field, value) in [("on", on), ("author", author)] {
        if let Some(value) = value {
            rendered[field] = json!(value);
        }
    }
    if *source_gone {
        rendered["source_gone"] = json!(true);
    }
    if *dated {
        rendered["at"] = json!(at.to_string());
    }
    let mut rendered = parse(rendered.to_string().as_bytes()).expect("JSON");
    // The normal form of a path may be longer than what a request may send.
    if target.len() <= 512 {
        let reparsed = reader(config).read(&rendered, &Caller::Service(Scopes::ALL.into()));
        assert_eq!(reparsed, Ok((activity.clone(), rule)), "{rendered}");
    }
    let queued = Activity {
        dated: true,
        queued: true,
        by_member: true,
        ..activity.clone()
    };
    rendered["at"] = json!(at.to_string());
    let reparsed = reader(config).read_queued(&rendered, true);
    assert_eq!(reparsed, Ok((queued, rule)), "{rendered}");
}

/// Checks that the command uses only keys with the prefix, and contains the deduplication record.
fn check_command(activity: &Activity, rule: Rule, config: &Config) {
    let calendar = Calendar::new("UTC", Box::new(Utc));
    let mut plan = Plan::new(config, &calendar, NOW, 0);
    plan.add(0, activity, rule, &Registrations::default());
    let header = plan.header(
        Keys::new(&config.prefix, 0, 1),
        "v4".to_owned(),
        true,
        Definitions::default(),
    );
    let calls = plan.users.iter().map(|user| header.encode(user).command());
    let arguments = checked_arguments(&config.prefix, &Pipeline::new(calls.collect()));
    let record = format!("{}:{}", activity.action, activity.target);
    let [_, user, call] = &arguments[0][..] else {
        panic!("{arguments:?}");
    };
    let call: Value = serde_json::from_str(call).expect("JSON");
    assert_eq!(*user, activity.user);
    assert_eq!(call["items"][0]["field"], Keys::record_field(&record));
}

/// Checks that a user may do less than a service, and nothing for another user.
fn check_user(
    item: &Value,
    user: Option<&str>,
    outcome: &Result<(Activity, Rule), Error>,
    service: &Result<(Activity, Rule), Error>,
) {
    match (outcome, service) {
        (Ok((activity, rule)), _) => {
            let by_service = Activity {
                by_member: false,
                ..activity.clone()
            };
            assert_eq!(Ok((by_service, *rule)), *service);
            assert!(activity.by_member);
            assert_eq!(
                user,
                Some(&*activity.user),
                "{item}: counted for another user"
            );
            assert!(!activity.dated && activity.groups.is_empty() && activity.author.is_none());
            assert!(!rule.service_only);
        }
        (Err(Error::Forbidden(_)), service) => {
            assert!(
                !matches!(service, Err(Error::InvalidRequest(..))),
                "{item}: validation comes before authorisation"
            );
        }
        (Err(_), _) => assert_eq!(outcome, service, "{item}"),
    }
}
