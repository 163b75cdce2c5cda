//! `sync`: history of other software, compared with the journal and mended.

mod discourse_api;
mod forum;
mod ghost;
mod github;
mod members;
mod solutions;
mod wordpress;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use axum::Router;
use axum::http::Uri;
use tempfile::TempDir;
use test_support::{SERVICE_KEY, Value, depth, json, until};
use tokio::net::TcpListener;

use crate::TestResult;
use crate::app::builder;
use crate::cli::{command, fails, run};
use crate::content::content;
use crate::journal_app::JournalApp;
use crate::random::Random;
use crate::run::{self, Run};
use forum::{Forum, post, topic, user};

fn start() -> JournalApp {
    start_on(1)
}

fn start_on(shards: u32) -> JournalApp {
    JournalApp::start(|worker| content(worker, shards).var("BOARD_MAX_AGE", "0"))
}

/// A source in a folder of its own.
struct Source {
    folder: TempDir,
}

impl Source {
    fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        Ok(Self { folder })
    }

    fn write(&self, name: &str, text: &str) -> io::Result<String> {
        let path: PathBuf = self.folder.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Runs `sync discourse` on a forum.
    fn discourse(&self, app: &JournalApp, forum: &Forum, args: &[&str]) -> io::Result<Run> {
        let file = self.write("dump.sql", &forum.discourse())?;
        run(app, &[&["sync", "discourse", &file], args].concat())
    }

    /// Runs `sync stackexchange` on a forum.
    fn stack_exchange(&self, app: &JournalApp, forum: &Forum, args: &[&str]) -> io::Result<Run> {
        for (name, xml) in forum.stack_exchange() {
            self.write(name, &xml)?;
        }
        let folder = self.folder.path().to_string_lossy();
        run(app, &[&["sync", "stackexchange", &folder], args].concat())
    }

    /// Runs `sync csv` on a forum.
    fn csv(&self, app: &JournalApp, forum: &Forum, args: &[&str]) -> io::Result<Run> {
        let file = self.write("forum.csv", &forum.csv())?;
        let all = ["sync", "csv", &file, "--id-prefix", "discourse:"];
        run(app, &[&all, args].concat())
    }
}

/// Serves a stand-in for other software. Returns its address.
async fn serve(router: Router) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(url)
}

/// Returns the parameters of a request to a stand-in.
fn query(uri: &Uri) -> BTreeMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://stand-in{uri}"));
    let query = url.map(|url| url.query_pairs().into_owned().collect());
    query.unwrap_or_default()
}

/// Returns the boards of all time: of members, authors and targets.
async fn boards(app: &JournalApp) -> [BTreeMap<String, i64>; 3] {
    app.wait_for_receivers().await;
    let mut boards: [BTreeMap<String, i64>; 3] = Default::default();
    for (board, path) in boards.iter_mut().zip(["ranking", "authors", "content"]) {
        let id = if path == "content" { "target" } else { "user" };
        for offset in (0..).step_by(100) {
            let path = format!("/v1/{path}/all?limit=100&offset={offset}");
            let page = app.api.get(&path).await;
            page.assert_status(200);
            let entries = page.body["entries"].as_array().cloned().unwrap_or_default();
            for entry in &entries {
                let name = entry[id]["id"].as_str().unwrap_or_default().to_owned();
                board.insert(name, entry["score"].as_i64().unwrap_or(-1));
            }
            if entries.len() < 100 {
                break;
            }
        }
    }
    boards
}

/// Returns the boards of members and authors, with ids of Discourse.
fn renamed(boards: [BTreeMap<String, i64>; 3]) -> [BTreeMap<String, i64>; 2] {
    people(boards).map(|board| {
        let board = board.into_iter();
        let renamed = board.map(|(id, points)| (id.replace("stackexchange", "discourse"), points));
        renamed.collect()
    })
}

/// Returns the boards of members and authors.
fn people([members, authors, _]: [BTreeMap<String, i64>; 3]) -> [BTreeMap<String, i64>; 2] {
    [members, authors]
}

#[track_caller]
fn assert_ends(run: &Run, code: i32, line: &str) {
    assert_eq!(run.code, Some(code), "{run:?}");
    assert_eq!(run.stdout.lines().last(), Some(line), "{run:?}");
}

