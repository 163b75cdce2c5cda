//! Checks the claims of a user token after its signature was verified.

use crate::CLOCK_TOLERANCE;
use crate::calendar::Instant;
use crate::config::Tokens;
use serde_json::{Map, Value};

/// From here on a number is an instant in milliseconds, since 2001: in seconds it is the year 33658.
const MILLISECONDS: f64 = 1e12;

/// Checks `exp`, `nbf`, `iss`, `aud` and required claims.
///
/// # Errors
///
/// The first claim that is missing or not valid.
pub fn check(claims: &Map<String, Value>, tokens: &Tokens, now: Instant) -> Result<(), String> {
    let exp = time(claims, "exp")?.ok_or("The user token has no exp.")?;
    if now.0 as f64 >= exp + CLOCK_TOLERANCE as f64 {
        return Err("The user token has expired.".to_owned());
    }
    if time(claims, "nbf")?.is_some_and(|nbf| nbf > (now.0 + CLOCK_TOLERANCE) as f64) {
        return Err("The user token is not valid yet.".to_owned());
    }
    let is = |value: &Value, expected: &str| value.as_str() == Some(expected);
    if let Some(issuer) = &tokens.issuer
        && !claims.get("iss").is_some_and(|iss| is(iss, issuer))
    {
        return Err(mismatch(claims, "iss", issuer));
    }
    if let Some(audience) = &tokens.audience {
        let matches = match claims.get("aud") {
            Some(Value::Array(values)) => values.iter().any(|aud| is(aud, audience)),
            Some(value) => is(value, audience),
            None => false,
        };
        if !matches {
            return Err(mismatch(claims, "aud", audience));
        }
    }
    for (name, expected) in &tokens.required {
        // Some issuers write `true` as a text.
        let expected = text(expected);
        let is = |value: &Value| text(value) == expected;
        let has = |value: &Value| match value {
            Value::Array(values) => values.iter().any(is),
            // A scope is a list of words (RFC 6749, 3.3).
            Value::String(words) => words.split(' ').any(|word| word == expected),
            _ => false,
        };
        if !claims
            .get(name)
            .is_some_and(|value| is(value) || has(value))
        {
            return Err(mismatch(claims, name, &expected));
        }
    }
    Ok(())
}

/// Returns the error of a claim that has not the value of the configuration.
fn mismatch(claims: &Map<String, Value>, name: &str, expected: &str) -> String {
    match claims.get(name) {
        Some(value) => {
            let value = text(value);
            format!("The user token's {name} is '{value}', expected '{expected}'.")
        }
        None => format!("The user token has no {name}, expected '{expected}'."),
    }
}

/// Returns a string without quotes, and JSON of another value.
fn text(value: &Value) -> String {
    let text = value.as_str().map(str::to_owned);
    text.unwrap_or_else(|| value.to_string())
}

/// Returns an instant in milliseconds; claims have seconds, with an optional fraction.
fn time(claims: &Map<String, Value>, name: &str) -> Result<Option<f64>, String> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = value.as_f64();
    let seconds = seconds.ok_or_else(|| format!("The user token's {name} is not a number."))?;
    if seconds >= MILLISECONDS {
        let detail = format!("The user token's {name} is in milliseconds, expected seconds.");
        return Err(detail);
    }
    Ok(Some(seconds * 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: Instant = Instant(1_800_000_000_000);

    fn check_with(claims: &Value, tokens: &Tokens) -> Result<(), String> {
        check(claims.as_object().unwrap(), tokens, NOW)
    }

    fn error(detail: &str) -> Result<(), String> {
        Err(detail.to_owned())
    }

    fn is(name: &str, value: &str, expected: &str) -> Result<(), String> {
        let detail = format!("The user token's {name} is '{value}', expected '{expected}'.");
        error(&detail)
    }

    fn check_default(claims: &Value) -> Result<(), String> {
        check_with(claims, &Tokens::default())
    }

    #[test]
    fn times_have_one_minute_of_leeway() {
        let check =
            |exp: Value, nbf: Value| check_default(&json!({"sub": "42", "exp": exp, "nbf": nbf}));
        let valid = Ok(());
        let expired = error("The user token has expired.");
        let early = error("The user token is not valid yet.");
        let millis = |name| {
            let detail = format!("The user token's {name} is in milliseconds, expected seconds.");
            error(&detail)
        };
        let now = 1_800_000_000_i64;
        assert_eq!(check(json!(now + 1), json!(now)), valid);
        assert_eq!(check(json!(now - 59), json!(0)), valid);
        assert_eq!(check(json!(now - 60), json!(0)), expired);
        assert_eq!(check(json!(now as f64 - 59.5), json!(0)), valid);
        assert_eq!(check(json!(now as f64 - 60.5), json!(0)), expired);
        assert_eq!(check(json!(-1), json!(0)), expired);
        assert_eq!(check(json!(now + 600), json!(now + 60)), valid);
        assert_eq!(check(json!(now + 600), json!(now + 61)), early);
        assert_eq!(check(json!(999_999_999_999_u64), json!(-1e300)), valid);
        assert_eq!(check(json!(NOW.0 + 600_000), json!(0)), millis("exp"));
        assert_eq!(check(json!(now + 600), json!(NOW.0)), millis("nbf"));
    }

    #[test]
    fn times_must_be_numbers() {
        for exp in [json!("1900000000"), json!(null), json!([1]), json!(true)] {
            let not_a_number = error("The user token's exp is not a number.");
            let claims = json!({"sub": "42", "exp": exp});
            assert_eq!(check_default(&claims), not_a_number);
        }
        let nbf = json!({"sub": "42", "exp": 1_900_000_000, "nbf": "now"});
        let not_a_number = error("The user token's nbf is not a number.");
        assert_eq!(check_default(&nbf), not_a_number);
        let missing = error("The user token has no exp.");
        assert_eq!(check_default(&json!({"sub": "42"})), missing);
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
        assert_eq!(check(iss.clone(), json!("board")), Ok(()));
        assert_eq!(check(iss.clone(), json!(["a", "board"])), Ok(()));
        for (other, shown) in [
            (json!("https://id.example.com"), "https://id.example.com"),
            (json!([iss]), r#"["https://id.example.com/"]"#),
        ] {
            let expected = is("iss", shown, "https://id.example.com/");
            assert_eq!(check(other, json!("board")), expected);
        }
        let others = json!(["boards", [], {"board": 1}, null, [["board"]]]);
        for aud in others.as_array().unwrap() {
            let expected = is("aud", &text(aud), "board");
            assert_eq!(check(iss.clone(), aud.clone()), expected);
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
        for scope in [json!("board"), json!("read board"), json!(["a", "board"])] {
            assert_eq!(check(scope, json!(true), json!([2, 3])), Ok(()));
        }
        let others = json!(["boards", ["read board"], null, {"board": 1}]);
        for scope in others.as_array().unwrap() {
            let expected = is("scope", &text(scope), "board");
            assert_eq!(check(scope.clone(), json!(true), json!(3)), expected);
        }
        assert_eq!(check(json!("board"), json!("true"), json!("3")), Ok(()));
        let (no, four) = (json!("false"), json!(4));
        let refused = is("email_verified", "false", "true");
        assert_eq!(check(json!("board"), no, json!(3)), refused);
        let refused = is("level", "4", "3");
        assert_eq!(check(json!("board"), json!(true), four), refused);
        let without = json!({"sub": "42", "exp": 1_900_000_000});
        let missing = error("The user token has no email_verified, expected 'true'.");
        assert_eq!(check_with(&without, &tokens), missing);
    }
}
