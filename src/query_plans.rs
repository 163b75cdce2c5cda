//! The plans of all queries of the databases: none reads a whole table that grows.
//!
//! Every function that sends statements runs once for each form of its SQL, on a database that refuses them. A query
//! whose text is in the source and in no statement that was made fails the test. SQLite then explains the statements
//! on the tables of the migrations.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use activity_rank_core::account::Accounts;
use activity_rank_core::activity::Activity;
use activity_rank_core::board::{BoardId, BoardKind, BoardQuery, WinnersRequest};
use activity_rank_core::calendar::{Calendar, Date, Instant, Period, Utc};
use activity_rank_core::config::{Config, Vars};
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;
use activity_rank_core::fair_play::{
    CaseDecision, CasesRequest, Change, NewCase, Window, find_by_hand,
};
use activity_rank_core::history::HistoryRequest;
use activity_rank_core::point_changes::PointsRequest;
use activity_rank_core::sync::SyncReport;
use activity_rank_core::webhook::DeliveriesRequest;
use activity_rank_store::archive_source::{ArchivePage, BoardState};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::fingerprint::Participant;
use activity_rank_store::outbox::{Batch, OutboxEntry};
use activity_rank_store::redis::transport::{PostFuture, Transport};
use futures::executor::block_on;
use serde_json::{Value, json};
use test_support::{npm, root};

use crate::archive::{self, BoardName};
use crate::journal::{
    self, JournalRequest, achievements, fair_play, metrics, refusals, rules_preview, sums, syncs,
};
use crate::platform::d1::Database;
use crate::webhooks;

thread_local! {
    static STATEMENTS: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Records the text of a statement of this thread.
pub fn record(sql: &str) {
    STATEMENTS.with_borrow_mut(|statements| statements.insert(sql.to_owned()));
}

/// The steps of plans that may look like a scan: a part of the statement, the step, and why.
const ALLOWED: [(&str, &str, &str); 10] = [
    (
        "WITH RECURSIVE search",
        "SCAN journal",
        "it ends at the last row of the site",
    ),
    (
        "UPDATE achievements_earned SET n = -1",
        "SEARCH achievements_earned USING PRIMARY KEY (site=?)",
        "a recount of accounts has come; else the condition is false before the first row",
    ),
    (
        "INDEXED BY achievements_pending",
        "SEARCH achievements_earned USING INDEX achievements_pending (site=?)",
        "the index has only steps that a recount of accounts has left open",
    ),
    (
        "DELETE FROM achievement_tallies WHERE site = ?1 AND (SELECT n FROM achievements_read",
        "SEARCH achievement_tallies USING PRIMARY KEY (site=?)",
        "the evaluation starts from the beginning; else the condition is false before the first row",
    ),
    (
        "AND entry ->> 'did' = 'rules' ON CONFLICT",
        "SEARCH journal USING INDEX journal_by_rules (site=?)",
        "the index has only recounts",
    ),
    (
        "AND entry ->> 'did' = 'exclude'",
        "SEARCH journal USING INDEX journal_of_exclusions (site=?)",
        "the index has only decisions about cases",
    ),
    (
        "SELECT MAX(id) FROM journal",
        "SEARCH journal USING COVERING INDEX journal_by_id (site=? AND shard=?)",
        "the largest id is the last one of the index",
    ),
    (
        "ORDER BY id DESC LIMIT 1",
        "SEARCH journal USING COVERING INDEX journal_by_id (site=? AND shard=?)",
        "it ends at the last id of the index",
    ),
    (
        "SELECT MIN(day) AS day FROM gifts",
        "SEARCH gifts USING PRIMARY KEY (site=?)",
        "the smallest day is the first one of the key",
    ),
    (
        "INDEXED BY deliveries_by_due",
        "SEARCH deliveries USING INDEX deliveries_by_due (site=?)",
        "the index has only messages that wait",
    ),
];

/// A store that the functions of this test never reach.
struct NoStore;

impl Transport for NoStore {
    fn post(&self, _: String) -> PostFuture<'_> {
        Box::pin(async { Err("no store".to_owned()) })
    }
}