async fn send_all(app: &JournalApp, activities: &[Value]) {
    for activity in activities {
        app.send(activity.clone()).await;
    }
}

/// Each change alone, without its webhook, and with a repeated one, on several shards.
#[tokio::test(flavor = "multi_thread")]
async fn sync_heals_each_change() -> TestResult {
    let (app, source) = (start_on(3), Source::new()?);
    let mut forum = Forum::new(6);
    for author in [1, 2] {
        let id = forum.add_topic(author);
        for member in [3, 4, 5] {
            forum.add_reply(id, member);
        }
    }
    for (member, id) in [(3, 1), (4, 1), (5, 2), (3, 5)] {
        forum.like(member, id);
    }
    let synced = source.csv(&app, &forum, &[])?.assert_code(0);
    let counted = "counted                           12";
    assert!(synced.stdout.contains(counted), "{synced:?}");
    assert_ends(&source.csv(&app, &forum, &["--compare"])?, 0, "0 differ");
    assert_eq!(boards(&app).await, forum.points());
    let again = source.csv(&app, &forum, &["--json"])?;
    let again: Value = serde_json::from_str(&again.stdout)?;
    assert_eq!(again["activity"]["lines"], 0, "{again}");

    let first = json!({"user": user(3), "action": "like", "target": post(1)});
    type Change = fn(&mut Forum);
    let changes: [(&str, Change, i32); 8] = [
        ("withdrawn", |forum| _ = forum.likes.remove(&(3, 1)), 1),
        ("given again", |forum| forum.like(3, 1), 1),
        ("moved", |forum| forum.move_post(2, 2), 1),
        ("deleted", |forum| forum.delete_post(3, true), 1),
        ("recovered", |forum| forum.delete_post(3, false), 1),
        // The publication of both, two comments, the two authors, and two likes.
        ("author", |forum| forum.give(1, 6), 8),
        ("merged", |forum| forum.merge(3, 4), 9),
        ("deleted topic", |forum| forum.delete_topic(2), 7),
    ];
    for (name, change, differ) in changes {
        change(&mut forum);
        let compared = source.csv(&app, &forum, &["--compare", "--limit", "100"])?;
        println!("{name}\n{}", compared.stdout);
        assert_ends(&compared, 4, &format!("{differ} differ"));
        let planned = source.csv(&app, &forum, &["--heal", "--dry-run"])?;
        assert_eq!(planned.code, Some(4), "{planned:?}");
        assert_ends(&source.csv(&app, &forum, &["--heal"])?, 0, "0 differ");
        assert_eq!(boards(&app).await, forum.points(), "{name}");
    }
    // A repeated webhook of a like that was withdrawn.
    app.send(first).await;
    assert_ends(&source.csv(&app, &forum, &["--compare"])?, 4, "1 differ");
    assert_ends(&source.csv(&app, &forum, &["--heal"])?, 0, "0 differ");
    assert_eq!(boards(&app).await, forum.points());
    // A source that has lost most of its content.
    let empty = source.write("empty.csv", "user,action,target\n")?;
    let map = ["comment", "like", "publish"].map(|action| format!("--map={action}={action}"));
    let sync = ["sync", "csv", &empty, "--heal", "--id-prefix=discourse:"];
    let sync = [&sync[..], &map.each_ref().map(String::as_str)].concat();
    for index in 0..20 {
        app.act(&user(index), "like", &post(900)).await;
    }
    fails(&app, &sync, 2, "if that is right, add --force")?;
    assert_ends(&source.csv(&app, &forum, &["--compare"])?, 4, "20 differ");
    assert_ends(&source.csv(&app, &forum, &["--heal"])?, 0, "0 differ");
    let topic = app.api.get(&format!("/v1/targets/{}", topic(1))).await;
    assert_eq!(topic.body["author"], user(6), "{}", topic.text);
    Ok(())
}

