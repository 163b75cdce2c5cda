//! A deployment with large boards, written to Redis in the Worker's format.

use super::RequestKind;
use crate::load::{user_id, write_get, write_like};
use crate::stack::{Stack, succeeded, worker_builder};
use activity_rank_core::score::Layout;
use redis::Connection;
use test_support::{SERVICE_KEY, Worker, json, shard_among};

/// The points of the first user, less one. The n-th user has `TOP_POINTS / n + 1`.
const TOP_POINTS: u64 = 1_000_000;
/// The number of users per command.
const CHUNK: usize = 1000;

/// A deployment and its Worker.
pub struct Deployment {
    /// The number of users on each board.
    pub users: usize,
    /// The number of shards.
    pub shards: u32,
    /// The Worker.
    pub worker: Worker,
    random: fastrand::Rng,
    sent: u64,
}

impl Deployment {
    /// Starts a deployment with five boards of `users` users.
    pub async fn start(stack: &Stack, users: usize, shards: u32) -> Result<Self, String> {
        let prefix = format!("growth-{users}-{shards}");
        let builder = worker_builder(&prefix).json("SHARDS", json!(shards));
        let worker = builder.store(&stack.gateway.url()).start();
        // Makes the Worker create the boards of today.
        let like = json!({"user": user_id(0), "action": "like", "target": "first"});
        let response = worker.api().post("/v1/activity", &like).await;
        succeeded(&response)?;
        let mut redis = stack.redis.connection();
        fill_boards(&mut redis, &prefix, users, shards).map_err(|error| error.to_string())?;
        let path = "/v1/ranking/year?limit=1";
        let first = worker.api().get(path).await;
        let found = (&first.body["total"], &first.body["entries"][0]["score"]);
        if found != (&json!(users), &json!(TOP_POINTS + 1)) {
            return Err(format!("a board of {users}: {}", first.text));
        }
        let random = fastrand::Rng::with_seed(7);
        Ok(Self {
            users,
            shards,
            worker,
            random,
            sent: 0,
        })
    }

    /// Writes the next request of a kind into `bytes`.
    pub fn request(&mut self, kind: RequestKind, bytes: &mut Vec<u8>) {
        bytes.clear();
        self.sent += 1;
        let user = user_id(self.random.usize(..self.users));
        let page = usize::try_from(self.sent % 300).unwrap_or_default();
        let deep = 100_000.min(self.users - 30);
        match kind {
            RequestKind::Write => write_like(bytes, self.sent, &user, SERVICE_KEY),
            RequestKind::Top => {
                write_get(bytes, &format!("/v1/ranking/year?limit=30&offset={page}"))
            }
            RequestKind::Deep => write_get(
                bytes,
                &format!("/v1/ranking/year?limit=30&offset={}", deep - page),
            ),
            RequestKind::Standing => {
                write_get(bytes, &format!("/v1/ranking/year/users/{user}?around=2"))
            }
        }
    }
}

/// Fills the all-time board and copies it to the other boards.
fn fill_boards(
    redis: &mut Connection,
    prefix: &str,
    users: usize,
    shards: u32,
) -> redis::RedisResult<()> {
    let pattern = format!("{{{prefix}:*}}1b*");
    let boards: Vec<String> = redis::cmd("KEYS").arg(pattern).query(redis)?;
    let mut rows = vec![Vec::with_capacity(CHUNK); shards as usize];
    let key = |shard: u32, board: &str| format!("{{{prefix}:{shard}}}{board}");
    let mut counts = vec![0_u64; shards as usize];
    for user in 0..users {
        let id = user_id(user);
        let shard = shard_among(&id, shards);
        let order = &mut counts[shard as usize];
        let points = 1 + TOP_POINTS / (user as u64 + 1);
        let score = Layout::DEFAULT
            .pack(points, *order)
            .map_or(0, |score| score.0);
        rows[shard as usize].push((score, id));
        *order += 1;
        if rows[shard as usize].len() == CHUNK {
            add_rows(redis, &key(shard, "1ba:all"), &mut rows[shard as usize])?;
        }
    }
    for (shard, (mut rows, count)) in (0..shards).zip(rows.into_iter().zip(counts)) {
        let all = key(shard, "1ba:all");
        rows.push((count, "#".to_owned()));
        add_rows(redis, &all, &mut rows)?;
        for board in boards.iter().filter_map(|key| key.split_once('}')) {
            if board.1 != "1ba:all" {
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

fn add_rows(
    redis: &mut Connection,
    key: &str,
    rows: &mut Vec<(u64, String)>,
) -> redis::RedisResult<()> {
    let mut command = redis::cmd("ZADD");
    command.arg(key);
    for (score, member) in rows.drain(..) {
        command.arg(score).arg(member);
    }
    command.exec(redis)
}
