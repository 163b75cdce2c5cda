//! What differs is found.

use jiff::civil::{Date, date};

use crate::Tested;
use crate::command::verified;
use crate::content::{ask, assert_same};
use crate::journalled::Journalled;

/// The span in which a day is kept, and the digit that stands for it there.
fn kept(day: &str) -> Result<(i32, char), Box<dyn std::error::Error>> {
    let number = date(1970, 1, 1).until(day.parse::<Date>()?)?.get_days();
    let digit = char::from_digit(number.rem_euclid(31).unsigned_abs(), 36);
    Ok((number.div_euclid(31), digit.ok_or("no digit")?))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_value_that_was_tampered_with_is_told() -> Tested {
    let site = Journalled::start(|worker| worker);
    site.fill().await;
    site.api.get("/v1/journal").await.assert_status(200);
    let before = site.content()?;
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(0), "{told}");
    assert_same(&site.content()?, &before);
    let mut redis = site.redis();
    let day = crate::site::day(0);
    let board = site.key_of("ada", &format!("bd:{day}"));
    let (span, digit) = kept(&day)?;
    let history = site.key(&format!("h:{span}:ada"));
    let wave = format!("{digit}wave");
    for (undo, tamper, expected) in [
        (
            vec!["ZINCRBY", &board, "-1073741824", "ada"],
            vec!["ZINCRBY", &board, "1073741824", "ada"],
            format!("board day {day}, ada: "),
        ),
        (
            vec!["HDEL", &site.key("m:ada"), "Lnew"],
            vec!["HSET", &site.key("m:ada"), "Lnew", "1 200 20777 d"],
            "mark of ada, like:new: 1,200,2026-11-20,d; the journal tells nothing".to_owned(),
        ),
        (
            vec!["HDEL", &history, &wave],
            vec!["HSET", &history, &wave, "1 125"],
            format!("history {day} of ada, wave: 1 125; the journal tells nothing"),
        ),
        (
            vec!["HDEL", &site.key_of("bob", "p"), "bob"],
            vec!["HSET", &site.key_of("bob", "p"), "bob", "{}"],
            "profile bob: {}; the journal tells nothing".to_owned(),
        ),
    ] {
        ask::<i64>(&mut redis, &tamper)
            .or_else(|_| ask::<String>(&mut redis, &tamper).map(|_| 0))?;
        let (code, told) = verified(&site)?;
        assert_eq!(code, Some(1), "{told}");
        assert!(told.starts_with("1 difference\n"), "{told}");
        assert!(told.contains(&expected), "{expected}\n{told}");
        ask::<i64>(&mut redis, &undo).or_else(|_| ask::<String>(&mut redis, &undo).map(|_| 0))?;
    }
    assert_eq!(verified(&site)?.0, Some(0));
    Ok(())
}