/// The demo community as a dump of Discourse: a second run sends nothing.
#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_discourse_dump() -> TestResult {
    let (app, source, forum) = (start(), Source::new()?, Forum::demo()?);
    let own = forum.likes.keys();
    let own = own.filter(|(user, post)| forum.posts[post].author == *user);
    let (own, facts) = (own.count(), forum.standing().len());
    let planned = source.discourse(&app, &forum, &["--dry-run", "--json"])?;
    let planned: Value = serde_json::from_str(&planned.assert_code(0).stdout)?;
    let numbers = [&planned["activities"], &planned["faults"]];
    assert_eq!(json!(numbers), json!([facts - own, 0]));
    let synced = source.discourse(&app, &forum, &["--json"])?.assert_code(0);
    let synced: Value = serde_json::from_str(&synced.stdout)?;
    let counted = json!({"counted": facts - own});
    assert_eq!(synced["activity"]["outcomes"], counted, "{synced}");
    assert_eq!(boards(&app).await, forum.points());
    let compared = source.discourse(&app, &forum, &["--compare"])?;
    let expected = format!("refused by rules: {own} own-target\n0 differ\n");
    compared.assert_stdout(0, &expected);
    let again = source.discourse(&app, &forum, &[])?.stdout;
    let nothing = "0 profiles, 0 targets\n0 lines";
    assert!(again.starts_with(nothing), "{again}");
    let profile = app.api.get("/v1/users/discourse:62").await;
    assert_eq!(profile.body["name"], "Name 62", "{}", profile.text);
    let target = app.api.get("/v1/targets/discourse:topic:1").await;
    assert_eq!(target.body["title"], "Topic \\ 1", "{}", target.text);
    Ok(())
}

/// Votes are likes of topics. A dump without their table says nothing about them.
#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_votes_of_discourse_dump() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let mut forum = Forum::new(4);
    forum.add_topic(1);
    assert_eq!(source.discourse(&app, &forum, &[])?.code, Some(0));
    for member in [2, 3] {
        app.act(&user(member), "like", &topic(1)).await;
    }
    let counted = boards(&app).await;
    for option in ["--compare", "--heal"] {
        assert_ends(&source.discourse(&app, &forum, &[option])?, 0, "0 differ");
    }
    assert_eq!(boards(&app).await, counted);

    let votes = "\nCOPY public.topic_voting_votes (id, topic_id, user_id, archive, created_at, updated_at) FROM stdin;\n\
                 1\t1\t3\tt\t2026-11-02 08:00:00\t2026-11-02 08:00:00\n\
                 2\t1\t4\tf\t2026-11-02 09:00:00\t2026-11-02 09:00:00\n\
                 3\t1000001\t4\tf\t2026-11-02 09:00:00\t2026-11-02 09:00:00\n\
                 4\t1000002\t4\tf\t2026-11-02 09:00:00\t2026-11-02 09:00:00\n\\.\n";
    let dump = source.write("votes.sql", &(forum.discourse() + votes))?;
    let expected = "missing: discourse:4 like discourse:topic:1\n\
                    too many: discourse:2 like discourse:topic:1\n2 differ\n";
    run(&app, &["sync", "discourse", &dump, "--compare"])?.assert_stdout(4, expected);
    let healed = run(&app, &["sync", "discourse", &dump, "--heal"])?;
    assert_ends(&healed, 0, "0 differ");
    let [mut members, authors, targets] = counted;
    let moved = members.remove(&user(2)).ok_or("no like")?;
    members.insert(user(4), moved);
    assert_eq!(boards(&app).await, [members, authors, targets]);
    Ok(())
}

/// No webhook says that a member was renamed or anonymized.
#[tokio::test(flavor = "multi_thread")]
async fn heal_without_differences_sends_names() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let mut forum = Forum::new(3);
    forum.add_topic(2);
    assert_eq!(source.discourse(&app, &forum, &[])?.code, Some(0));
    let dump = forum.discourse().replace("Name 2", "anon2");
    let dump = source.write("renamed.sql", &dump)?;
    let healed = run(&app, &["sync", "discourse", &dump, "--heal"])?;
    assert_ends(&healed, 0, "0 differ");
    let profile = app.api.get("/v1/users/discourse:2").await;
    assert_eq!(profile.body["name"], "anon2", "{}", profile.text);
    Ok(())
}

