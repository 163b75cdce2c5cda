//! A site with large boards, put into Redis as the Worker would have written them.

use super::Question;
use crate::load::{get, name_of, post};
use crate::stand::{Parts, patient};
use redis::Connection;
use test_support::{Worker, json, shard_among};

const ORDERS: u64 = 1 << 30;
/// What the first of a board has; who comes n-th has an n-th of it, and everybody one.
const FIRST: u64 = 1_000_000;
/// Members in one command.
const CHUNK: usize = 1000;

/// A site and its Worker.
pub struct Site {
    /// How many are on each of its boards.
    pub members: usize,
    /// Over how many shards.
    pub shards: u32,
    /// Who answers.
    pub worker: Worker,
    random: fastrand::Rng,
    sent: u64,
}

impl Site {
    /// A site whose five boards have so many members.
    pub async fn fill(parts: &Parts, members: usize, shards: u32) -> Result<Self, String> {
        let prefix = format!("growth-{members}-{shards}");
        let builder = patient(&prefix).json("SHARDS", json!(shards));
        let worker = builder.store(&parts.gateway.url()).start();
        // The Worker names the boards of today.
        let like = json!({"user": name_of(0), "action": "like", "target": "first"});
        let answer = worker.api().post("/v1/activity", &like).await;
        if answer.status != 200 {
            return Err(format!("a like: {} {}", answer.status, answer.text));
        }
        let mut redis = parts.redis.connection();
        put(&mut redis, &prefix, members, shards).map_err(|error| error.to_string())?;
        let path = "/v1/ranking/year?limit=1";
        let first = worker.api().get(path).await;
        let told = (&first.body["total"], &first.body["entries"][0]["score"]);
        if told != (&json!(members), &json!(FIRST + 1)) {
            return Err(format!("a board of {members}: {}", first.text));
        }
        let random = fastrand::Rng::with_seed(7);
        Ok(Self {
            members,
            shards,
            worker,
            random,
            sent: 0,
        })
    }

    /// Writes the next request of a kind.
    pub fn request(&mut self, question: Question, bytes: &mut Vec<u8>) {
        bytes.clear();
        self.sent += 1;
        let anybody = name_of(self.random.usize(..self.members));
        let page = usize::try_from(self.sent % 300).unwrap_or_default();
        let deep = 100_000.min(self.members - 30);
        match question {
            Question::Write => post(bytes, self.sent, &anybody),
            Question::Top => get(bytes, &format!("/v1/ranking/year?limit=30&offset={page}")),
            Question::Deep => get(
                bytes,
                &format!("/v1/ranking/year?limit=30&offset={}", deep - page),
            ),
            Question::Standing => get(bytes, &format!("/v1/ranking/year/users/{anybody}?around=2")),
        }
    }
}

/// Fills the all-time board member by member, and copies it to the others.
fn put(
    redis: &mut Connection,
    prefix: &str,
    members: usize,
    shards: u32,
) -> redis::RedisResult<()> {
    let pattern = format!("{{{prefix}:*}}b*");
    let boards: Vec<String> = redis::cmd("KEYS").arg(pattern).query(redis)?;
    let mut rows = vec![Vec::with_capacity(CHUNK); shards as usize];
    let key = |shard: u32, board: &str| format!("{{{prefix}:{shard}}}{board}");
    let mut count = vec![0_u64; shards as usize];
    for member in 0..members {
        let name = name_of(member);
        let shard = shard_among(&name, shards);
        let order = &mut count[shard as usize];
        let points = 1 + FIRST / (member as u64 + 1);
        rows[shard as usize].push((points * ORDERS + ORDERS - 1 - *order, name));
        *order += 1;
        if rows[shard as usize].len() == CHUNK {
            add(redis, &key(shard, "ba:all"), &mut rows[shard as usize])?;
        }
    }
    for (shard, (mut rows, count)) in (0..shards).zip(rows.into_iter().zip(count)) {
        let all = key(shard, "ba:all");
        rows.push((count, "#".to_owned()));
        add(redis, &all, &mut rows)?;
        for board in boards.iter().filter_map(|key| key.split_once('}')) {
            if board.1 != "ba:all" {
                let copy = key(shard, board.1);
                redis::cmd("COPY")
                    .arg(&all)
                    .arg(copy)
                    .arg("REPLACE")
                    .exec(redis)?;
            }
        }
    }
    Ok(())
}

fn add(redis: &mut Connection, key: &str, rows: &mut Vec<(u64, String)>) -> redis::RedisResult<()> {
    let mut command = redis::cmd("ZADD");
    command.arg(key);
    for (score, member) in rows.drain(..) {
        command.arg(score).arg(member);
    }
    command.exec(redis)
}
