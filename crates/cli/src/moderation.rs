//! `activity-rank moderate`, `adjust` and `erase`: moderates a user.

use std::process::ExitCode;

use reqwest::{Method, Url};
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use crate::args::{AdjustArgs, EraseArgs, ModerateArgs, ServiceArgs};
use crate::board::{RETRIES, User, parse_body, print_body};
use crate::client::{Client, client};
use crate::failure::Failure;
use crate::printable::printable;
use crate::request_error::RequestError;
use crate::screen::Screen;

/// The moderation state of a user.
#[derive(Debug, Deserialize)]
struct State {
    user: User,
    hidden: bool,
    frozen: bool,
}

/// The outcome of an adjustment.
#[derive(Debug, Deserialize)]
struct Outcome {
    outcome: String,
    points: Number,
}

/// Sets the flags that the arguments name, and prints the state. Without flags it only prints the state.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response or stdout fails.
pub async fn moderate(service: &ServiceArgs, args: &ModerateArgs) -> Result<ExitCode, Failure> {
    let client = client(service)?;
    let url = client.url(&["v1", "users", &args.user, "moderation"]);
    let mut body = client
        .with_backoff(RETRIES, |_, _| (), || client.get_with_key(&url))
        .await?;
    if args.hide || args.show || args.freeze || args.unfreeze {
        // A PUT replaces both flags.
        let state: State = parse_body(&url, &body)?;
        if (args.hide || args.freeze) && !state.hidden && is_unknown(&client, &state.user).await {
            Screen::print_error(&format!(
                "{} has no name and no points: is it the right id?",
                state.user
            ));
        }
        let change = json!({
            "hidden": (state.hidden || args.hide) && !args.show,
            "frozen": (state.frozen || args.freeze) && !args.unfreeze,
            "reason": args.reason,
            "public_reason": args.public_reason,
        });
        body = send(&client, Method::PUT, &url, &change.to_string()).await?;
    }
    print_body(&url, &body, args.json, |state: &State| {
        let flag = |is_set, name: &str| {
            if is_set {
                name.to_owned()
            } else {
                format!("not {name}")
            }
        };
        let flags = [flag(state.hidden, "hidden"), flag(state.frozen, "frozen")];
        format!("{}: {}", state.user, flags.join(", "))
    })
}

/// Returns whether a user has neither a profile nor points.
async fn is_unknown(client: &Client, user: &User) -> bool {
    let url = client.url(&["v1", "ranking", "all", "users", &user.id]);
    let standing = client.get_with_key(&url).await.ok();
    let standing = standing.and_then(|body| serde_json::from_slice::<Value>(&body).ok());
    user.name.is_none()
        && standing.is_some_and(|standing| standing.get("rank") == Some(&Value::Null))
}

/// Gives or takes points, or undoes an adjustment, and prints the outcome.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response or stdout fails.
pub async fn adjust(service: &ServiceArgs, args: &AdjustArgs) -> Result<ExitCode, Failure> {
    let client = client(service)?;
    let url = client.url(&["v1", "users", &args.user, "adjustments"]);
    let fields = [
        ("id", Some(json!(args.id))),
        ("points", args.points.clone().map(Value::Number)),
        ("undo", args.undo.then_some(json!(true))),
        ("at", args.at.as_ref().map(|at| json!(at))),
        (
            "groups",
            (!args.groups.is_empty()).then(|| json!(args.groups)),
        ),
        ("event", args.event.as_ref().map(|event| json!(event))),
        ("reason", Some(json!(args.reason))),
        ("public_reason", args.public_reason.then_some(json!(true))),
    ];
    let set = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let adjustment = Value::Object(set.collect::<Map<_, _>>());
    let body = send(&client, Method::POST, &url, &adjustment.to_string()).await?;
    print_body(&url, &body, args.json, |outcome: &Outcome| {
        format!(
            "{}: {}, {} points",
            args.user,
            printable(&outcome.outcome),
            outcome.points
        )
    })
}

/// Erases a user.
///
/// # Errors
///
/// Returns [`Failure::Usage`] without `--force`, another [`Failure`] if the service gives no usable response or stdout
/// fails.
pub async fn erase(service: &ServiceArgs, args: &EraseArgs) -> Result<ExitCode, Failure> {
    if !args.force {
        return Err(Failure::Usage(format!(
            "this deletes everything about user {} and cannot be undone: add --force",
            printable(&args.user)
        )));
    }
    let client = client(service)?;
    let url = client.url(&["v1", "users", &args.user]);
    send(&client, Method::DELETE, &url, "").await?;
    Screen::print(&match args.json {
        true => json!({"user": args.user, "erased": true}).to_string(),
        false => format!("{}: erased", printable(&args.user)),
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn send(
    client: &Client,
    method: Method,
    url: &Url,
    json: &str,
) -> Result<Vec<u8>, RequestError> {
    let attempt = || client.send(method.clone(), url, json.to_owned());
    client.with_backoff(RETRIES, |_, _| (), attempt).await
}