/// The result of a run, and its error.
#[tokio::test(flavor = "multi_thread")]
async fn sync_reports_result() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let (mut forum, mut random) = (Forum::new(5), Random::new(3));
    for _ in 0..40 {
        forum.change(&mut random);
    }
    let stored = async || {
        let answer = app.api.get("/v1/syncs").await;
        answer.assert_status(200);
        let mut stored = answer.body["syncs"][0].clone();
        let fields = stored.as_object_mut().expect("an object");
        let instants = ["reported_at", "completed_at"].map(|name| fields.remove(name).is_some());
        (instants, stored)
    };
    let args = ["--heal", "--report", "forum"];
    assert_ends(&source.discourse(&app, &forum, &args)?, 0, "0 differ");
    let (instants, done) = stored().await;
    let mended = done["mended"].as_u64().expect("a number");
    assert!(mended > 0, "{done}");
    let refused = done["refused"].clone();
    let expected = json!({"source": "forum", "state": "done", "differences": 0, "mended": mended,
        "refused": refused, "detail": done["detail"]});
    assert_eq!((instants, &done), ([true, true], &expected));
    let file = source.write("dump.sql", "COPY public.posts (id) FROM stdin;\n1\n")?;
    let failed = run(&app, &[&["sync", "discourse", &file], &args[..]].concat())?.assert_code(2);
    let detail = failed.stderr.trim().trim_start_matches("error: ");
    let expected = json!({"source": "forum", "state": "failed", "differences": 0, "mended": mended,
        "refused": refused, "detail": detail});
    assert_eq!(stored().await, ([true, true], expected));
    Ok(())
}

/// Topics are questions there, and likes favorites of them.
#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_stack_exchange_dump() -> TestResult {
    let (app, source, forum) = (start(), Source::new()?, Forum::demo()?);
    source.stack_exchange(&app, &forum, &[])?.assert_code(0);
    let compared = source.stack_exchange(&app, &forum, &["--compare"])?;
    assert_ends(&compared, 0, "0 differ");
    assert_eq!(renamed(boards(&app).await), people(forum.points()));
    let profile = app.api.get("/v1/users/stackexchange:62").await;
    assert_eq!(profile.body["name"], "A & 62", "{}", profile.text);
    Ok(())
}

/// Webhooks are lost and repeated while the demo community changes.
#[tokio::test(flavor = "multi_thread")]
async fn sync_heals_random_changes() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let (mut forum, mut random) = (Forum::demo()?, Random::new(7));
    assert_eq!(source.discourse(&app, &forum, &[])?.code, Some(0));
    let (changes, rounds) = changes();
    let mut delivered = Vec::new();
    for round in 0..rounds {
        for _ in 0..changes {
            let deliveries = forum.change(&mut random);
            match random.below(5) {
                0 => {}
                1 => {
                    send_all(&app, &deliveries).await;
                    send_all(&app, &deliveries).await;
                }
                _ => send_all(&app, &deliveries).await,
            }
            delivered.extend(deliveries);
            if random.below(5) == 0 && !delivered.is_empty() {
                let index = random.below(delivered.len() as u64) as usize;
                send_all(&app, &delivered[index..=index]).await;
            }
        }
        println!("round {round}");
        let healed = source.discourse(&app, &forum, &["--heal", "--limit", "200"])?;
        assert_ends(&healed, 0, "0 differ");
        let fresh = start();
        source.discourse(&fresh, &forum, &[])?.assert_code(0);
        assert_eq!(boards(&fresh).await, forum.points());
        assert_eq!(boards(&app).await, forum.points());
    }
    Ok(())
}

/// A site of Stack Exchange has no webhooks, and favorites are of questions.
#[tokio::test(flavor = "multi_thread")]
async fn sync_heals_random_changes_of_stack_exchange() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let (mut forum, mut random) = (Forum::demo()?, Random::new(8));
    assert_eq!(source.stack_exchange(&app, &forum, &[])?.code, Some(0));
    let (changes, rounds) = changes();
    for round in 0..rounds {
        for _ in 0..changes {
            forum.change(&mut random);
            let Forum { likes, posts, .. } = &mut forum;
            likes.retain(|(_, post), _| posts[post].is_first);
        }
        println!("round {round}");
        let healed = source.stack_exchange(&app, &forum, &["--heal", "--limit", "200"])?;
        assert_ends(&healed, 0, "0 differ");
        assert!(renamed(boards(&app).await) == people(forum.points()));
    }
    Ok(())
}

