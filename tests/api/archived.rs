//! Boards that have closed, after Redis has forgotten them.
//!
//! Plain workerd has neither a database nor cron, so these run in wrangler.

use std::collections::BTreeSet;

use test_support::{Api, Value, WorkerBuilder, Wrangler, json, peer, peers, rest, shard_among};

use crate::client::Client;
use crate::clock::{day, noon, noon_zone};
use crate::site::patient;
use crate::store::Store;

struct Archive {
    wrangler: Wrangler,
    client: Client,
    store: Store,
}

fn start() -> Archive {
    start_with(|worker| worker)
}

fn start_with(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Archive {
    let worker = patient().var("TIMEZONE", noon_zone()).archive();
    let wrangler = configure(worker).start_wrangler();
    Archive {
        client: Client::new(wrangler.api()),
        store: Store::shared(wrangler.prefix()),
        wrangler,
    }
}

/// A day whose week, month and year may still go on.
const THEN: i64 = 2;

/// Those with equal points, as [`peers`]: a, b, c, and one who is hidden.
fn equals() -> [String; 4] {
    peers(["a", "b", "c", "hidden"])
}

impl Archive {
    async fn send(&self, activity: Value) -> Value {
        let answer = self.client.post("/v1/activity", &activity).await;
        answer.assert_status(200);
        answer.body
    }

    /// A like of that many days ago, also for a group.
    async fn like(&self, user: &str, target: &str, back: i64) -> Value {
        let like = json!({"user": user, "action": "like", "target": target, "at": noon(back),
            "groups": ["eu"]});
        self.send(like).await
    }

    /// What is asked about that day, and the answers; boards not from a cache.
    async fn answers(&self, unique: u32) -> Vec<Value> {
        let date = format!("date={}", day(THEN));
        let [a, b, c, hidden] = &equals();
        let mut answers = Vec::new();
        for group in ["", "&group=eu"] {
            let date = format!("{date}{group}");
            let mut paths = vec![
                format!("/v1/ranking/day?{date}&limit={unique}"),
                format!("/v1/ranking/day?{date}&offset=1&limit={unique}"),
                format!("/v1/ranking/day?{date}&offset=40&limit={unique}"),
                format!("/v1/ranking/day/users?ids={c},nobody,{a},{hidden},{b}&{date}"),
            ];
            for user in [a, b, c, "d", "e", hidden, "nobody"] {
                for around in [0, 1, 25] {
                    paths.push(format!(
                        "/v1/ranking/day/users/{user}?around={around}&{date}"
                    ));
                }
            }
            for path in paths {
                let answer = self.client.get(&path).await;
                assert_eq!(answer.status, 200, "{path}: {}", answer.text);
                answers.push(answer.body);
            }
        }
        answers
    }

    /// Has Redis forget the boards of days that have closed, and says how many there were: each
    /// is one, over however many shards.
    fn forget(&mut self) -> usize {
        let today = format!("bd:{}", day(0));
        let is_closed = |key: &str| key.starts_with("bd:") && !key.starts_with(&today);
        let mut forgotten = BTreeSet::new();
        for key in self.store.whole_keys() {
            if is_closed(rest(&key)) {
                self.store.run::<i64>("DEL", &[&key]);
                forgotten.insert(rest(&key).to_owned());
            }
        }
        forgotten.len()
    }

    /// A board of five of whom three are equals, and one more is hidden.
    async fn board(&self) {
        let [a, b, c, hidden] = &equals();
        for (user, targets) in [("d", 1), (b, 2), (hidden, 2), (a, 2), (c, 2), ("e", 3)] {
            for target in 0..targets {
                self.like(user, &format!("{target}"), THEN).await;
            }
        }
        // Ties anew: b goes behind the others.
        let undo = json!({"user": b, "action": "like", "target": "1", "undo": true});
        self.send(undo).await;
        self.like(b, "2", THEN).await;
        let verdict = json!({"hidden": true, "frozen": false, "reason": "r"});
        self.verdict(&verdict).await;
        let profile = json!({"name": "Ada", "avatar": "https://a.example/a.png"});
        let answer = self.client.put(&format!("/v1/users/{a}"), &profile).await;
        answer.assert_status(200);
    }

    async fn verdict(&self, verdict: &Value) {
        let path = format!("/v1/users/{}/moderation", peer("hidden"));
        self.client.put(&path, verdict).await.assert_status(200);
    }
}

#[tokio::test]
async fn a_closed_board_answers_the_same_after_redis_has_forgotten_it() {
    let mut archive = start();
    archive.board().await;
    let before = archive.answers(7).await;
    assert_eq!(
        (&before[0]["total"], &before[0]["entries"][0]["user"]["id"]),
        (&json!(5), &json!("e"))
    );
    archive.wrangler.tick().await;
    assert_eq!(archive.forget(), 2);
    assert_eq!(archive.answers(8).await, before);

    // What is late counts elsewhere.
    let late = archive.like(&peer("late"), "p", THEN).await;
    assert_eq!(
        (&late["outcome"], &late["standings"]["day"]["score"]),
        (&json!("counted"), &json!(0))
    );
    assert_eq!(late["standings"]["all"]["score"], 2);
    let adjustment = json!({"id": "1", "points": 5, "at": noon(THEN), "reason": "r"});
    let adjusted = archive
        .client
        .post(&format!("/v1/users/{}/adjustments", peer("a")), &adjustment)
        .await;
    assert_eq!(
        (&adjusted.body["outcome"], &adjusted.body["points"]),
        (&json!("counted"), &json!(5))
    );
    let undo = json!({"user": "e", "action": "like", "target": "0", "undo": true});
    assert_eq!(archive.send(undo).await["outcome"], "undone");
    archive.wrangler.tick().await;
    assert_eq!(archive.answers(9).await, before);
    assert_eq!(archive.forget(), 0);

    // Also once Redis has lost which are archived.
    for key in archive.store.whole_keys() {
        if rest(&key) == "a" {
            archive.store.run::<i64>("DEL", &[&key]);
        }
    }
    archive.wrangler.tick().await;
    archive.like(&peer("later"), "p", THEN).await;
    assert_eq!(archive.answers(10).await, before);

    who_is_hidden_is_on_no_archived_board(&archive, &before[0]).await;
    who_is_erased_is_on_no_archived_board(&archive).await;
}

async fn who_is_hidden_is_on_no_archived_board(archive: &Archive, before: &Value) {
    let shown = json!({"hidden": false, "frozen": false, "reason": "r"});
    archive.verdict(&shown).await;
    let board = archive.answers(11).await.remove(0);
    let ranks: Vec<_> = (board["entries"].as_array().expect("entries").iter())
        .map(|entry| entry["user"]["id"].as_str().expect("an id"))
        .collect();
    // They came before a and c.
    let [a, b, c, hidden] = &equals();
    assert_eq!(
        (ranks, &board["total"]),
        (vec!["e", hidden, a, c, b, "d"], &json!(6))
    );
    let own = json!({"hidden": true});
    let path = format!("/v1/users/{hidden}");
    archive.client.put(&path, &own).await.assert_status(200);
    assert_eq!(&archive.answers(12).await[0], before);
}

async fn who_is_erased_is_on_no_archived_board(archive: &Archive) {
    let date = format!("date={}", day(THEN));
    let d = format!("/v1/ranking/day/users/d?{date}");
    let before = archive.client.get(&d).await.body;
    let hidden = peer("hidden");
    for user in ["e", &hidden] {
        let erased = archive.client.delete(&format!("/v1/users/{user}")).await;
        erased.assert_status(204);
    }
    let after = archive.client.get(&d).await.body;
    assert_eq!((&before["rank"], &before["total"]), (&json!(5), &json!(5)));
    assert_eq!((&after["rank"], &after["total"]), (&json!(4), &json!(4)));
    let shown = json!({"hidden": false});
    archive
        .client
        .put(&format!("/v1/users/{hidden}"), &shown)
        .await
        .assert_status(200);
    assert_eq!(archive.client.get(&d).await.body, after);
}

#[tokio::test]
async fn a_board_that_some_shards_have_forgotten_is_told_whole_from_the_archive() {
    let mut archive = start_with(|worker| worker.json("SHARDS", json!(8)));
    archive.board().await;
    let winners = async |archive: &Archive, unique: u32| {
        let path = format!("/v1/ranking/day/winners?limit={unique}");
        archive.client.get(&path).await.body
    };
    let before = (archive.answers(7).await, winners(&archive, 7).await);
    archive.wrangler.tick().await;
    let then = format!("bd:{}", day(THEN));
    let mut held = archive.store.whole_keys();
    held.retain(|key| rest(key).starts_with(&then));
    // Of everybody and of the group, on several.
    assert!(held.len() >= 4, "{held:?}");
    for (unique, key) in (8..).zip(&held) {
        archive.store.run::<i64>("DEL", &[key]);
        let now = (
            archive.answers(unique).await,
            winners(&archive, unique).await,
        );
        assert_eq!(now, before, "without {key}");
    }
    // A shard that never had the board begins it, and brings it to the archive.
    let has_it = |user: &String| {
        let shard = format!(":{}}}", shard_among(user, 8));
        held.iter().any(|key| key.contains(&shard))
    };
    let mut users = (0..).map(|number| format!("late{number}"));
    let late = users.find(|user| !has_it(user)).expect("a user");
    let counted = archive.like(&late, "p", THEN).await;
    assert_eq!(counted["standings"]["day"]["score"], 2);
    archive.wrangler.tick().await;
    let total = archive.answers(40).await[0]["total"].clone();
    assert_eq!(total, 6);
    archive.forget();
    assert_eq!(archive.answers(41).await[0]["total"], 6);
}

#[tokio::test]
async fn a_board_is_archived_once_it_has_closed_and_again_when_it_changes() {
    let mut archive = start();
    archive.like("a", "1", THEN).await;
    archive.like("b", "1", THEN).await;
    archive.like("a", "today", 0).await;
    archive.wrangler.tick().await;
    // To zero, which moves no counter; and a user more.
    let undo = json!({"user": "a", "action": "like", "target": "1", "undo": true});
    assert_eq!(archive.send(undo).await["outcome"], "undone");
    archive.wrangler.tick().await;
    archive.like("c", "1", THEN).await;
    archive.wrangler.tick().await;
    let date = day(THEN);
    let before = archive
        .client
        .get(&format!("/v1/ranking/day?date={date}&limit=7"))
        .await;
    assert_eq!(before.body["total"], 2);
    archive.forget();
    let after = archive
        .client
        .get(&format!("/v1/ranking/day?date={date}&limit=8"))
        .await;
    assert_eq!(after.body, before.body);
    // Nothing of today is there, nor of a day that nothing happened on.
    let today = archive.store.key_of("a", &format!("bd:{}", day(0)));
    assert_eq!(archive.store.run::<i64>("DEL", &[&today]), 1);
    for back in [0, THEN + 1] {
        let path = format!("/v1/ranking/day?date={}&limit=9", day(back));
        assert_eq!(archive.client.get(&path).await.body["total"], 0);
    }
    let nobody = Client::new(Api::new(archive.wrangler.url()));
    nobody.get("/healthz").await.assert_status(200);
}

type Scores = Vec<(String, u64)>;

/// Ids, totals and scores of an answer about past boards.
fn rows(answer: &Value) -> Vec<(String, u64, Scores)> {
    let entry = |entry: &Value| {
        let user = entry["user"]["id"].as_str().expect("an id").to_owned();
        (user, entry["score"].as_u64().expect("a score"))
    };
    let boards = answer["boards"].as_array().expect("boards").iter();
    let row = |board: &Value| {
        let entries = board["entries"].as_array().expect("entries");
        let id = board["period"]["id"].as_str().expect("an id");
        let total = board["total"].as_u64().expect("a total");
        (id.to_owned(), total, entries.iter().map(entry).collect())
    };
    boards.map(row).collect()
}

#[tokio::test]
async fn winners_are_of_boards_that_closed_the_newest_first() {
    let mut archive = start();
    archive.board().await;
    // Nobody is on the board of the fourth day back any more; the others are of one like each.
    for back in [0, 1, 3, 4, 700] {
        archive.like("x", &format!("{back}"), back).await;
    }
    let undo = json!({"user": "x", "action": "like", "target": "4", "undo": true});
    archive.send(undo).await;
    let get = async |query: &str| {
        let path = format!("/v1/ranking/day/winners{query}");
        let answer = archive.client.get(&path).await;
        answer.assert_status(200);
        answer
    };
    let one = |back: i64| (day(back).to_string(), 1, vec![("x".to_owned(), 2)]);
    let [a, c] = peers(["a", "c"]);
    let three = [("e".to_owned(), 6), (a, 4), (c, 4)];
    let then = (day(THEN).to_string(), 5, three.to_vec());
    // What lies so far back is in the archive alone.
    let near = [one(1), then.clone(), one(3)];
    let all = [one(1), then.clone(), one(3), one(700)];
    let before = get("").await;
    assert_eq!(rows(&before.body), near);
    let control = Some("public, max-age=300, stale-if-error=86400");
    assert_eq!(before.header("cache-control"), control);
    archive.wrangler.tick().await;
    assert_eq!(rows(&get("?limit=13").await.body), all);
    assert_eq!(rows(&get("?limit=2").await.body), all[..2]);
    assert_eq!(
        rows(&get(&format!("?before={}", day(1))).await.body),
        all[1..]
    );
    assert_eq!(rows(&get("?group=eu&limit=3").await.body), all[..3]);
    assert_eq!(rows(&get("?group=us").await.body), []);
    let year = archive.client.get("/v1/ranking/all/winners").await;
    year.assert(200, json!({"boards": []}));

    archive.forget();
    let after = archive
        .client
        .get("/v1/ranking/day/winners?limit=14")
        .await
        .body;
    assert_eq!(rows(&after), all);
    assert_eq!(after["boards"][1], before.body["boards"][1]);
    let users = &after["boards"][1]["entries"];
    assert_eq!(users[1]["user"]["name"], "Ada");
}
