//! Access to the data of a member, for each route, caller and state of the member. Edge caches and the memory of the
//! isolate may have answered another caller before.

use test_support::{Answer, Value, depth, json};

use crate::app::TestApp;
use crate::bodies::{activity, like};
use crate::client::Client;
use crate::token::sign::{SECRET, claims, hs256};

const SERVICE: [&str; 2] = ["service", "other-scope"];

/// The states of members, who are named like them.
const OWNERS: [&str; 8] = [
    "shown",
    "public",
    "hidden",
    "opted-out",
    "hidden-public",
    "frozen",
    "erased",
    "unknown",
];

/// Routes of one member: `{}` is the member.
const PRIVATE: [&str; 10] = [
    "/v1/users/{}/activity",
    "/v1/users/{}/points",
    "/v1/users/{}/points?refused=true",
    "/v1/users/{}/done?action=like&targets=a",
    "/v1/users/{}/standings?movement=true",
    "/v1/users/{}/standings?friends=true",
    "/v1/ranking/day/users?followed_by={}",
    "/v1/users/{}/moderation",
    "/v1/users/{}/account",
    "/v1/users/{}/pause",
];
const PUBLIC: [&str; 13] = [
    "/v1/users/{}",
    "/v1/users/{}/card",
    "/v1/users/{}/card.svg",
    "/u/{}/share.svg",
    "/v1/users/{}/badge.svg",
    "/u/{}",
    "/v1/ranking/day?movement=true",
    "/v1/ranking/all/users/{}?around=25&movement=true",
    "/v1/ranking/week/users?ids={},shown",
    "/v1/authors/day",
    "/v1/authors/day/users/{}",
    "/v1/users/{}/targets",
    "/v1/users/{}/achievements",
];

fn is_hidden(owner: &str) -> bool {
    ["hidden", "opted-out", "hidden-public"].contains(&owner)
}

fn is_gone(owner: &str) -> bool {
    ["erased", "unknown"].contains(&owner)
}

/// Fills a deployment with members in all states. Each has followed, liked and published what has their name in it.
async fn start() -> TestApp {
    let app = TestApp::with(|worker| {
        worker
            .var("JWT_SECRET", SECRET)
            .var("SERVICE_KEYS", "full,activity:service,content:other-scope")
            .var("CONTENT_PERIODS", "day")
            .json("LEVELS", json!({"Newcomer": 0, "Regular": 10}))
            .limit("READ_LIMIT", 100_000)
            .json("RULES", json!({"wave": {"points": 1, "own": false}}))
            .var("REFUSED_DAYS", "90")
            .json("JOURNAL_REFUSED", json!(true))
            .json(
                "ACHIEVEMENTS",
                json!({"writer": {"name": "Writer", "count": "comment"}}),
            )
            .journal()
    });
    let full = app.with_key("full");
    for owner in OWNERS.into_iter().filter(|owner| *owner != "unknown") {
        let is_public = owner.ends_with("public");
        let profile = json!({"name": format!("Name of {owner}"), "public_activity": is_public});
        full.put_profile(owner, profile).await;
        for (action, target) in [
            ("follow", "friend"),
            ("comment", "secret"),
            ("publish", "post"),
        ] {
            full.count(owner, action, &format!("{target}-of-{owner}"))
                .await;
        }
        full.outcome(activity(owner, "wave", owner), "capped").await;
        full.counted(like("reader", &format!("post-of-{owner}")))
            .await;
    }
    app.worker.minute().await;
    for owner in ["hidden", "hidden-public"] {
        full.moderate(owner, true, false).await;
    }
    let opted_out = json!({"name": "Name of opted-out", "hidden": true});
    full.put_profile("opted-out", opted_out).await;
    full.moderate("frozen", false, true).await;
    full.erase("erased").await;
    app
}

/// Returns the status of a private route. The moderation state needs the scope `admin`, which only `full` has.
fn private_status(route: &str, caller: &str, owner: &str) -> u16 {
    let is_calendar = route.ends_with("/activity") && owner == "public";
    match caller {
        "full" => 200,
        "invalid" => 401,
        _ if is_calendar => 200,
        "anonymous" => 401,
        _ if route.ends_with("/moderation") => 403,
        "service" if route.ends_with("/account") || route.ends_with("/pause") => 403,
        "owner" | "service" => 200,
        _ => 403,
    }
}

/// Returns the status of a public route, which needs no caller.
fn public_status(route: &str, caller: &str, owner: &str) -> u16 {
    let sees_hidden = ["full", "owner"].contains(&caller) || SERVICE.contains(&caller);
    match route {
        "/v1/users/{}/card"
        | "/v1/users/{}/card.svg"
        | "/v1/users/{}/badge.svg"
        | "/u/{}/share.svg"
            if is_gone(owner) || is_hidden(owner) =>
        {
            404
        }
        "/v1/users/{}" if is_gone(owner) || is_hidden(owner) && !sees_hidden => 404,
        _ => 200,
    }
}

/// Checks all routes of all members for the callers in an order.
async fn check(app: &TestApp, callers: &[&str]) {
    for owner in OWNERS {
        for route in PRIVATE.into_iter().chain(PUBLIC) {
            for caller in callers {
                let client: Client = match *caller {
                    "anonymous" => app.without_key(),
                    "owner" => app.with_key(&hs256(&claims(owner))),
                    "member" => app.with_key(&hs256(&claims("member"))),
                    key => app.with_key(key),
                };
                let is_private = PRIVATE.contains(&route);
                let status = match is_private {
                    true => private_status(route, caller, owner),
                    false => public_status(route, caller, owner),
                };
                let response = client.get(&route.replace("{}", owner)).await;
                let text = &response.text;
                assert_eq!(
                    response.status, status,
                    "{caller}, {route} of {owner}: {text}"
                );
                if ["anonymous", "member", "invalid"].contains(caller) {
                    assert_no_secrets(route, owner, &response);
                }
            }
        }
    }
}

/// Asserts that strangers read nothing private.
#[track_caller]
fn assert_no_secrets(route: &str, owner: &str, response: &Answer) {
    let (body, text) = (&response.body, &response.text);
    // Boards of authors show followed users, but not their followers.
    let friend = if route.starts_with("/v1/authors") {
        "\n"
    } else {
        "friend-of"
    };
    for secret in [friend, "secret-of", "\"actions\"", "own-target"] {
        assert!(
            !text.contains(secret),
            "{secret} in {route} of {owner}: {text}"
        );
    }
    for hidden in OWNERS
        .into_iter()
        .filter(|owner| is_hidden(owner) || is_gone(owner))
    {
        let name = format!("Name of {hidden}");
        assert!(
            // `hidden` begins the name of another member.
            !["\"", "<"]
                .iter()
                .any(|end| text.contains(&format!("{name}{end}"))),
            "{name} in {route} of {owner}: {text}"
        );
    }
    if is_hidden(owner) || is_gone(owner) {
        let rank = body.get("rank").unwrap_or(&Value::Null);
        assert_eq!(rank, &Value::Null, "{route} of {owner}");
    }
}

#[tokio::test]
async fn members_are_read_by_those_who_may() {
    let app = start().await;
    let callers = [
        "full",
        "owner",
        "service",
        "other-scope",
        "member",
        "anonymous",
        "invalid",
    ];
    check(&app, &callers).await;
    // Strangers come first now: a cached answer for the member would show.
    let mut reversed = callers;
    reversed.reverse();
    check(&app, depth(&reversed[1..3], &reversed)).await;
}
