//! Whether a user token holds now and here, once its signature is known to be right.

use crate::CLOCK_TOLERANCE;
use crate::calendar::Instant;
use crate::config::Tokens;
use serde_json::{Map, Value};

/// Lets through what holds.
///
/// # Errors
///
/// Which claim does not.
pub fn check(
    claims: &Map<String, Value>,
    tokens: &Tokens,
    now: Instant,
) -> Result<(), &'static str> {
    let exp = time(claims, "exp").map_err(|()| "The user token's exp is not a number.")?;
    let exp = exp.ok_or("The user token has no exp.")?;
    let nbf = time(claims, "nbf").map_err(|()| "The user token's nbf is not a number.")?;
    if now.0 as f64 >= exp + CLOCK_TOLERANCE as f64 {
        return Err("The user token has expired.");
    }
    if nbf.is_some_and(|nbf| nbf > (now.0 + CLOCK_TOLERANCE) as f64) {
        return Err("The user token does not hold yet.");
    }
    let is = |value: &Value, expected: &str| value.as_str() == Some(expected);
    if let Some(issuer) = &tokens.issuer
        && !claims.get("iss").is_some_and(|iss| is(iss, issuer))
    {
        return Err("The user token comes from another issuer.");
    }
    if let Some(audience) = &tokens.audience {
        let meant = match claims.get("aud") {
            Some(Value::Array(several)) => several.iter().any(|aud| is(aud, audience)),
            Some(one) => is(one, audience),
            None => false,
        };
        if !meant {
            return Err("The user token is meant for another audience.");
        }
    }
    Ok(())
}

/// An instant in milliseconds; tokens tell it in seconds, maybe with a fraction.
fn time(claims: &Map<String, Value>, name: &str) -> Result<Option<f64>, ()> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = value.as_f64().ok_or(())?;
    Ok(Some(seconds * 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: Instant = Instant(1_800_000_000_000);

    fn checked(claims: &Value, tokens: &Tokens) -> Result<(), &'static str> {
        check(claims.as_object().unwrap(), tokens, NOW)
    }

    fn at(claims: &Value) -> Result<(), &'static str> {
        checked(claims, &Tokens::default())
    }

    #[test]
    fn times_are_taken_with_a_minute_of_leeway_and_no_more() {
        let of = |exp: Value, nbf: Value| at(&json!({"sub": "42", "exp": exp, "nbf": nbf}));
        let holds = Ok(());
        let expired = Err("The user token has expired.");
        let early = Err("The user token does not hold yet.");
        let now = 1_800_000_000_i64;
        assert_eq!(of(json!(now + 1), json!(now)), holds);
        assert_eq!(of(json!(now - 59), json!(0)), holds);
        assert_eq!(of(json!(now - 60), json!(0)), expired);
        assert_eq!(of(json!(now as f64 - 59.5), json!(0)), holds);
        assert_eq!(of(json!(now as f64 - 60.5), json!(0)), expired);
        assert_eq!(of(json!(-1), json!(0)), expired);
        assert_eq!(of(json!(now + 600), json!(now + 60)), holds);
        assert_eq!(of(json!(now + 600), json!(now + 61)), early);
        assert_eq!(of(json!(1e300), json!(-1e300)), holds);
    }

    #[test]
    fn times_are_numbers() {
        for exp in [json!("1900000000"), json!(null), json!([1]), json!(true)] {
            let told = Err("The user token's exp is not a number.");
            assert_eq!(at(&json!({"sub": "42", "exp": exp})), told);
        }
        let nbf = json!({"sub": "42", "exp": 1_900_000_000, "nbf": "now"});
        assert_eq!(at(&nbf), Err("The user token's nbf is not a number."));
        assert_eq!(at(&json!({"sub": "42"})), Err("The user token has no exp."));
    }

    #[test]
    fn issuer_and_audience_are_compared_where_they_are_configured() {
        let tokens = Tokens {
            issuer: Some("https://id.example.com/".to_owned()),
            audience: Some("board".to_owned()),
            ..Tokens::default()
        };
        let of = |iss: Value, aud: Value| {
            let claims = json!({"sub": "42", "exp": 1_900_000_000, "iss": iss, "aud": aud});
            assert_eq!(at(&claims), Ok(()));
            checked(&claims, &tokens)
        };
        let iss = json!("https://id.example.com/");
        let issuer = Err("The user token comes from another issuer.");
        let audience = Err("The user token is meant for another audience.");
        assert_eq!(of(iss.clone(), json!("board")), Ok(()));
        assert_eq!(of(iss.clone(), json!(["a", "board"])), Ok(()));
        assert_eq!(of(json!("https://id.example.com"), json!("board")), issuer);
        assert_eq!(of(json!([iss.clone()]), json!("board")), issuer);
        for aud in [
            json!("boards"),
            json!([]),
            json!({"board": 1}),
            json!(null),
            json!([["board"]]),
        ] {
            assert_eq!(of(iss.clone(), aud), audience);
        }
    }
}
