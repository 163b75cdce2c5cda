//! `activity-rank doctor` against the built Worker: set up well, and broken in one way at a time.

#![allow(
    clippy::indexing_slicing,
    reason = "a missing field of a JSON value reads as null"
)]

#[path = "run/mod.rs"]
mod run;

use std::error::Error;

use serde_json::Value;
use test_support::{Gateway, RedisOptions, RedisServer, SERVICE_KEY, Worker, WorkerBuilder};

use run::{command, finish};

type TestResult = Result<(), Box<dyn Error>>;

const SITE: &str = "https://www.example.com";

/// Returns a deployment without any finding.
fn well() -> WorkerBuilder {
    Worker::builder()
        .var("JWT_SECRET", &"s3cret".repeat(6))
        .var("ALLOWED_ORIGINS", SITE)
        .cached()
}

/// A finding: check, state and detail.
type Finding = (String, String, String);

/// Runs the command with a key, and returns the exit code and the findings that are neither `ok` nor notes.
fn doctor(
    url: &str,
    key: &str,
    args: &[&str],
) -> Result<(Option<i32>, Vec<Finding>), Box<dyn Error>> {
    let args = [&["doctor", url, "--json"], args].concat();
    let command = command(&args, &[("ACTIVITY_RANK_KEY", key)]);
    let run = finish(command, "", SERVICE_KEY)?;
    assert_eq!(run.stderr, "");
    let output: Value = serde_json::from_str(&run.stdout)?;
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for finding in output["findings"].as_array().ok_or("no findings")? {
        let [check, state, detail] = ["check", "state", "detail"].map(|name| text(finding, name));
        // The store is slow on a busy machine: unit tests check this warning.
        if ["warning", "error"].contains(&&*state) && check != "placement" {
            let has_remedy = finding["remedy"].is_string() || check == "health";
            assert!(has_remedy, "{finding}");
            found.push((check, state, detail));
        }
    }
    Ok((run.code, found))
}

/// Asserts that the only finding of an address begins so.
#[track_caller]
fn assert_found(url: &str, args: &[&str], expected: (&str, &str, &str)) -> TestResult {
    let (code, findings) = doctor(url, SERVICE_KEY, args)?;
    let [(check, state, detail)] = &*findings else {
        return Err(format!("{expected:?}: {findings:?}").into());
    };
    assert_eq!((&**check, &**state), (expected.0, expected.1), "{detail}");
    assert!(detail.starts_with(expected.2), "{detail}");
    assert_eq!(code, Some(i32::from(state == "error")));
    Ok(())
}

/// Boards of an isolate with a cache of its own are cached, too.
#[test]
fn good_deployment_has_no_finding() -> TestResult {
    let forgetful = well().var("BOARD_MAX_AGE", "5").forgetful_cache();
    for worker in [well(), forgetful] {
        let worker = worker.start();
        for args in [&[][..], &["--origin", SITE]] {
            assert_eq!(doctor(worker.url(), SERVICE_KEY, args)?, (Some(0), vec![]));
        }
    }
    Ok(())
}

#[test]
fn findings_are_printed_with_remedies() -> TestResult {
    let worker = well().without("JWT_SECRET").start();
    let command = command(&["doctor", "--url", worker.url()], &[]);
    let run = finish(command, "", SERVICE_KEY)?;
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let lines = [
        "ok      store          responds and accepts writes",
        "note    service keys   not checked: no key was given",
        "                       Set ACTIVITY_RANK_KEY to a key of the scope admin to check the key, the placement and cron.",
        "warning user tokens    Members cannot call: neither JWT_SECRET nor JWKS_URL is set.",
        "                       For pages that send activity themselves: openssl rand -hex 32, then npx wrangler secret put \
         JWT_SECRET (in a clone with --env production)",
        "ok      origins        pages of https://www.example.com may embed and call",
        "ok      cache          boards are cached for 5 s",
        "note    bindings       bound: none",
        "                       without live: pages poll instead of receiving each change",
        "0 errors, 1 warning",
    ];
    for line in lines {
        let is_printed = run.stdout.lines().any(|printed| printed == line);
        assert!(is_printed, "{line}\n{}", run.stdout);
    }
    Ok(())
}

