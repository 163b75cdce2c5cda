//! Rings, farms and bursts planted into communities, found by the SQL on SQLite.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::query_plans::{run_node, schema};
use activity_rank_core::calendar::Utc;
use activity_rank_core::config::Vars;
use activity_rank_core::fair_play::{Finding, Kind};
use serde_json::{Value, json};
use test_support::depth;

/// Adds rows of the journal and runs statements, for each step. Writes the rows of the statements of the last step.
const SCRIPT: &str = "const { DatabaseSync } = require('node:sqlite')
    const { schema, steps } = JSON.parse(require('fs').readFileSync(0, 'utf8'))
    const database = new DatabaseSync(':memory:')
    database.exec(schema)
    let results
    for (const { rows, statements } of steps) {
      database.exec('BEGIN')
      const insert = database.prepare('INSERT INTO journal (site, shard, id, user, entry) VALUES (?, 0, ?, ?, ?)')
      for (const row of rows) insert.run(...row)
      database.exec('COMMIT')
      results = statements.map(([sql, values]) => database.prepare(sql).all(...values).map(Object.values))
    }
    console.log(JSON.stringify(results))";

/// A gift, or without a receiver another activity.
#[derive(Clone)]
struct Gift {
    giver: String,
    receiver: Option<String>,
    at: i64,
}

/// A pseudo-random sequence: splitmix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn between(&mut self, first: i64, last: i64) -> i64 {
        first + (self.next() % (last - first + 1) as u64) as i64
    }

    fn choose<'a>(&mut self, all: &'a [String]) -> &'a str {
        &all[(self.next() % all.len() as u64) as usize]
    }
}

/// A community whose gifts end at an instant.
#[derive(Clone)]
struct Community {
    gifts: Vec<Gift>,
    end: i64,
    /// The members with activity in the window.
    members: Vec<String>,
    /// The authors who have received in the window.
    authors: Vec<String>,
}

/// The members who were planted.
struct Planted {
    kind: &'static str,
    members: BTreeSet<String>,
}

/// Reads the community of the demo until so many days before its end. A comment or a bookmark gives its author points,
/// once for each post.
fn community(days_before_end: i64) -> Community {
    let lines = include_str!("../../../demo/community.jsonl").lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let (mut authors, mut seen) = (BTreeMap::new(), BTreeSet::new());
    let (mut gifts, mut all) = (Vec::new(), Vec::new());
    for line in lines {
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        all.push((
            Instant::parse(&text("at")).unwrap().0,
            text("user"),
            text("action"),
            text("target"),
        ));
    }
    for (_, user, action, target) in &all {
        if action == "publish" {
            authors.entry(target.clone()).or_insert(user.clone());
        }
    }
    let end = all.last().unwrap().0 - days_before_end * DAY_MS;
    for (at, user, action, target) in all {
        if at > end || !seen.insert((user.clone(), action.clone(), target.clone())) {
            continue;
        }
        let author = authors.get(&target).filter(|author| **author != user);
        let receiver = author.filter(|_| action != "publish").cloned();
        gifts.push(Gift {
            giver: user,
            receiver,
            at,
        });
    }
    let (mut members, mut authors) = (BTreeSet::new(), BTreeSet::new());
    for gift in gifts.iter().filter(|gift| gift.at > end - 90 * DAY_MS) {
        members.insert(gift.giver.clone());
        authors.extend(gift.receiver.clone());
    }
    Community {
        gifts,
        end,
        members: members.into_iter().collect(),
        authors: authors.into_iter().collect(),
    }
}

impl Community {
    fn give(&mut self, giver: &str, receiver: &str, at: i64) {
        self.gifts.push(Gift {
            giver: giver.to_owned(),
            receiver: Some(receiver.to_owned()),
            at,
        });
    }

    /// Returns the rows of the journal for gifts, each of a post of its own; `undo` for entries that take them back.
    fn rows(&self, gifts: &[Gift], did: &str) -> Vec<Value> {
        let rows = gifts.iter().enumerate().map(|(number, gift)| {
            let post = format!("{}-{}-{number}", gift.giver, gift.at);
            let date = Date::numbered((gift.at / DAY_MS) as i32).unwrap();
            let received = gift.receiver.as_ref();
            let received = received.map_or_else(String::new, |user| format!("1a;;;{user}"));
            let entry = json!({"did": did, "at": gift.at.to_string(), "now": gift.at.to_string(), "date": date.to_string(),
                "action": "like", "mark": format!("like:{post}"), "points": "1", "applied": "1", "received": received});
            json!([deployment_id(&config()), format!("{did}-{post}"), gift.giver, entry.to_string()])
        });
        rows.collect()
    }