/// Returns the changes of a round, and the rounds.
fn changes() -> (usize, usize) {
    depth((60, 1), (125, 4))
}

/// A run that is killed, and the next one.
#[tokio::test(flavor = "multi_thread")]
async fn killed_sync_is_completed() -> TestResult {
    let (app, source, forum) = (start(), Source::new()?, Forum::demo()?);
    let file = source.write("dump.sql", &forum.discourse())?;
    let args = ["sync", "discourse", &file];
    let slowly = [&args[..], &["--batch=10", "--concurrency=1"]].concat();
    let mut child = command(&app, &slowly).spawn()?;
    until("the first points", async || {
        let board = app.api.get("/v1/ranking/all?limit=1").await;
        board.body["total"].as_u64().filter(|total| *total > 0)
    })
    .await;
    child.kill()?;
    child.wait()?;
    let compare = [&args[..], &["--compare"]].concat();
    run(&app, &compare)?.assert_code(4);
    run(&app, &args)?.assert_code(0);
    assert_ends(&run(&app, &compare)?, 0, "0 differ");
    assert_eq!(boards(&app).await, forum.points());
    Ok(())
}

/// Without a journal everything is sent, and a comparison says what it needs.
#[tokio::test(flavor = "multi_thread")]
async fn sync_works_without_journal() -> TestResult {
    let worker = content(builder(), 1).start();
    let source = Source::new()?;
    let csv = "user\ttype\ttarget\tat\ton\ttitle\tname\n\
               7\tupvote\tpost-1\t2026-11-20 08:00:00\tNULL\tA\\tB\tAda\n\
               8\tcomment\tcomment-1\t2026-11-20 08:00:00\tpost-1\tNULL\tNULL\n\
               8\tflag\tpost-1\t2026-11-20 08:00:00\tNULL\tNULL\tNULL\n";
    let file = source.write("log.tsv", csv)?;
    let sync = |args: &[&str]| {
        let map = ["--map=upvote=like", "--map=flag="];
        let all = ["sync", "csv", &file, "--timezone=Europe/Berlin"];
        let variables = [
            ("ACTIVITY_RANK_URL", worker.url()),
            ("ACTIVITY_RANK_KEY", SERVICE_KEY),
        ];
        let command = run::command(&[&all[..], &map, args].concat(), &variables);
        run::finish(command, "", SERVICE_KEY)
    };
    let (api, profile) = (worker.api(), json!({"public_activity": true}));
    let stored = api.put("/v1/users/7", &profile).await;
    stored.assert_status(200);
    for outcome in ["counted", "duplicate"] {
        let synced = sync(&["--json"])?.assert_code(0);
        assert_eq!(synced.stderr, "1 row of the type flag left out\n");
        let synced: Value = serde_json::from_str(&synced.stdout)?;
        let outcomes = &synced["activity"]["outcomes"];
        assert_eq!(*outcomes, json!({outcome: 2}), "{synced}");
    }
    let profile = api.get("/v1/users/7").await;
    let expected = json!({"id": "7", "name": "Ada", "public_activity": true});
    assert_eq!(profile.body, expected);
    let target = api.get("/v1/targets/post-1").await;
    assert_eq!(target.body, json!({"id": "post-1", "title": "A B"}));
    for (args, error) in [
        (
            &["--compare", "--prefix", ""][..],
            "a comparison needs the journal, and this deployment has none: bind JOURNAL, see docs/operations.md",
        ),
        (
            &["--compare"],
            "a comparison needs --id-prefix, or --prefix for targets with other ids; --prefix '' is all targets",
        ),
    ] {
        let refused = sync(args)?.assert_code(2).stderr;
        assert!(refused.ends_with(&format!("error: {error}\n")), "{refused}");
    }
    Ok(())
}

