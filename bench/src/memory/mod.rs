//! Measures how many bytes of Redis a counted activity takes: in our layout with five and with two
//! boards, and in that of `peers/posts.js`, each in a redis-server of its own.
//!
//! ```text
//! community, month (who did what) ─► ours, posts (written as they are) ─► usage ─► table
//! ```
//!
//! It runs our scripts straight in Redis, without a Worker: what lies there afterwards is the same.

mod community;
mod deed;
mod month;
mod ours;
mod posts;
mod usage;

use crate::table;
use activity_rank::calendar::Period;
use comfy_table::Table;
use deed::Deed;
use std::env;
use std::time::{SystemTime, UNIX_EPOCH};
use test_support::{RedisOptions, RedisServer};
use usage::Usage;

/// What lies in a redis-server and how much of it was counted.
struct Measured {
    data: &'static str,
    layout: &'static str,
    counted: u64,
    usage: Usage,
}

/// Measures and prints both tables.
pub fn run() -> Result<(), String> {
    let users = match env::var("USERS") {
        Ok(users) => users.parse().map_err(|_| format!("USERS={users}"))?,
        Err(_) => 100_000,
    };
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = since_1970.map_err(|error| error.to_string())?.as_millis();
    let now = i64::try_from(now).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for data in ["community", "month"] {
        let deeds = match data {
            "community" => community::deeds(now)?,
            _ => month::deeds(users, now),
        };
        all.extend(measure(data, &deeds, now)?);
    }
    println!("{}\n\n{}", totals(&all), kinds(&all));
    Ok(())
}

fn measure(data: &'static str, deeds: &[Deed], now: i64) -> Result<[Measured; 3], String> {
    let two = [Period::Day, Period::Month];
    let with = |layout, write: &dyn Fn(&RedisServer) -> Result<u64, String>| {
        eprintln!("memory: {data}, {} activities, {layout}", deeds.len());
        let redis = RedisServer::spawn(RedisOptions::default());
        ours::load(&redis)?;
        usage::leave_out_figures(&redis);
        let before = usage::settled(&redis)?;
        let counted = write(&redis)?;
        let usage = Usage::of(&redis, before)?;
        Ok::<_, String>(Measured {
            data,
            layout,
            counted,
            usage,
        })
    };
    Ok([
        with("ours, five boards", &|redis| {
            ours::write(redis, deeds, &Period::ALL, now)
        })?,
        with("ours, two boards", &|redis| {
            ours::write(redis, deeds, &two, now)
        })?,
        with("posts, two boards", &|redis| posts::write(redis, deeds))?,
    ])
}

/// Bytes a counted activity, by both measures.
fn totals(all: &[Measured]) -> Table {
    let mut table = table::of([
        "data",
        "layout",
        "counted",
        "keys",
        "MEMORY USAGE",
        "used_memory",
    ]);
    for one in all {
        let keys: u64 = one.usage.kinds.values().map(|kind| kind.keys).sum();
        let bytes: u64 = one.usage.kinds.values().map(|kind| kind.bytes).sum();
        let row = [
            one.data.to_owned(),
            one.layout.to_owned(),
            one.counted.to_string(),
            keys.to_string(),
            each(bytes, one.counted),
            each(one.usage.used, one.counted),
        ];
        table::add(&mut table, row);
    }
    table
}

/// Where they are, by MEMORY USAGE.
fn kinds(all: &[Measured]) -> Table {
    let mut table = table::of(["data", "layout", "what", "keys", "not compact", "bytes"]);
    for one in all {
        for (what, kind) in &one.usage.kinds {
            let row = [
                one.data.to_owned(),
                one.layout.to_owned(),
                (*what).to_owned(),
                kind.keys.to_string(),
                kind.spread.to_string(),
                each(kind.bytes, one.counted),
            ];
            table::add(&mut table, row);
        }
    }
    table
}

fn each(bytes: u64, counted: u64) -> String {
    format!("{:.1}", bytes as f64 / counted.max(1) as f64)
}