    fn detect(&self) -> Vec<Finding> {
        self.detect_steps(&[self.rows(&self.gifts, "count")]).0
    }

    /// Adds rows in steps. Returns the findings, the highest score first, and the kinds of pairs that were cut.
    fn detect_steps(&self, steps: &[Vec<Value>]) -> (Vec<Finding>, BTreeSet<String>) {
        let (config, thresholds, now) = (config(), FairPlay::default(), Instant(self.end));
        let [gifts, position] = additions(&config, &thresholds, now).map(|added| added.json());
        let add = |rows: &Vec<Value>| {
            let times = rows.len() / ROWS as usize + 1;
            let statements = [&gifts, &position].repeat(times);
            json!({"rows": rows, "statements": statements})
        };
        let mut steps: Vec<Value> = steps.iter().map(add).collect();
        let windows = WINDOWS.map(|days| (days, day_of(now) - i64::from(days)));
        let statements =
            windows.map(|(_, first)| candidates(&config, &thresholds, (first, day_of(now))).json());
        steps.push(json!({"rows": [], "statements": statements}));
        let input = json!({"schema": schema(&["journal"]), "steps": steps});
        let results = run_node(SCRIPT, &input);
        let database = Database::refusing();
        let (mut all, mut cut) = (Vec::new(), BTreeSet::new());
        for ((days, first), rows) in windows.into_iter().zip(results.as_array().unwrap()) {
            let candidates: Vec<Candidate> = database.rows(rows).decode().unwrap();
            let kinds = candidates.first().map_or("", |candidate| &candidate.cut);
            let kinds = kinds.split(',').filter(|kind| !kind.is_empty());
            cut.extend(kinds.map(str::to_owned));
            all.push(window(days, first, candidates));
        }
        let mut findings = detect(&all, &thresholds);
        findings.sort_by(|a, b| b.score.total_cmp(&a.score));
        (findings, cut)
    }

    /// Plants five rings, three bursts and two farms.
    fn plant(&mut self, random: &mut Random) -> Vec<Planted> {
        let (members, authors) = (self.members.clone(), self.authors.clone());
        let mut planted: Vec<Planted> = Vec::new();
        for ring in 0..5 {
            let mut users = BTreeSet::new();
            let size = random.between(3, 8) as usize;
            while users.len() < size {
                let user = match random.between(0, 1) {
                    0 => random.choose(&members).to_owned(),
                    _ => format!("ring{ring}-{}", users.len()),
                };
                if !planted.iter().any(|other| other.members.contains(&user)) {
                    users.insert(user);
                }
            }
            let period = random.between(20, 80);
            for giver in &users {
                for receiver in users.iter().filter(|receiver| *receiver != giver) {
                    let gifts = match random.between(0, 9) {
                        0 => 0,
                        _ => random.between(5, 14),
                    };
                    for _ in 0..gifts {
                        let at = self.end - random.between(0, period * DAY_MS);
                        self.give(giver, receiver, at);
                    }
                }
                for _ in 0..random.between(2, 15) {
                    let at = self.end - random.between(0, 80 * DAY_MS);
                    let author = random.choose(&authors);
                    if author != giver {
                        self.give(giver, author, at);
                    }
                }
                for _ in 0..random.between(0, 6) {
                    let at = self.end - random.between(0, 80 * DAY_MS);
                    let other = random.choose(&members);
                    if other != giver {
                        self.give(other, giver, at);
                    }
                }
            }
            planted.push(Planted {
                kind: "ring",
                members: users,
            });
        }
        for burst in 0..3 {
            let is_free = |user: &str| !planted.iter().any(|other| other.members.contains(user));
            let receiver = loop {
                let receiver = random.choose(&authors);
                if is_free(receiver) {
                    break receiver.to_owned();
                }
            };
            // The first one by one giver, the second by many, who also act elsewhere.
            let (givers, most) = match burst {
                0 => (1, 25),
                1 => (random.between(6, 14), 4),
                _ => (random.between(1, 2), 25),
            };
            let mut users = BTreeSet::from([receiver.clone()]);
            while users.len() <= givers as usize {
                let giver = random.choose(&members);
                if is_free(giver) {
                    users.insert(giver.to_owned());
                }
            }
            let begin = self.end - random.between(1, 85 * DAY_MS);
            for giver in users.iter().filter(|user| **user != receiver) {
                for _ in 0..random.between(most / 2, most) {
                    self.give(giver, &receiver, begin + random.between(0, 50_000));
                }
            }
            planted.push(Planted {
                kind: "burst",
                members: users,
            });
        }
        for farm in 0..2 {
            let receiver = loop {
                let receiver = random.choose(&authors);
                if !planted.iter().any(|other| other.members.contains(receiver)) {
                    break receiver.to_owned();
                }
            };
            let mut users = BTreeSet::from([receiver.clone()]);
            let received = self.gifts.iter().filter(|gift| {
                gift.receiver.as_ref() == Some(&receiver) && gift.at > self.end - 90 * DAY_MS
            });
            // A farm is worth it for its receiver only if it gives much beside the others.
            let received = received.count() as i64;
            // The second one has more accounts, with fewer gifts than a pair of a ring.
            let (least, gifts) = match farm {
                0 => (received / 24 + 3, (6, 20)),
                _ => (received / 2 + 6, (2, 4)),
            };
            for account in 0..random.between(least, least + 5) {
                let giver = format!("farm{farm}-{account}");
                for _ in 0..random.between(gifts.0, gifts.1) {
                    let at = self.end - random.between(0, 60 * DAY_MS);
                    self.give(&giver, &receiver, at);
                }
                if farm == 0 && random.between(0, 1) == 0 {
                    self.give(&giver, random.choose(&authors), self.end - DAY_MS);
                }
                users.insert(giver);
            }
            planted.push(Planted {
                kind: "farm",
                members: users,
            });
        }
        planted
    }
}

