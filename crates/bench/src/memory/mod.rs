//! Measures the bytes in Redis per counted activity: in our layout with five and with two boards, and with
//! boards of content, and in the layout of `peers/posts.js`, each in its own redis-server.
//!
//! ```text
//! activities (community, month) ─► layouts (ours, posts) ─► usage ─► tables
//! ```
//!
//! It runs our script directly in Redis, without a Worker; the stored data is the same.

mod activities;
mod layouts;
mod usage;

use crate::options::number;
use crate::report::{add_row, table};
use activities::Activity;
use activity_rank_core::calendar::Period;
use comfy_table::Table;
use layouts::Boards;
use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};
use test_support::{RedisOptions, RedisServer};
use usage::Usage;

/// The result of a step; the error is any of Redis, files or numbers.
type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// The memory usage of one data set in one layout.
struct Measurement {
    data: &'static str,
    layout: &'static str,
    counted: u64,
    usage: Usage,
}

/// Measures and prints both tables.
pub fn run() -> Result<()> {
    let users = number("USERS", 100_000)?;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = since_1970?.as_millis();
    let now = i64::try_from(now)?;
    let mut all = Vec::new();
    for data in ["community", "month"] {
        let activities = match data {
            "community" => activities::community(now)?,
            _ => activities::month(users, now),
        };
        all.extend(measure(data, &activities, now)?);
    }
    println!("{}\n\n{}", totals_table(&all), key_types_table(&all));
    Ok(())
}

fn measure(data: &'static str, activities: &[Activity], now: i64) -> Result<[Measurement; 4]> {
    let [five, two, content] = [
        Boards {
            members: &Period::ALL,
            content: &[],
        },
        Boards {
            members: &[Period::Day, Period::Month],
            content: &[],
        },
        Boards {
            members: &Period::ALL,
            content: &[Period::Week, Period::All],
        },
    ];
    let measure = |layout, write: &dyn Fn(&RedisServer) -> Result<u64>| {
        eprintln!("memory: {data}, {} activities, {layout}", activities.len());
        let redis = RedisServer::spawn(RedisOptions::default());
        layouts::load_scripts(&redis)?;
        usage::disable_statistics(&redis);
        let before = usage::stable_used_memory(&redis)?;
        let counted = write(&redis)?;
        let usage = Usage::of(&redis, before)?;
        Ok::<_, Box<dyn Error>>(Measurement {
            data,
            layout,
            counted,
            usage,
        })
    };
    Ok([
        measure("ours, five boards", &|redis| {
            layouts::write_ours(redis, activities, five, now)
        })?,
        measure("ours, five boards, content of two periods", &|redis| {
            layouts::write_ours(redis, activities, content, now)
        })?,
        measure("ours, two boards", &|redis| {
            layouts::write_ours(redis, activities, two, now)
        })?,
        measure("posts, two boards", &|redis| {
            layouts::write_posts(redis, activities)
        })?,
    ])
}

/// Renders bytes per counted activity, by `MEMORY USAGE` and by `used_memory`.
fn totals_table(all: &[Measurement]) -> Table {
    let mut table = table([
        "data",
        "layout",
        "counted",
        "keys",
        "MEMORY USAGE",
        "used_memory",
    ]);
    for measurement in all {
        let key_types = || measurement.usage.key_types.values();
        let keys: u64 = key_types().map(|usage| usage.keys).sum();
        let bytes: u64 = key_types().map(|usage| usage.bytes).sum();
        let row = [
            measurement.data.to_owned(),
            measurement.layout.to_owned(),
            measurement.counted.to_string(),
            keys.to_string(),
            per_activity(bytes, measurement.counted),
            per_activity(measurement.usage.used, measurement.counted),
        ];
        add_row(&mut table, row);
    }
    table
}

/// Renders bytes per counted activity by type of key, by `MEMORY USAGE`.
fn key_types_table(all: &[Measurement]) -> Table {
    let mut table = table(["data", "layout", "what", "keys", "not compact", "bytes"]);
    for measurement in all {
        for (name, usage) in &measurement.usage.key_types {
            let row = [
                measurement.data.to_owned(),
                measurement.layout.to_owned(),
                (*name).to_owned(),
                usage.keys.to_string(),
                usage.not_compact.to_string(),
                per_activity(usage.bytes, measurement.counted),
            ];
            add_row(&mut table, row);
        }
    }
    table
}

fn per_activity(bytes: u64, counted: u64) -> String {
    format!("{:.1}", bytes as f64 / counted.max(1) as f64)
}
