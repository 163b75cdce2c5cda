//! `activity-rank token`: a user token by the shared secret, to call a service as a member.

use std::env::{self, VarError};
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use ring::hmac;
use serde_json::{Map, Value, json};

use crate::args::TokenArgs;
use crate::failure::Failure;
use crate::screen::Screen;

/// The variable of the secret. It is never an argument: lists of processes show those.
const SECRET: &str = "JWT_SECRET";
/// A service is not configured with less.
const LEAST_SECRET_BYTES: usize = 32;
/// A service leaves out what comes after.
const MOST_GROUPS: usize = 4;

/// Makes a token and prints it, nothing else.
///
/// # Errors
///
/// [`Failure`] if there is no secret to sign it with, there are too many groups, a claim is
/// given twice, or it would hold beyond all time.
pub fn run(args: &TokenArgs) -> Result<ExitCode, Failure> {
    let secret = secret(env::var(SECRET))?;
    let claims = claims(args, Timestamp::now())?;
    Screen::print(&signed(claims, &secret))?;
    Ok(ExitCode::SUCCESS)
}

/// The secret as the service reads it.
fn secret(variable: Result<String, VarError>) -> Result<String, Failure> {
    let wrong = |what: String| Err(Failure::Usage(what));
    let secret = match variable {
        Ok(secret) => secret.trim().to_owned(),
        Err(VarError::NotPresent) => String::new(),
        Err(VarError::NotUnicode(_)) => return wrong(format!("{SECRET} is not UTF-8")),
    };
    match secret.len() {
        0 => wrong(format!(
            "set the variable {SECRET} to the secret of the service"
        )),
        length if length < LEAST_SECRET_BYTES => wrong(format!(
            "{SECRET} has {length} bytes; a service takes none below {LEAST_SECRET_BYTES}"
        )),
        _ => Ok(secret),
    }
}

fn claims(args: &TokenArgs, now: Timestamp) -> Result<Map<String, Value>, Failure> {
    let exp = now.checked_add(args.expires_in).map_err(|_| {
        Failure::Usage("--expires-in: a token cannot hold beyond the year 9999".to_owned())
    })?;
    if args.groups.len() > MOST_GROUPS {
        let most = format!("--groups: a service counts at most {MOST_GROUPS}");
        return Err(Failure::Usage(most));
    }
    // An empty variable is what an unset one often is.
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let groups = (!args.groups.is_empty()).then(|| json!(args.groups));
    let groups_claim = given(&args.groups_claim).unwrap_or_else(|| "groups".to_owned());
    let own = [
        ("sub", Some(json!(args.user))),
        ("iat", Some(json!(now.as_second()))),
        ("exp", Some(json!(exp.as_second()))),
        ("iss", given(&args.issuer).map(Value::from)),
        ("aud", given(&args.audience).map(Value::from)),
        ("name", args.name.clone().map(Value::from)),
        ("picture", args.picture.clone().map(Value::from)),
        (&groups_claim, groups),
    ];
    let own = own
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let mut claims = Map::new();
    for (name, value) in own.chain(args.claims.clone()) {
        if claims.contains_key(&name) {
            return Err(Failure::Usage(format!("the claim {name} is given twice")));
        }
        claims.insert(name, value);
    }
    Ok(claims)
}

fn signed(claims: Map<String, Value>, secret: &str) -> String {
    let part = |json: Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let header = json!({"alg": "HS256", "typ": "JWT"});
    let signed = format!("{}.{}", part(header), part(Value::Object(claims)));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signature = hmac::sign(&key, signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}