impl Planted {
    fn is_found_in(&self, finding: &Finding) -> bool {
        let common = finding
            .members
            .iter()
            .filter(|user| self.members.contains(*user));
        let common = common.count();
        common * 4 >= self.members.len() * 3 && common * 3 >= finding.members.len() * 2
    }
}

/// Returns the number of plantings that are not found completely, and the most false findings among the first ten of one.
fn run(seed: u64, build: impl Fn(&mut Random) -> Community) -> (usize, usize) {
    let (mut incomplete, mut most_false) = (0, 0);
    let mut random = Random(seed);
    for _ in 0..depth(2, 10) {
        let mut community = build(&mut random);
        let planted = community.plant(&mut random);
        let (findings, cut) = community.detect_steps(&[community.rows(&community.gifts, "count")]);
        let missed: Vec<_> = planted
            .iter()
            .filter(|planted| !findings.iter().any(|finding| planted.is_found_in(finding)))
            .collect();
        for planted in &missed {
            println!(
                "seed {seed}: missed {} {:?} {cut:?}",
                planted.kind, planted.members
            );
        }
        let is_false =
            |finding: &&Finding| !planted.iter().any(|planted| planted.is_found_in(finding));
        let first = findings.iter().take(10);
        let wrong: Vec<_> = first.filter(is_false).collect();
        for finding in &wrong {
            println!(
                "seed {seed}: false {:?} {:?} {}",
                finding.kind, finding.members, finding.score
            );
        }
        incomplete += usize::from(!missed.is_empty());
        most_false = most_false.max(wrong.len());
    }
    (incomplete, most_false)
}

#[track_caller]
fn assert_found(seed: u64, build: impl Fn(&mut Random) -> Community) {
    let (incomplete, most_false) = run(seed, build);
    assert!(incomplete <= depth(0, 1), "{incomplete}");
    assert!(most_false <= 1, "{most_false}");
}

#[test]
fn planted_groups_are_found() {
    assert_found(1, |random| community(random.between(0, 60)));
}

/// The thresholds were not chosen by the seed of the test before.
#[test]
fn planted_groups_of_other_seed_are_found() {
    assert_found(100, |random| community(random.between(0, 60)));
}