/// Everything that a run would refuse, in one list.
#[tokio::test(flavor = "multi_thread")]
async fn sync_lists_all_faults() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let csv = "user,action,target,at,on,groups\n\
               7,like,post-1,2026-11-20T08:00:00Z,\n\
               7,like,post-1,2026-11-20T08:00:00Z,\n\
               7,like,post-1,2026-11-21T08:00:00Z,\n\
               a b,like,post-1,2026-11-20T08:00:00Z,\n\
               7,jump,post-1,2026-11-20T08:00:00Z,\n\
               7,like,post-2,2999-01-01T00:00:00Z,\n\
               7,like,post-3,2026-11-20T08:00:00Z,post-1\n\
               7,like,post-4,2026-11-20 08:00:00,\n\
               7,like,,2026-11-20T08:00:00Z,\n\
               7,like,post-1,2026-11-20T08:00:00Z,,eu\n";
    let file = source.write("log.csv", csv)?;
    let sync = |args: &[&str]| run(&app, &[&["sync", "csv", &file], args].concat());
    let planned = sync(&["--dry-run"])?;
    let faults = "line 4: 7 like post-1 is also in line 2, with another instant, receiver or groups\n\
                  line 5: a b like post-1: user: must be 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not '.' or '..'\n\
                  line 6: 7 jump post-1: action: must be one of bookmark, comment, follow, like, publish, visit, wave\n\
                  line 7: 7 like post-2: at: must not be more than 60 seconds in the future\n\
                  line 8: 7 like post-3: on: is not allowed for like, by its rule: its own target receives\n\
                  line 9: at: '2026-11-20 08:00:00' has no time zone: --timezone names it\n\
                  line 10: has no target\n\
                  line 11: 7 like post-1 is also in line 2, with another instant, receiver or groups\n";
    assert_eq!((planned.code, planned.stderr.as_str()), (Some(1), faults));
    let refused = sync(&["--limit", "2"])?;
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    let error = "and 6 faults more\nerror: nothing was sent, because 8 rows are invalid: correct the source, or add --skip-invalid to send the other rows\n";
    assert!(refused.stderr.ends_with(error), "{refused:?}");
    assert!(app.api.get("/v1/ranking/all").await.body["total"] == 0);
    let sent = sync(&["--skip-invalid"])?.assert_code(1);
    let counted = "counted                            1";
    assert!(sent.stdout.contains(counted), "{sent:?}");
    let refused = sync(&["--heal", "--prefix="])?.assert_code(1);
    let error = "error: nothing was compared, because 8 rows are invalid: correct the source\n";
    assert!(refused.stderr.ends_with(error), "{refused:?}");
    let planned = sync(&["--dry-run", "--skip-invalid"])?.assert_code(1);
    let plan = "\n8 rows are invalid\nnot checked: ";
    assert!(planned.stdout.contains(plan), "{planned:?}");
    Ok(())
}

/// A source of which a part is missing would have too little: nothing is sent or healed.
#[tokio::test(flavor = "multi_thread")]
async fn unreadable_source_is_refused() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let header = "user,action,target\n";
    let like = |user: &str| format!("{user},like,p\n");
    for (csv, error) in [
        (String::new(), "no header row: it is empty"),
        (
            format!("{header}{}\"{}", like("7"), like("8")),
            "the quotation mark of line 3 is never closed",
        ),
        (
            format!("{header}{}8,li", like("7")),
            "line 3: the last row has 2 of 3 cells and no end: the file may be incomplete",
        ),
        (
            format!("user,{header}7,{}", like("8")),
            "the first row has more than one column 'user'",
        ),
        (
            header.replace(',', "|"),
            "the first row has unknown fields: user|action|target: --columns FIELD=COLUMN,… names the columns to read",
        ),
        (
            "\u{1f}\0".to_owned(),
            "the file is UTF-16: save it as UTF-8",
        ),
    ] {
        let file = source.write("source.csv", &csv)?;
        let args = [
            "sync",
            "csv",
            &file,
            "--heal",
            "--prefix=p",
            "--report=forum",
        ];
        let refused = run(&app, &args)?;
        let error = format!("error: {file}: {error}\n");
        assert_eq!((refused.code, refused.stderr), (Some(2), error));
        let reports = app.api.get("/v1/syncs").await.body;
        assert_eq!(reports["syncs"][0]["state"], "failed", "{reports}");
    }
    let file = source.write("source.csv", header)?;
    let args = ["sync", "csv", &file, "--compare", "--prefix=p"];
    fails(&app, &args, 2, "the source has no activity to compare")?;
    Ok(())
}
