//! `activity-rank token`: prints a user token signed with the service's JWT secret.

use std::process::ExitCode;

use activity_rank_sync::token::sign;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::args::TokenArgs;
use crate::failure::Failure;
use crate::key::secret_variable;
use crate::screen::Screen;

/// Environment variable of the secret.
const SECRET_VARIABLE: &str = "JWT_SECRET";
/// Minimum length of a secret; the service refuses shorter ones.
const MIN_SECRET_BYTES: usize = 32;
/// Maximum number of groups; the service ignores further ones.
const MAX_GROUPS: usize = 4;

/// Prints a token and nothing else.
///
/// # Errors
///
/// Returns [`Failure`] if the secret is missing or too short, there are too many groups, a claim
/// is set twice, or the expiry is out of range.
pub fn run(args: &TokenArgs) -> Result<ExitCode, Failure> {
    let secret = secret_variable(SECRET_VARIABLE, "the secret of the service")?;
    if secret.len() < MIN_SECRET_BYTES {
        return Err(Failure::Usage(format!(
            "{SECRET_VARIABLE} has {} bytes; the minimum is {MIN_SECRET_BYTES}",
            secret.len()
        )));
    }
    let claims = claims(args, Timestamp::now())?;
    let header = json!({"alg": "HS256", "typ": "JWT"});
    let token = sign(&header, &Value::Object(claims), secret.as_bytes());
    let token = token.ok_or_else(|| Failure::Usage(format!("{SECRET_VARIABLE} is no key")))?;
    Screen::print(&token)?;
    Ok(ExitCode::SUCCESS)
}

fn claims(args: &TokenArgs, now: Timestamp) -> Result<Map<String, Value>, Failure> {
    let exp = now.checked_add(args.expires_in).map_err(|_| {
        Failure::Usage("--expires-in: a token cannot expire after the year 9999".to_owned())
    })?;
    if args.groups.len() > MAX_GROUPS {
        let reason = format!("--groups: at most {MAX_GROUPS} groups are allowed");
        return Err(Failure::Usage(reason));
    }
    // Unset variables are often empty.
    let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let groups = (!args.groups.is_empty()).then(|| json!(args.groups));
    let groups_claim = non_empty(&args.groups_claim).unwrap_or_else(|| "groups".to_owned());
    let standard = [
        ("sub", Some(json!(args.user))),
        ("iat", Some(json!(now.as_second()))),
        ("exp", Some(json!(exp.as_second()))),
        ("iss", non_empty(&args.issuer).map(Value::from)),
        ("aud", non_empty(&args.audience).map(Value::from)),
        ("name", args.name.clone().map(Value::from)),
        ("picture", args.picture.clone().map(Value::from)),
        (&groups_claim, groups),
    ];
    let standard = standard
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let mut claims = Map::new();
    for (name, value) in standard.chain(args.claims.clone()) {
        if claims.contains_key(&name) {
            return Err(Failure::Usage(format!("the claim {name} is set twice")));
        }
        claims.insert(name, value);
    }
    Ok(claims)
}