/// Six popular authors have 600 fans, a quarter of whom give to one of them only: more pairs than a search reads.
fn with_fans(random: &mut Random) -> Community {
    let mut community = community(random.between(0, 60));
    let authors = community.authors.clone();
    let popular: Vec<String> = (0..6).map(|number| format!("popular{number}")).collect();
    for fan in 0..600 {
        let author = &popular[fan % popular.len()];
        for _ in 0..random.between(4, 16) {
            let at = community.end - random.between(0, 80 * DAY_MS);
            community.give(&format!("fan{fan}"), author, at);
        }
        for _ in 0..(fan % 4).min(1) as i64 * random.between(5, 16) {
            let at = community.end - random.between(0, 80 * DAY_MS);
            community.give(&format!("fan{fan}"), random.choose(&authors), at);
        }
    }
    for author in &popular {
        for _ in 0..20 {
            let at = community.end - random.between(0, 80 * DAY_MS);
            let fan = format!("fan{}", random.between(0, 599));
            community.give(author, &fan, at);
        }
    }
    community
}

#[test]
fn planted_groups_among_fans_are_found() {
    assert_found(2, with_fans);
}

#[test]
fn fans_are_no_finding() {
    assert_eq!(with_fans(&mut Random(4)).detect(), []);
}

/// 2,000 made-up members choose 300 authors by a power law, as in large communities.
fn made_up(random: &mut Random) -> Community {
    let members: Vec<String> = (0..2000).map(|number| format!("m{number}")).collect();
    let authors: Vec<String> = members.iter().take(300).cloned().collect();
    let mut community = Community {
        gifts: Vec::new(),
        end: 20_000 * DAY_MS + DAY_MS / 2,
        members: members.clone(),
        authors,
    };
    for giver in &members {
        // Each has favorites.
        let mut favorites = Vec::new();
        for _ in 0..3 {
            let place = random.between(1, 300 * 300) as f64;
            let rank = (300.0 * 300.0 / place).min(300.0) as usize - 1;
            favorites.push(format!("m{rank}"));
        }
        for _ in 0..random.between(1, 14) {
            let place = random.between(1, 300 * 300) as f64;
            let rank = (300.0 * 300.0 / place).min(300.0) as usize - 1;
            let receiver = match random.between(0, 1) {
                0 => random.choose(&favorites).to_owned(),
                _ => format!("m{}", (rank + random.between(0, 40) as usize) % 300),
            };
            let at = community.end - random.between(0, 120 * DAY_MS);
            if *giver != receiver {
                community.give(giver, &receiver, at);
            }
        }
    }
    community
}

#[test]
fn planted_groups_of_large_community_are_found() {
    assert_found(3, made_up);
}

/// Each pair has fewer gifts than one of a small ring. Half of the members are known to the community.
#[test]
fn large_ring_of_few_gifts_is_found() {
    for (seed, gifts) in [(5, 4), (6, 2)] {
        let mut random = Random(seed);
        let mut community = made_up(&mut random);
        let known = community.members.clone();
        let ring: Vec<String> = (0..24)
            .map(|number| match number % 2 {
                0 => format!("ring{number}"),
                _ => known[500 + number].clone(),
            })
            .collect();
        for giver in &ring {
            for receiver in ring.iter().filter(|receiver| *receiver != giver) {
                for _ in 0..gifts {
                    let at = community.end - random.between(0, 25 * DAY_MS);
                    community.give(giver, receiver, at);
                }
            }
        }
        let planted = Planted {
            kind: "ring",
            members: ring.into_iter().collect(),
        };
        let findings = community.detect();
        assert!(planted.is_found_in(&findings[0]), "{findings:?}");
        assert_eq!(findings.len(), 1, "{findings:?}");
    }
}

#[test]
fn community_has_no_finding() {
    for days in (0..90).step_by(depth(45, 15)) {
        assert_eq!(community(days).detect(), [], "{days} days before the end");
    }
}

/// Half of the followers give only to this author.
#[test]
fn popular_author_is_no_finding() {
    for (seed, followers) in (0..).zip([10, 30, 60, 120, 240]).step_by(depth(2, 1)) {
        let mut community = community(0);
        let mut random = Random(seed);
        let authors = community.authors.clone();
        let author = random.choose(&authors).to_owned();
        for number in 0..followers {
            let follower = format!("follower{number}");
            for _ in 0..random.between(3, 12) {
                let at = community.end - random.between(0, 80 * DAY_MS);
                community.give(&follower, &author, at);
            }
            for _ in 0..(number % 2) * random.between(3, 12) {
                let at = community.end - random.between(0, 80 * DAY_MS);
                community.give(&follower, random.choose(&authors), at);
            }
        }
        assert_eq!(community.detect(), [], "{followers} followers");
    }
}