fn config(shards: u32, webhooks: &Value) -> Config {
    let mut vars = json!({
        "UPSTASH_REDIS_REST_URL": "https://store",
        "UPSTASH_REDIS_REST_TOKEN": "token",
        "SHARDS": shards,
        "LEVELS": {"Gold": 10},
        "REFUSED_DAYS": 90,
        "CONTENT_PERIODS": "all",
        "FAIR_PLAY": {},
        "WEBHOOKS": webhooks,
        "ACHIEVEMENTS": {
            "years": {"name": "A", "member_since": "years"},
            "now": {"name": "B", "points": true, "revoke": true},
        },
    });
    // With a streak, another request comes first, which the test refuses.
    if webhooks.is_null() {
        vars["ACHIEVEMENTS"]["days"] = json!({"name": "C", "streak": "days"});
    }
    let vars = Vars::new(vars.as_object().unwrap().clone());
    let mut config = Config::parse(&vars, Utc::named).unwrap();
    config.bound.archive = true;
    config
}

/// Makes every statement of both databases.
fn make_statements(shards: u32) {
    let deployment = Deployment::new(
        config(shards, &Value::Null),
        Box::new(Utc),
        Box::new(NoStore),
        || 0,
    );
    let database = Database::refusing();
    block_on(make_archive_statements(&deployment, &database));
    block_on(make_journal_statements(&deployment, &database));
    block_on(make_webhook_statements(&deployment.config, &database));
}

async fn make_archive_statements(deployment: &Deployment, database: &Database) {
    let (config, now) = (&deployment.config, Instant(1_795_132_800_000));
    let today = Date::parse("2026-11-20").unwrap();
    let history = HistoryRequest::parse("42", "days=366", config, today).unwrap();
    refused(archive::read_points(database, config, &history).await);
    for kind in [BoardKind::Members, BoardKind::Content] {
        let board = BoardId {
            kind,
            period: Period::Week,
            date: today,
            group: None,
        };
        let users = ["42".to_owned()];
        for query in [
            BoardQuery::Page {
                offset: 0,
                limit: 10,
            },
            BoardQuery::Standing {
                user: "42",
                neighbors: 2,
            },
            BoardQuery::Users(&users),
        ] {
            refused(archive::read(database, config, (&board, ""), &query).await);
        }
        let winners = WinnersRequest {
            before: board,
            limit: 12,
        };
        refused(archive::read_winners(database, config, &winners).await);
    }
    refused(
        archive::add_totals(database, config, &[(Period::Day, today)], &mut [vec![None]]).await,
    );
    for participant in [Participant::User("42"), Participant::Target("post-7")] {
        refused(archive::erase(database, config, participant).await);
    }
    for is_hidden in [true, false] {
        refused(archive::set_target_visibility(database, config, "post-7", is_hidden).await);
        refused(archive::set_visibility(database, config, &[("42", is_hidden)]).await);
    }
    refused(archive::delete_event(database, config, "hackathon").await);
    refused(archive::acquire(database, "0", now).await);
    refused(archive::release(database, "0", 0, now).await);
    if config.shards > 1 {
        refused(archive::shards_by_last_run(database, config).await);
    }
    refused(archive::archived_names(database, "0", "", 10).await);
    let calendar = Calendar::new("UTC", Box::new(Utc));
    let definitions = Definitions::default();
    let board = BoardName::parse("d:2026-11-20", &calendar, &definitions, now).unwrap();
    refused(archive::read_boards(database, "0", std::slice::from_ref(&board)).await);
    let state = BoardState {
        orders: 1,
        members: 200_002,
        total: 200_001,
    };
    let page = ArchivePage {
        audit: String::new(),
        state,
        next: 1,
        rows: Vec::new(),
    };
    for start in [0, 1] {
        refused(board.write_page(database, "0", &page, start, now).await);
    }
    refused(board.has_every_row(database, "0", state).await);
    refused(board.finish(database, "0", state).await);
    refused(archive::finish(database, "0", &["d:2026-11-20"]).await);
}

