//! `sync` of accepted answers, whose type `--map` names.

use test_support::{Value, json};

use super::forum::{Forum, post, user};
use super::{Source, assert_ends, content, discourse_api, github};
use crate::TestResult;
use crate::cli::run;
use crate::journal_app::JournalApp;
use crate::run::Run;

const MAP: [&str; 2] = ["--map", "solution=solution"];

/// Starts a deployment with the rule of the recipes.
fn start() -> JournalApp {
    let rules = json!({"solution": {"points": 15, "undo": true, "by": "service"}});
    JournalApp::start(|worker| content(worker, 1).json("RULES", rules))
}

fn solution(member: &str, target: &str) -> Value {
    json!({"user": member, "action": "solution", "target": target})
}

/// A forum with two replies, of the members 2 and 3.
fn forum() -> Forum {
    let mut forum = Forum::new(3);
    let id = forum.add_topic(1);
    forum.add_reply(id, 2);
    forum.add_reply(id, 3);
    forum
}

/// Compares a source with a deployment that has another solution, and heals.
async fn assert_healed(
    app: &JournalApp,
    sync: impl Fn(&[&str]) -> std::io::Result<Run>,
) -> TestResult {
    let compared = sync(&[&MAP[..], &["--compare"]].concat())?;
    let expected = "missing: discourse:2 solution discourse:post:2\n\
                    too many: discourse:3 solution discourse:post:3\n2 differ\n";
    compared.assert_stdout(4, expected);
    // Without an action, solutions are neither sent nor undone.
    let unmapped = sync(&["--compare"])?;
    assert_ends(&unmapped, 0, "0 differ");
    assert_eq!(
        unmapped.stderr,
        "1 row of the type solution left out: --map solution=ACTION counts them\n"
    );
    assert_ends(&sync(&[&MAP[..], &["--heal"]].concat())?, 0, "0 differ");
    for (member, expected) in [(2, 18), (3, 3)] {
        let path = format!("/v1/ranking/all/users/{}", user(member));
        assert_eq!(app.api.get(&path).await.body["score"], expected);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_solutions_of_discourse_dump() -> TestResult {
    let (source, forum) = (Source::new()?, forum());
    let fields = "\nCOPY public.topic_custom_fields (id, topic_id, name, value, created_at, updated_at) FROM stdin;\n\
                  1\t1\taccepted_answer_post_id\t2\t2026-11-02 08:00:00\t2026-11-02 08:00:00\n\
                  2\t1\tother\tx\t2026-11-02 08:00:00\t2026-11-02 08:00:00\n\\.\n";
    // The fields stay after an update of the plugin.
    let stale = fields.replace("\t2\t2026", "\t3\t2026");
    let table = "\nCOPY public.discourse_solved_solved_topics (id, topic_id, answer_post_id, accepter_user_id, topic_timer_id, created_at, updated_at) FROM stdin;\n\
                 1\t1\t2\t1\t\\N\t2026-11-02 08:00:00\t2026-11-02 08:00:00\n\
                 2\t9\t999999\t1\t\\N\t2026-11-02 08:00:00\t2026-11-02 08:00:00\n\\.\n";
    for tables in [fields.to_owned(), stale + table] {
        let app = start();
        assert_eq!(source.discourse(&app, &forum, &[])?.code, Some(0));
        app.send(solution(&user(3), &post(3))).await;
        // A dump without the plugin says nothing about solutions.
        let without = source.discourse(&app, &forum, &[&MAP[..], &["--heal"]].concat())?;
        assert_ends(&without, 0, "0 differ");
        let dump = source.write("solved.sql", &(forum.discourse() + &tables))?;
        let sync = |args: &[&str]| run(&app, &[&["sync", "discourse", &dump], args].concat());
        assert_healed(&app, sync).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_solutions_of_discourse_api() -> TestResult {
    let app = start();
    let (site, url) = discourse_api::start_server(forum()).await?;
    let sync = |args: &[&str]| discourse_api::sync(&app, &url, args);
    assert_eq!(sync(&[])?.code, Some(0));
    app.send(solution(&user(3), &post(3))).await;
    // A forum without the plugin says nothing about solutions.
    assert_ends(&sync(&[&MAP[..], &["--heal"]].concat())?, 0, "0 differ");
    site.lock().await.solutions = Some(vec![2]);
    assert_healed(&app, sync).await?;
    // The answer is no longer accepted.
    site.lock().await.solutions = Some(Vec::new());
    assert_ends(&sync(&[&MAP[..], &["--compare"]].concat())?, 4, "1 differ");
    assert_ends(&sync(&[&MAP[..], &["--heal"]].concat())?, 0, "0 differ");
    Ok(())
}

/// The vote for an accepted answer has no voter, and may be repeated.
#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_accepted_answers_of_stack_exchange() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let posts = r#"<row Id="1" PostTypeId="1" AcceptedAnswerId="2" CreationDate="2026-11-01T08:00:00.000" OwnerUserId="8" />
        <row Id="2" PostTypeId="2" ParentId="1" CreationDate="2026-11-01T09:00:00.000" OwnerUserId="7" />
        <row Id="3" PostTypeId="2" ParentId="1" CreationDate="2026-11-01T09:00:00.000" />"#;
    let vote = |(id, post, day): (u32, u32, u32)| {
        format!(
            r#"<row Id="{id}" PostId="{post}" VoteTypeId="1" CreationDate="2026-11-0{day}T00:00:00.000" />"#
        )
    };
    let votes = [(1, 2, 2), (2, 2, 3), (3, 3, 3), (4, 9, 3)].map(vote);
    for (name, rows) in [
        ("Users.xml", r#"<row Id="7" DisplayName="Ada" />"#),
        ("Posts.xml", posts),
        ("Comments.xml", ""),
        ("Votes.xml", &votes.concat()),
    ] {
        source.write(name, &format!("<rows>{rows}</rows>"))?;
    }
    let folder = source.folder.path().to_string_lossy();
    let sync = |args: &[&str]| run(&app, &[&["sync", "stackexchange", &folder], args].concat());
    let synced = sync(&[])?.assert_code(0);
    assert_eq!(
        synced.stderr,
        "1 row of the type solution left out: --map solution=ACTION counts them\n"
    );
    let expected = "missing: stackexchange:7 solution stackexchange:post:2\n1 differ\n";
    sync(&[&MAP[..], &["--compare"]].concat())?.assert_stdout(4, expected);
    assert_ends(&sync(&[&MAP[..], &["--heal"]].concat())?, 0, "0 differ");
    let path = "/v1/users/stackexchange:7/points?limit=1";
    let points = app.api.get(path).await.body;
    let entry = ["action", "at", "points"].map(|name| points["entries"][0][name].clone());
    let expected = json!(["solution", "2026-11-02T00:00:00Z", 15]);
    assert_eq!(json!(entry), expected);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_answers_of_github() -> TestResult {
    let app = start();
    let (_, url) = github::start_server().await?;
    let sync = |args: &[&str]| github::sync(&app, &url, &[&["o/r"], args].concat());
    assert_eq!(sync(&[])?.code, Some(0));
    let other = solution("github:3", "github:discussion-comment:62");
    app.send(other).await;
    let expected = "missing: github:1 solution github:discussion-comment:61\n\
                    too many: github:3 solution github:discussion-comment:62\n2 differ\n";
    sync(&[&MAP[..], &["--compare"]].concat())?.assert_stdout(4, expected);
    assert_ends(&sync(&[&MAP[..], &["--heal"]].concat())?, 0, "0 differ");
    Ok(())
}