/// Six members give to each other as often as to others, and receive from others too.
#[test]
fn team_within_reason_is_no_finding() {
    let mut community = community(0);
    let mut random = Random(3);
    let (members, authors) = (community.members.clone(), community.authors.clone());
    let team: Vec<String> = (0..6).map(|number| format!("team{number}")).collect();
    for giver in &team {
        for receiver in team.iter().filter(|receiver| *receiver != giver) {
            for _ in 0..random.between(3, 7) {
                let at = community.end - random.between(0, 80 * DAY_MS);
                community.give(giver, receiver, at);
            }
        }
        for _ in 0..random.between(25, 35) {
            let at = community.end - random.between(0, 80 * DAY_MS);
            community.give(giver, random.choose(&authors), at);
            let at = community.end - random.between(0, 80 * DAY_MS);
            community.give(random.choose(&members), giver, at);
        }
    }
    assert_eq!(community.detect(), []);
}

#[test]
fn new_accounts_need_fewer_gifts_to_one_member() {
    let mut community = community(0);
    let authors = community.authors.clone();
    for number in 0..4 {
        let account = format!("new{number}");
        for (gift, author) in authors.iter().enumerate().take(12) {
            let receiver = if gift % 2 == 0 { "quiet" } else { author };
            community.give(&account, receiver, community.end - gift as i64 * DAY_MS);
        }
    }
    let findings = community.detect();
    let kinds: Vec<Kind> = findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::NewAccounts]);
    assert_eq!(
        findings[0].members,
        ["new0", "new1", "new2", "new3", "quiet"]
    );
}

/// Twelve members like posts of an author within seconds, one each.
fn burst_of_many(community: &Community) -> Vec<Gift> {
    let begin = community.end - 10 * DAY_MS + 1;
    let members = community.members.iter().take(12).enumerate();
    let gifts = members.map(|(second, giver)| Gift {
        giver: giver.clone(),
        receiver: Some("quiet".to_owned()),
        at: begin + second as i64 * 1000,
    });
    gifts.collect()
}

#[test]
fn burst_of_many_is_found_across_transactions() {
    let community = community(0);
    let burst = burst_of_many(&community);
    let (before, after) = burst.split_at(6);
    let rows = |gifts| community.rows(gifts, "count");
    let (findings, cut) =
        community.detect_steps(&[rows(&community.gifts), rows(before), rows(after)]);
    let kinds: Vec<Kind> = findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(
        (kinds, findings[0].members.len(), cut.len()),
        (vec![Kind::Burst], 13, 0)
    );
}

#[test]
fn burst_that_was_taken_back_is_no_finding() {
    let mut community = community(0);
    let mut bursts = burst_of_many(&community);
    for second in 0..12 {
        let at = community.end - 5 * DAY_MS + second * 1000;
        community.give("single", "other", at);
        bursts.push(community.gifts.pop().unwrap());
        // As many on the same day, hours apart.
        community.give("single", "other", at + 3_600_000 + second * 600_000);
    }
    let rows = [
        community.rows(&community.gifts, "count"),
        community.rows(&bursts, "count"),
        community.rows(&bursts, "undo"),
    ];
    let kinds = |steps| {
        let (findings, _) = community.detect_steps(steps);
        let kinds = findings.iter().map(|finding| finding.kind);
        kinds.filter(|kind| *kind == Kind::Burst).count()
    };
    assert_eq!([kinds(&rows[..2]), kinds(&rows)], [2, 0]);
}

/// Ten readers like the new post of an author within a minute, of forty on that day.
#[test]
fn readers_of_popular_author_are_no_burst() {
    let mut community = community(0);
    let begin = community.end - 10 * DAY_MS + 1;
    for (number, giver) in community.members.clone().iter().take(40).enumerate() {
        let number = number as i64;
        community.give(
            giver,
            "author",
            begin + number.min(10) * 5000 + (number - 10).max(0) * 600_000,
        );
    }
    assert_eq!(community.detect(), []);
}

fn config() -> Config {
    let vars = json!({
        "UPSTASH_REDIS_REST_URL": "https://store",
        "UPSTASH_REDIS_REST_TOKEN": "token",
        "SHARDS": 1,
        "CONTENT_PERIODS": "all",
        "FAIR_PLAY": {},
    });
    Config::parse(&Vars::new(vars.as_object().unwrap().clone()), Utc::named).unwrap()
}