async fn make_journal_statements(deployment: &Deployment, database: &Database) {
    let config = &deployment.config;
    let today = Date::parse("2026-11-20").unwrap();
    refused(metrics::last_number(database, config).await);
    refused(metrics::read(database, config, today).await);
    let report = json!({"state": "done", "differences": 0});
    let report = SyncReport::parse("ghost", &report).unwrap();
    let _ = syncs::upsert(config, &report, Instant(0));
    let _ = (syncs::select(config), syncs::delete(config, "ghost"));
    for query in ["", "shard=0"] {
        let request = JournalRequest::parse(query).unwrap();
        refused(request.read(database, config).await);
    }
    for query in [
        "",
        "before=1795132800000-7",
        "date=2026-11-20",
        "refused=true",
    ] {
        let today = Date::parse("2026-11-20").unwrap();
        let request = PointsRequest::parse("42", query, today, &deployment.calendar).unwrap();
        refused(journal::read_points(database, config, &request, &Accounts::default()).await);
    }
    let _ = journal::recounted(Vec::new());
    refused(journal::read_moderation_reason(database, config, "42").await);
    refused(journal::read_exclusion_reasons(database, config, "42").await);
    let undo = Activity {
        user: "42".to_owned(),
        action: "like".to_owned(),
        target: "post-7".to_owned(),
        undo: true,
        source_gone: false,
        at: Instant(0),
        dated: false,
        queued: false,
        by_member: false,
        groups: Vec::new(),
        on: None,
        author: None,
    };
    refused(journal::find_members(database, config, &undo, 10).await);
    let accounts = Accounts::new(">1 9");
    refused(journal::accounts::read_past(Some(database), config, ("42", &accounts)).await);
    refused(sums::add(database, config, None).await);
    let endpoint = json!({"url": "https://hooks.slack.com/a", "kinds": ["achievement.earned", "case.decided"]});
    let sending = self::config(1, &json!([endpoint]));
    for config in [config, &sending] {
        refused(achievements::evaluate(database, config, Instant(0)).await);
    }
    refused(achievements::read_member(database, config, ("42", today, Instant(0))).await);
    refused(achievements::read_counts(database, config).await);
    refused(achievements::count(database, config, "42").await);
    refused(achievements::find_unknown(database, config, &["w2026-11-16"]).await);
    let board = achievements::ClosedBoard {
        id: "w2026-11-16".to_owned(),
        kind: "w".to_owned(),
        at: Instant(0),
    };
    let _ = achievements::insert_places(config, &board, &["42"]);
    refused(achievements::read_behind(database, config).await);
    make_fair_play_statements(&sending, database).await;
    make_preview_statements(config, database).await;
    refused(
        sums::read(
            database,
            config,
            ("2026-11-20".to_owned(), "2026-11-20".to_owned()),
        )
        .await,
    );
    let fields = [("did", "erase"), ("user", "42")];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let batch = Batch {
        entries: vec![OutboxEntry {
            id: "1-0".to_owned(),
            fields: fields.to_vec(),
        }],
        is_pending: false,
        received: None,
        ended: 0,
    };
    let _ = refusals::insert(config, "[]".to_owned(), "2026-11-20".to_owned());
    let _ = refusals::delete_old(deployment, Instant(0));
    webhooks::record_levels(config, "[]".to_owned());
    webhooks::forget_levels(config, &batch.entries);
    refused(journal::write(database, deployment, 0, &batch).await);
}

async fn make_preview_statements(config: &Config, database: &Database) {
    let now = Instant(0);
    refused(rules_preview::read_extent(database, config, now).await);
    let rows = (0, 10, &Value::Null);
    refused(rules_preview::read_rows(database, config, rows, [now; 2], 10).await);
    for has_keys in [true, false] {
        refused(rules_preview::read(database, config, has_keys).await);
    }
    refused(rules_preview::insert(database, config, (&Value::Null, &Value::Null), now).await);
    let preview = rules_preview::Preview::default();
    let advanced = (&preview, &Value::Null);
    refused(rules_preview::advance(database, config, advanced, None, now).await);
    refused(rules_preview::end(database, config, "cancelled", None, now).await);
    refused(rules_preview::clear(database, config, 0).await);
}

