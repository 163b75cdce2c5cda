//! `TIMEZONE`: bounds of days and longer periods, including daylight saving time.

use test_support::json;

use crate::app::TestApp;
use crate::bodies::{dated, like};

/// Zone, day, first instant of the day, first instant of the next day.
const DAYS: &str = "
    UTC                  2026-11-19  2026-11-19T00:00:00Z  2026-11-20T00:00:00Z
    Asia/Shanghai        2026-11-19  2026-11-18T16:00:00Z  2026-11-19T16:00:00Z
    Asia/Kathmandu       2026-11-19  2026-11-18T18:15:00Z  2026-11-19T18:15:00Z
    Pacific/Kiritimati   2026-11-19  2026-11-18T10:00:00Z  2026-11-19T10:00:00Z
    Pacific/Pago_Pago    2026-11-18  2026-11-18T11:00:00Z  2026-11-19T11:00:00Z
    # Days of 23 and 25 hours.
    America/New_York     2026-03-08  2026-03-08T05:00:00Z  2026-03-09T04:00:00Z
    America/New_York     2026-11-01  2026-11-01T04:00:00Z  2026-11-02T05:00:00Z
    Europe/Berlin        2026-03-29  2026-03-28T23:00:00Z  2026-03-29T22:00:00Z
    Europe/Berlin        2026-10-25  2026-10-24T22:00:00Z  2026-10-25T23:00:00Z
    # A shift of half an hour.
    Australia/Lord_Howe  2026-04-05  2026-04-04T13:00:00Z  2026-04-05T13:30:00Z
    # Midnight is skipped: the day starts at 01:00.
    America/Santiago     2025-09-07  2025-09-07T04:00:00Z  2025-09-08T03:00:00Z
    Africa/Cairo         2026-04-24  2026-04-23T22:00:00Z  2026-04-24T21:00:00Z
    Asia/Beirut          2026-03-29  2026-03-28T22:00:00Z  2026-03-29T21:00:00Z
    # The last hour of April 4 is repeated.
    America/Santiago     2026-04-04  2026-04-04T03:00:00Z  2026-04-05T04:00:00Z
    America/Santiago     2026-04-05  2026-04-05T04:00:00Z  2026-04-06T04:00:00Z
    # The day in between is skipped.
    Pacific/Apia         2011-12-29  2011-12-29T10:00:00Z  2011-12-30T10:00:00Z
    Pacific/Apia         2011-12-31  2011-12-30T10:00:00Z  2011-12-31T10:00:00Z
";

/// Returns the rows of a table, without comments.
fn rows<const COLUMNS: usize>(table: &'static str) -> Vec<[&'static str; COLUMNS]> {
    let lines = table.lines().map(str::trim);
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let cells = rows.map(|row| row.split_whitespace().collect::<Vec<_>>());
    cells
        .map(|cells| cells.try_into().expect("all columns"))
        .collect()
}

fn start(zone: &str) -> TestApp {
    TestApp::with(|worker| worker.var("TIMEZONE", zone))
}

/// Returns the instant one millisecond before.
fn just_before(instant: &str) -> String {
    let instant: jiff::Timestamp = instant.parse().expect("an instant");
    let before = instant - jiff::SignedDuration::from_millis(1);
    before.to_string()
}

#[tokio::test]
async fn day_board_holds_activity_between_its_bounds() {
    for days in rows(DAYS).chunk_by(|one, other| one[0] == other[0]) {
        let zone = days[0][0];
        let app = start(zone);
        for [_, day, start, end] in days {
            let user = format!("u-{day}");
            let at = |target: &str, at: &str| dated(like(&user, target), at);
            let sent = [
                at("before", &just_before(start)),
                at("first", start),
                at("last", &just_before(end)),
                at("after", end),
            ];
            app.send_activity(json!(sent)).await.assert_status(200);
            let standing = format!("/v1/ranking/day/users/{user}?date={day}");
            assert_eq!(app.read(&standing).await["score"], 4, "{zone} {day}");
            let board = app.get(&format!("/v1/ranking/day?date={day}")).await;
            let period = json!({"kind": "day", "id": day, "start": start, "end": end,
                "timezone": zone, "closed": true});
            assert_eq!(board.assert_status(200).body["period"], period);
        }
    }
}