/// Who sets the variable as the remedy says must not lose the sites that are allowed already.
#[test]
fn remedy_keeps_allowed_origins() -> TestResult {
    let worker = well().start();
    let origin = "--origin=https://blog.example.com";
    let args = ["doctor", "--url", worker.url(), origin];
    let run = finish(command(&args, &[]), "", SERVICE_KEY)?;
    let lines = [
        "error   origins        Pages of https://blog.example.com may neither embed nor call. Allowed: https://www.example.com.",
        "                       Add it in wrangler.toml under [vars], in a clone under [env.production.vars]: ALLOWED_ORIGINS = \
         \"https://www.example.com,https://blog.example.com\"",
    ];
    assert!(run.stdout.contains(&lines.join("\n")), "{}", run.stdout);
    Ok(())
}

#[test]
fn missing_and_wrong_service_keys_are_named() -> TestResult {
    let worker = well().start();
    let (code, findings) = doctor(worker.url(), "another-key", &[])?;
    let expected = |state: &str, detail: &str| {
        (
            "service keys".to_owned(),
            state.to_owned(),
            detail.to_owned(),
        )
    };
    let wrong = expected("error", "The service does not know the key.");
    assert_eq!((code, findings), (Some(1), vec![wrong.clone()]));

    let worker = well().without("SERVICE_KEYS").start();
    let (_, findings) = doctor(worker.url(), "another-key", &[])?;
    let none = "None is set: no server can send activity, nobody can use /admin.";
    assert_eq!(findings, [expected("warning", none), wrong]);
    Ok(())
}

/// Each deployment is broken in one way. The address of the store is the usual mistake.
#[test]
fn each_mistake_is_named() -> TestResult {
    let redis = RedisServer::spawn(RedisOptions::default());
    let running = Gateway::spawn(&redis.url());
    let gateway = running.url();
    let nothing = "http://127.0.0.1:1";
    for (url, detail) in [
        (nothing, format!("{nothing}/healthz did not answer: ")),
        (
            &gateway,
            format!("{gateway}/ is not activity-rank (status 200: "),
        ),
    ] {
        assert_found(url, &[], ("service", "error", &detail))?;
    }
    let evicting = RedisOptions::default().arg("--maxmemory-policy");
    let evicting = RedisServer::spawn(evicting.arg("allkeys-lru"));
    let evicting = Gateway::spawn(&evicting.url());
    let embed = |site: &str, allowed: &str| {
        format!("Pages of {site} may neither embed nor call. Allowed: {allowed}.")
    };
    let other = "https://example.com";
    for (worker, args, (check, state), detail) in [
        (
            well().store(nothing),
            &[][..],
            ("store", "error"),
            "The store does not respond, or refuses writes.",
        ),
        (
            well().store(&evicting.url()),
            &[],
            ("health", "warning"),
            "The store's maxmemory-policy is allkeys-lru: a full store would evict boards and \
             deduplication records. Set noeviction.",
        ),
        (
            well().var("POINT_DECIMALS", "5"),
            &[],
            ("configuration", "error"),
            "The service is misconfigured: POINT_DECIMALS: must be an integer from 0 to 4",
        ),
        (
            well().without("ALLOWED_ORIGINS"),
            &[],
            ("origins", "warning"),
            "No page of another origin may embed a board: ALLOWED_ORIGINS is not set.",
        ),
        (
            well().without("ALLOWED_ORIGINS"),
            &["--origin", SITE],
            ("origins", "error"),
            &embed(SITE, "none"),
        ),
        (
            well(),
            &["--origin", other],
            ("origins", "error"),
            &embed(other, SITE),
        ),
        (
            well().without("JWT_SECRET"),
            &[],
            ("user tokens", "warning"),
            "Members cannot call: neither JWT_SECRET nor JWKS_URL is set.",
        ),
        (
            well().var("BOARD_MAX_AGE", "0"),
            &[],
            ("cache", "warning"),
            "BOARD_MAX_AGE is 0: every request reads the store.",
        ),
    ] {
        assert_found(worker.start().url(), args, (check, state, detail))?;
    }
    Ok(())
}
