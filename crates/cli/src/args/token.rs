//! Arguments of `token`.

use clap::Args;
use jiff::{SignedDuration, Span, SpanRelativeTo};
use reqwest::Url;
use serde_json::Value;

/// Options of `token`.
#[derive(Debug, Args)]
#[command(after_help = TOKEN_EXAMPLES)]
pub struct TokenArgs {
    /// User id, the subject (sub)
    #[arg(value_parser = id)]
    pub user: String,
    /// Lifetime: 90s, 15m, 1h 30m, 7d
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = lifetime)]
    pub expires_in: SignedDuration,
    /// Name to show if the user has no profile
    #[arg(long, value_parser = name)]
    pub name: Option<String>,
    /// Picture to show if the user has no profile, an https URL
    #[arg(long, value_name = "URL", value_parser = picture)]
    pub picture: Option<String>,
    /// Groups whose boards also count the user's activity, at most 4
    #[arg(long, value_name = "GROUP,…", value_delimiter = ',', value_parser = id)]
    pub groups: Vec<String>,
    /// Claim for the groups, as configured in the service [default: groups]
    #[arg(long, value_name = "CLAIM", env = "JWT_GROUPS_CLAIM")]
    pub groups_claim: Option<String>,
    /// Issuer (iss)
    #[arg(long, env = "JWT_ISSUER")]
    pub issuer: Option<String>,
    /// Audience (aud)
    #[arg(long, env = "JWT_AUDIENCE")]
    pub audience: Option<String>,
    /// Additional claim, JSON or else a string; repeatable
    #[arg(long = "claim", value_name = "NAME=VALUE", value_parser = claim)]
    pub claims: Vec<(String, Value)>,
}

/// Parses an id as the service does: it refuses tokens with an invalid user id and ignores invalid
/// groups.
fn id(text: &str) -> Result<String, String> {
    if activity_rank_core::id::is_id(text) {
        Ok(text.to_owned())
    } else {
        Err("must be 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'".to_owned())
    }
}

fn lifetime(text: &str) -> Result<SignedDuration, String> {
    let span: Span = text.parse().map_err(|_| "must be a duration such as 15m")?;
    let lifetime = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| "must be in weeks, days, hours, minutes and seconds")?;
    if lifetime.as_secs() < 1 {
        return Err("must be at least one second".to_owned());
    }
    Ok(lifetime)
}

fn name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.chars().count() > 80 || text.chars().any(char::is_control) {
        return Err("must be 1 to 80 characters".to_owned());
    }
    Ok(text.to_owned())
}

fn picture(text: &str) -> Result<String, String> {
    match Url::parse(text) {
        Ok(url) if url.scheme() == "https" => Ok(text.to_owned()),
        Ok(_) | Err(_) => Err("must be an https:// URL".to_owned()),
    }
}

fn claim(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => {
            let json = serde_json::from_str(value);
            Ok((name.to_owned(), json.unwrap_or_else(|_| value.into())))
        }
        Some(_) | None => Err("must be NAME=VALUE".to_owned()),
    }
}

const TOKEN_EXAMPLES: &str = "\
The token (JWT, HS256) is signed with the secret in the variable JWT_SECRET, which must be that of
the service. For development only: in production, your own server signs the tokens of its users.

Examples:
  export JWT_SECRET=…
  activity-rank token 42
  activity-rank token 42 --expires-in 7d --name Ada --picture https://example.org/ada.png
  activity-rank token 42 --groups eu,us --claim admin=true
  curl -H \"Authorization: Bearer $(activity-rank token 42)\" $ACTIVITY_RANK_URL/v1/users/42/activity";