async fn make_fair_play_statements(config: &Config, database: &Database) {
    let (now, thresholds) = (Instant(0), config.fair_play.unwrap());
    refused(fair_play::is_searched(database, config, now).await);
    refused(fair_play::add(database, config, &thresholds, now).await);
    refused(fair_play::search(database, config, &thresholds, now).await);
    let _ = fair_play::store(config, &[], (String::new(), 0), now);
    let page = CasesRequest::parse("").unwrap();
    refused(fair_play::read_page(database, config, &page).await);
    refused(fair_play::read_case(database, config, &thresholds, "case_1").await);
    refused(fair_play::read_gifts(database, config, "case_1", now).await);
    let case = json!({"members": ["42", "7"], "reason": "r"});
    let case = NewCase::parse(&case).unwrap();
    let finding = find_by_hand(&Window::default(), &case.members, &thresholds);
    let change = Change::by_hand(&finding, 0);
    let _ = fair_play::insert_by_hand(config, &change, ("r", None), now);
    let case = (&case, None);
    refused(fair_play::open(database, config, &thresholds, case, now).await);
    refused(fair_play::read_members(database, config, "case_1").await);
    let decision = json!({"state": "open", "reason": "r"});
    let decision = CaseDecision::parse("case_0123456789abcdef", &decision).unwrap();
    let known = fair_play::CaseMembers {
        state: "open".to_owned(),
        reason: String::new(),
        decided: None,
        span: None,
        is_public: false,
        actor: None,
        members: Vec::new(),
    };
    refused(fair_play::decide(database, config, &known, (&decision, None), now).await);
}

async fn make_webhook_statements(config: &Config, database: &Database) {
    let now = Instant(0);
    let _ = webhooks::insert(config, "[]".to_owned(), now);
    let _ = webhooks::delete_old(config, now);
    let _ = webhooks::claim(config, "a", (1, true), now);
    refused(webhooks::record(database, &[], now).await);
    for (state, before) in [
        ("", ""),
        ("pending", ""),
        ("", "msg_1"),
        ("failed", "msg_1"),
    ] {
        let request = DeliveriesRequest {
            before: before.to_owned(),
            state: state.to_owned(),
            limit: 10,
        };
        refused(webhooks::read_page(database, config, &request).await);
    }
    refused(webhooks::retry(database, config, "msg_1", now).await);
}

/// Verifies that a function sent a statement.
#[track_caller]
fn refused<T>(result: Result<T, Error>) {
    assert!(matches!(result, Err(Error::StoreUnavailable(_))));
}

/// Returns the parts of the SQL in the source of the Worker, outside of tests. The values of `format!` end a part.
fn parts_in_source(folder: &Path, parts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            parts_in_source(&path, parts);
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let is_wrapper = ["d1.rs", "d1.js"]
            .iter()
            .any(|name| path.ends_with(format!("platform/{name}")))
            || path.ends_with("query_plans.rs")
            || path.ends_with("tests.rs");
        assert!(
            is_wrapper || !source.contains(".prepare("),
            "{}",
            path.display()
        );
        if is_wrapper || path.extension().is_none_or(|name| name != "rs") {
            continue;
        }
        let source = source.split("#[cfg(test)]\nmod ").next().unwrap();
        for literal in literals(source) {
            let words = [
                "SELECT ",
                "INSERT ",
                "UPDATE ",
                "DELETE ",
                "FROM ",
                "WHERE ",
                "ORDER BY ",
            ];
            if words.iter().any(|word| literal.contains(word)) {
                let mut rest = literal.as_str();
                while let Some((part, after)) = rest.split_once('{') {
                    parts.push(part.to_owned());
                    rest = after.split_once('}').unwrap().1;
                }
                parts.push(rest.to_owned());
            }
        }
    }
}

