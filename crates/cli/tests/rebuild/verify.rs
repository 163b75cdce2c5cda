//! `verify` finds changed values.

use jiff::civil::{Date, date};
use test_support::SERVICE_KEY;

use crate::TestResult;
use crate::app::day;
use crate::cli::{assert_verified, run};
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
    let (records, bob) = (app.key("m:ada"), app.key_of("bob", "p"));
    let record = "active record of ada, like:new: the store has 1,200,2026-11-20,d";
    let total = format!("history {day} of ada, wave: the store has 1 125");
    let nothing = |stored: &str| format!("{stored}; the journal has nothing");
    for (key, field, value, expected) in [
        (
            &board,
            "ada",
            "1073741824",
            format!("board day {day}, ada: "),
        ),
        (&records, "Lnew", "1 200 20777 d", nothing(record)),
        (&history, &wave, "1 125", nothing(&total)),
        (&bob, "bob", "{}", nothing("profile bob: the store has {}")),
    ] {
        let (change, restore) = match key == &board {
            true => (
                vec!["ZINCRBY", key, value, field],
                vec!["ZINCRBY", key, "-1073741824", field],
            ),
            false => (vec!["HSET", key, field, value], vec!["HDEL", key, field]),
        };
        // ZINCRBY replies with a string, the others with an integer.
        redis_command::<redis::Value>(&mut redis, &change)?;
        let output = run(&app, &["verify"])?.assert_code(1).stdout;
        assert!(output.starts_with("1 difference\n"), "{output}");
        assert!(output.contains(&expected), "{expected}\n{output}");
        redis_command::<redis::Value>(&mut redis, &restore)?;
    }
    assert_verified(&app)
}

/// Entries from before service keys had names have no actor, neither in the journal nor in the audit log.
#[tokio::test(flavor = "multi_thread")]
async fn old_entries_without_actor_verify() -> TestResult {
    let app = JournalApp::start(|worker| worker.var("SERVICE_KEYS", SERVICE_KEY));
    app.fill().await;
    app.api.get("/v1/journal").await.assert_status(200);
    let update = "UPDATE journal SET entry = json_remove(entry, '$.actor')";
    app.sql(update).await;
    assert_verified(&app)
}
