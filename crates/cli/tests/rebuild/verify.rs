//! `verify` finds changed values.

use jiff::civil::{Date, date};
use test_support::SERVICE_KEY;

use crate::TestResult;
use crate::app::day;
use crate::cli::{assert_verified, verify};
use crate::journal_app::JournalApp;
use crate::stored::{assert_same, redis_command};

/// Returns the span of a date and its digit in the fields of a history.
fn span_and_digit(day: &str) -> Result<(i32, char), Box<dyn std::error::Error>> {
    let number = date(1970, 1, 1).until(day.parse::<Date>()?)?.get_days();
    let digit = char::from_digit(number.rem_euclid(31).unsigned_abs(), 36);
    Ok((number.div_euclid(31), digit.ok_or("no digit")?))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_changed_value_is_reported() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    app.api.get("/v1/journal").await.assert_status(200);
    let before = app.data()?;
    assert_verified(&app)?;
    assert_same(&app.data()?, &before);
    let mut redis = app.redis();
    let day = day(0);
    let board = app.key_of("ada", &format!("bd:{day}"));
    let (span, digit) = span_and_digit(&day)?;
    let history = app.key(&format!("h:{span}:ada"));
    let wave = format!("{digit}wave");
    for (restore, change, expected) in [
        (
            vec!["ZINCRBY", &board, "-1073741824", "ada"],
            vec!["ZINCRBY", &board, "1073741824", "ada"],
            format!("board day {day}, ada: "),
        ),
        (
            vec!["HDEL", &app.key("m:ada"), "Lnew"],
            vec!["HSET", &app.key("m:ada"), "Lnew", "1 200 20777 d"],
            "active record of ada, like:new: the store has 1,200,2026-11-20,d; the journal has nothing"
                .to_owned(),
        ),
        (
            vec!["HDEL", &history, &wave],
            vec!["HSET", &history, &wave, "1 125"],
            format!("history {day} of ada, wave: the store has 1 125; the journal has nothing"),
        ),
        (
            vec!["HDEL", &app.key_of("bob", "p"), "bob"],
            vec!["HSET", &app.key_of("bob", "p"), "bob", "{}"],
            "profile bob: the store has {}; the journal has nothing".to_owned(),
        ),
    ] {
        // ZINCRBY replies with a string, the others with an integer.
        redis_command::<redis::Value>(&mut redis, &change)?;
        let (code, output) = verify(&app)?;
        assert_eq!(code, Some(1), "{output}");
        assert!(output.starts_with("1 difference\n"), "{output}");
        assert!(output.contains(&expected), "{expected}\n{output}");
        redis_command::<redis::Value>(&mut redis, &restore)?;
    }
    assert_verified(&app)?;
    Ok(())
}

/// Entries from before service keys had names have no actor, neither in the journal nor in the audit log.
#[tokio::test(flavor = "multi_thread")]
async fn old_entries_without_actor_verify() -> TestResult {
    let app = JournalApp::start(|worker| worker.var("SERVICE_KEYS", SERVICE_KEY));
    app.fill().await;
    app.api.get("/v1/journal").await.assert_status(200);
    app.sql("UPDATE journal SET entry = json_remove(entry, '$.actor')")
        .await;
    assert_verified(&app)?;
    Ok(())
}