/// Returns the string literals of a Rust source, outside of comments.
fn literals(source: &str) -> Vec<String> {
    let lines = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let source = lines.collect::<Vec<_>>().join("\n").replace("'\"'", "");
    let (mut all, mut characters) = (Vec::new(), source.chars().peekable());
    while characters.any(|character| character == '"') {
        let mut literal = String::new();
        while let Some(character) = characters.next_if(|character| *character != '"') {
            if character != '\\' {
                literal.push(character);
            } else if characters.next_if_eq(&'\n').is_some() {
                while characters.next_if(|next| next.is_whitespace()).is_some() {}
            } else {
                literal.extend(characters.next());
            }
        }
        characters.next();
        all.push(literal);
    }
    all
}

/// Explains statements on the tables of the migrations: pairs of a statement and the steps of its plan.
fn plans(statements: &BTreeSet<String>) -> Vec<(String, Vec<String>)> {
    let script = "const { DatabaseSync } = require('node:sqlite')
        const { schema, statements } = JSON.parse(require('fs').readFileSync(0, 'utf8'))
        const database = new DatabaseSync(':memory:')
        database.exec(schema)
        const plan = (sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all().map(({ detail }) => detail)
        console.log(JSON.stringify(statements.map((sql) => [sql, plan(sql)])))";
    let input = json!({"schema": schema(&["archive", "journal"]), "statements": statements});
    serde_json::from_value(run_node(script, &input)).unwrap()
}

/// Returns the statements of the migrations of some databases, in their order.
pub(crate) fn schema(databases: &[&str]) -> String {
    let mut schema = String::new();
    for database in databases {
        let files = fs::read_dir(root().join("migrations").join(database)).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in files {
            schema += &fs::read_to_string(file).unwrap();
        }
    }
    schema
}

/// Runs a script in Node.js, which has SQLite. It reads its input from standard input. Returns what it writes.
pub(crate) fn run_node(script: &str, input: &Value) -> Value {
    let mut node = Command::new(npm("node"))
        .args(["--no-warnings", "-e", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = input.to_string();
    node.stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn no_query_scans_a_growing_table() {
    make_statements(1);
    make_statements(8);
    let statements = STATEMENTS.take();
    let mut parts = Vec::new();
    parts_in_source(&root().join("src"), &mut parts);
    let unknown = parts.iter().filter(|part| {
        let mut texts = statements.iter();
        !texts.any(|text| text.contains(part.trim()))
    });
    let unknown: Vec<_> = unknown.collect();
    assert!(
        unknown.is_empty(),
        "add them to make_statements: {unknown:#?}"
    );
    let mut scans = Vec::new();
    for (statement, steps) in plans(&statements) {
        let is_allowed = |step: &String| {
            let mut allowed = ALLOWED.iter();
            allowed.any(|(part, allowed, _)| statement.contains(part) && step == allowed)
        };
        let mut steps: Vec<_> = steps.into_iter().filter(|step| scans_table(step)).collect();
        steps.retain(|step| !is_allowed(step));
        scans.extend(steps.into_iter().map(|step| (step, statement.clone())));
    }
    assert!(scans.is_empty(), "{scans:#?}");
}

/// Returns whether a step of a plan reads a whole table that grows, or all rows of the deployment in it. A board has at
/// most as many places as the archive keeps, and there are at most 1,000 cases and 100 sources of sync runs.
fn scans_table(step: &str) -> bool {
    let mut words = step.split(' ');
    let (kind, table) = (words.next(), words.next().unwrap_or_default());
    let is_table = [
        "achievement_hidden",
        "achievement_tallies",
        "achievements_earned",
        "boards",
        "earned",
        "hidden",
        "tally",
        "journal",
        "deliveries",
        "earlier",
        "gifts",
        "registered",
        "later",
        "levels",
        "places",
        "refusals",
        "sums",
    ]
    .contains(&table);
    let is_search = kind == Some("SEARCH")
        && !step.ends_with("(site=?)")
        && !step.ends_with("(site=? AND shard=?)");
    is_table && !is_search
}
