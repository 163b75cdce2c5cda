//! `top`, `standing`, `me`, `friends` and `stats`.

use std::process::Stdio;

use crate::TestResult;
use crate::command::{command, run};
use crate::service::{Fault, Service};

const TOP: &str = r#"{"period":{"kind":"week","id":"2026-W47","start":"2026-11-16T00:00:00Z","end":"2026-11-23T00:00:00Z","timezone":"UTC","closed":false},"total":2,"entries":[{"rank":1,"score":57,"user":{"id":"42","name":"艾达"}},{"rank":2,"score":5,"user":{"id":"7"}}]}"#;
const STANDING: &str = r#"{"period":{"kind":"all","id":"all","start":null,"end":null,"timezone":"UTC","closed":false},"user":{"id":"7"},"rank":2,"score":5,"total":2,"percentile":50.0,"next":{"rank":1,"score":57,"points":53},"around":[{"rank":1,"score":57,"user":{"id":"42"}},{"rank":2,"score":5,"user":{"id":"7"}}]}"#;
const STATS: &str = r#"{"timezone":"UTC","days":[{"date":"2026-11-20","active":12,"new":3,"activities":40,"points":85.5,"actions":{"like":{"count":20,"points":40}}}],"weeks":[{"id":"2026-W47","active":40}],"months":[{"id":"2026-11","active":90}],"as_of":"2026-11-20T08:00:00Z"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn top_prints_a_table() -> TestResult {
    let service = Service::start().await?.with_page(TOP);
    let args = "top week --limit 2 --offset 0 --date 2026-11-20 --group a&b";
    run(&service, args, "")?.assert_output(
        "week 2026-W47 · 2026-11-16T00:00:00Z to 2026-11-23T00:00:00Z (UTC) · 2 members\n\n \
         rank  score  user  name\n    1     57  42    艾达\n    2      5  7\n",
    );
    let [request] = service.requests();
    let route = "GET /v1/ranking/week?limit=2&offset=0&date=2026-11-20&group=a%26b";
    // The key is not sent to a public route.
    assert_eq!((&*request.route, request.authorization), (route, None));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn standing_prints_rank_and_neighbours() -> TestResult {
    let service = Service::start().await?.with_page(STANDING);
    run(&service, "standing a/b all --around 1", "")?.assert_output(
        "all (UTC) · 2 members\n7: rank 2 of 2, score 5, percentile 50.0\n53 points to rank 1 (score 57)\n\n \
         rank  score  user  name\n    1     57  42\n  > 2      5  7\n",
    );
    let [request] = service.requests();
    assert_eq!(request.route, "GET /v1/ranking/all/users/a%2Fb?around=1");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn stats_prints_periods_and_sends_the_key() -> TestResult {
    let service = Service::start().await?.with_page(STATS);
    run(&service, "stats --from 2026-11-20 --to 2026-11-20", "")?.assert_output(
        "UTC · as of 2026-11-20T08:00:00Z\n\n \
         period      active  new  activities  points\n \
         2026-11-20      12    3          40    85.5\n \
         2026-W47        40\n \
         2026-11         90\n",
    );
    run(&service, "stats --json", "")?.assert_output(&format!("{STATS}\n"));
    let [first, second] = service.requests();
    let route = "GET /v1/stats?from=2026-11-20&to=2026-11-20";
    assert_eq!([&*first.route, &*second.route], [route, "GET /v1/stats"]);
    assert!(first.authorization.is_some());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn json_escapes_control_characters_only() -> TestResult {
    let page = TOP.replace("艾达", "艾\u{9b}31m");
    let service = Service::start().await?.with_page(&page);
    let escaped = TOP.replace("艾达", "艾\\u009b31m");
    run(&service, "top --json", "")?.assert_output(&format!("{escaped}\n"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn error_prints_title_and_detail() -> TestResult {
    let service = Service::with([Some(Fault::Problem(404, "not-found", None))]).await?;
    let error = "error: not found: injected by the test\n";
    let run = run(&service, "top year", "")?.assert_error(3, error);
    assert_eq!(run.stdout, "");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn short_outage_is_retried() -> TestResult {
    let fault = Fault::Problem(503, "store-unavailable", None);
    let service = Service::with([Some(fault), Some(Fault::CutBefore)])
        .await?
        .with_page(TOP);
    run(&service, "top", "")?.assert_error(0, "");
    assert_eq!(service.received().len(), 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_stdout_is_no_error() -> TestResult {
    let service = Service::start().await?.with_page(TOP);
    for args in ["top week", "top --json", "--help"] {
        let mut child = command(&service, args).stdin(Stdio::null()).spawn()?;
        drop(child.stdout.take());
        let output = child.wait_with_output()?;
        let has_no_error = output.status.success() && output.stderr.is_empty();
        assert!(has_no_error, "{args}: {output:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn all_standings_and_friends_send_the_key() -> TestResult {
    let standings = r#"{"user":{"id":"7"},"standings":{"all":{"id":"all","rank":1,"score":5,"total":1,"percentile":100,"next":null}}}"#;
    let friends = r#"{"period":{"kind":"all","id":"all","start":null,"end":null,"timezone":"UTC","closed":false},"total":1,"entries":[{"position":1,"rank":1,"score":5,"user":{"id":"7"}}]}"#;
    let points = r#"{"user":{"id":"7"},"source":"records","entries":[],"next":null}"#;
    let me = "me a/b --group eu --group us --friends";
    let why = "why 7 --limit 5 --before 1-F9";
    for (page, args, route) in [
        (
            standings,
            me,
            "users/a%2Fb/standings?groups=eu%2Cus&friends=true",
        ),
        (
            friends,
            "friends 7 week --group eu",
            "ranking/week/users?followed_by=7&group=eu",
        ),
        (
            points,
            why,
            "users/7/points?refused=true&limit=5&before=1-F9",
        ),
    ] {
        let service = Service::start().await?.with_page(page);
        run(&service, &format!("{args} --json"), "")?.assert_output(&format!("{page}\n"));
        let [request] = service.requests();
        assert_eq!(request.route, format!("GET /v1/{route}"));
        assert!(request.authorization.is_some(), "{route}");
    }
    Ok(())
}
