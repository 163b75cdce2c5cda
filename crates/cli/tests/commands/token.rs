//! `token`: the printed claims and the refused arguments.

use std::io;
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};

use crate::TestResult;

const SECRET: &str = "a secret of thirty-two bytes, ok?";

fn token(args: &[&str], variables: &[(&str, &str)]) -> io::Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_activity-rank"));
    command.env_clear().envs(variables.iter().copied());
    command.arg("token").args(args).output()
}

/// Prints a token, verifies its signature and returns its claims.
fn claims(args: &[&str], variables: &[(&str, &str)]) -> Result<Value, Box<dyn std::error::Error>> {
    let secret = [("JWT_SECRET", SECRET)];
    let output = token(args, &[&secret, variables].concat())?;
    let stderr = String::from_utf8(output.stderr)?;
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
    let printed = String::from_utf8(output.stdout)?;
    let (signed, signature) = printed.trim_end().rsplit_once('.').ok_or("no token")?;
    let (header, claims) = signed.split_once('.').ok_or("no token")?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signature = URL_SAFE_NO_PAD.decode(signature)?;
    hmac::verify(&key, signed.as_bytes(), &signature).map_err(|_| "not signed by the secret")?;
    let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header)?)?;
    assert_eq!(header, json!({"alg": "HS256", "typ": "JWT"}));
    Ok(serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims)?)?)
}

/// Returns the claims without `iat` and `exp`, and the lifetime in seconds.
fn without_times(mut claims: Value) -> (Value, Option<i64>) {
    let mut remove = |name| claims.as_object_mut()?.remove(name)?.as_i64();
    let lifetime = remove("exp").zip(remove("iat"));
    (claims, lifetime.map(|(exp, iat)| exp - iat))
}

#[test]
fn token_names_its_user_and_expires_in_an_hour() -> TestResult {
    let claims = claims(&["42"], &[])?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let age = claims["iat"].as_u64().and_then(|iat| now.checked_sub(iat));
    assert!(matches!(age, Some(0..60)), "{age:?}");
    assert_eq!(without_times(claims), (json!({"sub": "42"}), Some(3600)));
    Ok(())
}

#[test]
fn expires_in_sets_the_lifetime() -> TestResult {
    let times = [
        ("90s", 90),
        ("15m", 900),
        ("1h 30m", 5400),
        ("7d", 604_800),
        ("2w", 1_209_600),
    ];
    for (time, seconds) in times {
        let claims = claims(&["42", "--expires-in", time], &[])?;
        assert_eq!(without_times(claims).1, Some(seconds), "{time}");
    }
    Ok(())
}

#[test]
fn every_option_is_a_claim() -> TestResult {
    let picture = "--picture=https://example.org/ada.png";
    let issuer = "--issuer=https://id.example.org/";
    let args = [
        &["u-1", "--name=Ada ✓", picture, issuer, "--audience=board"][..],
        &["--groups=eu,us", "--groups-claim=teams", "--claim=level=3"],
        &["--claim=motto=a=b", "--claim=tags=[\"x\"]"],
    ];
    let expected = json!({"sub": "u-1", "name": "Ada ✓", "picture": "https://example.org/ada.png",
        "teams": ["eu", "us"], "iss": "https://id.example.org/", "aud": "board",
        "level": 3, "motto": "a=b", "tags": ["x"]});
    assert_eq!(without_times(claims(&args.concat(), &[])?).0, expected);
    Ok(())
}

#[test]
fn variables_of_the_service_set_claims() -> TestResult {
    let variables = [
        ("JWT_ISSUER", "https://id.example.org/"),
        ("JWT_AUDIENCE", "board"),
        ("JWT_GROUPS_CLAIM", "teams"),
    ];
    let expected = json!({"sub": "42", "iss": "https://id.example.org/", "aud": "board",
        "teams": ["eu"]});
    let args = ["42", "--groups", "eu"];
    assert_eq!(without_times(claims(&args, &variables)?).0, expected);
    let empty = variables.map(|(name, _)| (name, ""));
    let expected = json!({"sub": "42", "groups": ["eu"]});
    assert_eq!(without_times(claims(&args, &empty)?).0, expected);
    Ok(())
}

#[test]
fn secret_is_trimmed_checked_and_never_printed() -> TestResult {
    let padded = format!(" {SECRET}\n");
    claims(&["42"], &[("JWT_SECRET", padded.as_str())])?;
    let short = "s3cret-s3cret-s3cret-s3cret-s3c";
    let missing = "error: set the variable JWT_SECRET to the secret of the service\n";
    let error = "error: JWT_SECRET has 31 bytes; the minimum is 32\n";
    for (variables, error) in [
        (&[][..], missing),
        (&[("JWT_SECRET", " ")], missing),
        (&[("JWT_SECRET", short)], error),
    ] {
        let output = token(&["42"], variables)?;
        let printed = [output.stdout, output.stderr].map(String::from_utf8);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(printed, [Ok(String::new()), Ok(error.to_owned())]);
    }
    Ok(())
}

#[test]
fn invalid_arguments_are_refused() -> TestResult {
    let id = "must be 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'";
    let long = format!("42 --name {}", "a".repeat(81));
    let secret = format!("42 --secret {}", SECRET.replace(' ', "_"));
    let units = "must be in weeks, days, hours, minutes and seconds";
    let late = "error: --expires-in: a token cannot expire after the year 9999\n";
    let groups = "error: --groups: at most 4 groups are allowed\n";
    let least = "must be at least one second";
    let picture = "42 --picture http://example.org/";
    for (args, error) in [
        ("4/2", id),
        ("..", id),
        ("--groups eu", "required arguments were not provided"),
        ("42 --groups eu,", id),
        ("42 --groups a,b,c,d,e", groups),
        ("42 --expires-in 0s", least),
        ("42 --expires-in=-1h", least),
        ("42 --expires-in soon", "must be a duration such as 15m"),
        ("42 --expires-in 1mo", units),
        ("42 --expires-in 7000000d", late),
        (&long, "must be 1 to 80 characters"),
        (picture, "must be an https:// URL"),
        ("42 --claim =x", "must be NAME=VALUE"),
        ("42 --claim sub=7", "error: the claim sub is set twice\n"),
        ("42 --claim exp=7", "error: the claim exp is set twice\n"),
        (
            "42 --claim a=1 --claim a=2",
            "error: the claim a is set twice\n",
        ),
        (&secret, "unexpected argument '--secret' found"),
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let output = token(&words, &[("JWT_SECRET", SECRET)])?;
        let stderr = String::from_utf8(output.stderr)?;
        assert!(stderr.contains(error), "{args}: {stderr}");
        let ended = (output.status.code(), output.stdout);
        assert_eq!(ended, (Some(2), Vec::new()), "{args}");
    }
    Ok(())
}
