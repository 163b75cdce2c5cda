//! Checks the claims of a user token after its signature was verified.

use crate::CLOCK_TOLERANCE;
use crate::calendar::Instant;
use crate::config::Tokens;
use serde_json::{Map, Value};

/// Checks `exp`, `nbf`, `iss`, `aud` and required claims.
///
/// # Errors
///
/// The first claim that is missing or not valid.
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
        return Err("The user token is not valid yet.");
    }
    let is = |value: &Value, expected: &str| value.as_str() == Some(expected);
    if let Some(issuer) = &tokens.issuer
        && !claims.get("iss").is_some_and(|iss| is(iss, issuer))
    {
        return Err("The user token has another issuer.");
    }
    if let Some(audience) = &tokens.audience {
        let matches = match claims.get("aud") {
            Some(Value::Array(values)) => values.iter().any(|aud| is(aud, audience)),
            Some(value) => is(value, audience),
            None => false,
        };
        if !matches {
            return Err("The user token has another audience.");
        }
    }
    for (name, expected) in &tokens.required {
        let has = |value: &Value| match value {
            Value::Array(values) => values.contains(expected),
            // A scope is a list of words (RFC 6749, 3.3).
            Value::String(words) => words.split(' ').any(|word| expected.as_str() == Some(word)),
            _ => false,
        };
        if !claims
            .get(name)
            .is_some_and(|value| value == expected || has(value))
        {
            return Err("The user token lacks a claim that JWT_REQUIRED has.");
        }
    }
    Ok(())
}

/// Returns an instant in milliseconds; claims have seconds, with an optional fraction.
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

    fn check_with(claims: &Value, tokens: &Tokens) -> Result<(), &'static str> {
        check(claims.as_object().unwrap(), tokens, NOW)
    }

    fn check_default(claims: &Value) -> Result<(), &'static str> {
        check_with(claims, &Tokens::default())
    }

    #[test]
    fn times_have_one_minute_of_leeway() {
        let check =
            |exp: Value, nbf: Value| check_default(&json!({"sub": "42", "exp": exp, "nbf": nbf}));
        let valid = Ok(());
        let expired = Err("The user token has expired.");
        let early = Err("The user token is not valid yet.");
        let now = 1_800_000_000_i64;
        assert_eq!(check(json!(now + 1), json!(now)), valid);
        assert_eq!(check(json!(now - 59), json!(0)), valid);
        assert_eq!(check(json!(now - 60), json!(0)), expired);
        assert_eq!(check(json!(now as f64 - 59.5), json!(0)), valid);
        assert_eq!(check(json!(now as f64 - 60.5), json!(0)), expired);
        assert_eq!(check(json!(-1), json!(0)), expired);
        assert_eq!(check(json!(now + 600), json!(now + 60)), valid);
        assert_eq!(check(json!(now + 600), json!(now + 61)), early);
        assert_eq!(check(json!(1e300), json!(-1e300)), valid);
    }

    #[test]
    fn times_must_be_numbers() {
        for exp in [json!("1900000000"), json!(null), json!([1]), json!(true)] {
            let error = Err("The user token's exp is not a number.");
            assert_eq!(check_default(&json!({"sub": "42", "exp": exp})), error);
        }
        let nbf = json!({"sub": "42", "exp": 1_900_000_000, "nbf": "now"});
        let error = Err("The user token's nbf is not a number.");
        assert_eq!(check_default(&nbf), error);
        let error = Err("The user token has no exp.");
        assert_eq!(check_default(&json!({"sub": "42"})), error);
    }

    #[test]
    fn configured_issuer_and_audience_are_checked() {
        let tokens = Tokens {
            issuer: Some("https://id.example.com/".to_owned()),
            audience: Some("board".to_owned()),
            ..Tokens::default()
        };
        let check = |iss: Value, aud: Value| {
            let claims = json!({"sub": "42", "exp": 1_900_000_000, "iss": iss, "aud": aud});
            assert_eq!(check_default(&claims), Ok(()));
            check_with(&claims, &tokens)
        };
        let iss = json!("https://id.example.com/");
        let issuer = Err("The user token has another issuer.");
        let audience = Err("The user token has another audience.");
        assert_eq!(check(iss.clone(), json!("board")), Ok(()));
        assert_eq!(check(iss.clone(), json!(["a", "board"])), Ok(()));
        for other in [json!("https://id.example.com"), json!([iss.clone()])] {
            assert_eq!(check(other, json!("board")), issuer);
        }
        let others = json!(["boards", [], {"board": 1}, null, [["board"]]]);
        for aud in others.as_array().unwrap() {
            assert_eq!(check(iss.clone(), aud.clone()), audience);
        }
    }

    #[test]
    fn required_claims_are_values_lists_or_words() {
        let required = json!({"scope": "board", "email_verified": true, "level": 3});
        let tokens = Tokens {
            required: required.as_object().unwrap().clone(),
            ..Tokens::default()
        };
        let check = |scope: Value, verified: Value, level: Value| {
            let claims = json!({"sub": "42", "exp": 1_900_000_000, "scope": scope, "email_verified": verified, "level": level});
            check_with(&claims, &tokens)
        };
        let lacks = Err("The user token lacks a claim that JWT_REQUIRED has.");
        for scope in [json!("board"), json!("read board"), json!(["a", "board"])] {
            assert_eq!(check(scope, json!(true), json!([2, 3])), Ok(()));
        }
        let others = json!(["boards", ["read board"], null, {"board": 1}]);
        for scope in others.as_array().unwrap() {
            assert_eq!(check(scope.clone(), json!(true), json!(3)), lacks);
        }
        assert_eq!(check(json!("board"), json!("true"), json!(3)), lacks);
        assert_eq!(check(json!("board"), json!(true), json!("3")), lacks);
        let without = json!({"sub": "42", "exp": 1_900_000_000});
        assert_eq!(check_with(&without, &tokens), lacks);
    }
}
