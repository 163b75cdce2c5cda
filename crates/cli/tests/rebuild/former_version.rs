//! Conversion of the data of the version before, whose keys had no generation.

use redis::RedisResult;
use test_support::{Api, key_on, rest, shards};

use crate::TestResult;
use crate::cli::{assert_verified, rebuild};
use crate::journal_app::JournalApp;
use crate::observed::Observed;
use crate::stored::redis_command;

/// On a shard, renames keys, and replaces names in the index and in the set of archived boards by keys, as the version
/// before stored them.
fn convert_back(app: &JournalApp, shard: u32) -> RedisResult<()> {
    let script = "for _, key in ipairs(KEYS) do
        local tag, name = string.match(key, '^({[^}]*})1(%a.*)$')
        if key == ARGV[1] .. '1i' then
            for _, board in ipairs(redis.call('ZRANGE', key, 0, -1)) do
                if string.find(board, '^%a') then
                    redis.call('ZADD', key, redis.call('ZSCORE', key, board), ARGV[1] .. 'b' .. board)
                    redis.call('ZREM', key, board)
                end
            end
        elseif key == ARGV[1] .. 'a' then
            for _, board in ipairs(redis.call('SMEMBERS', key)) do
                redis.call('SADD', key, ARGV[1] .. 'b' .. board)
                redis.call('SREM', key, board)
            end
        end
        if name then redis.call('RENAME', key, tag .. name) end
    end
    local stored = redis.call('HGET', ARGV[1] .. 'p', '\\t')
    redis.call('HSET', ARGV[1] .. 'p', '\\t', (string.gsub(stored, '^v4 generation=1', 'v3')))";
    let (mut redis, tag) = (app.redis(), format!("{{{}:{shard}}}", app.endpoint.prefix));
    let keys: Vec<String> = redis_command(&mut redis, &["KEYS", &format!("{tag}*")])?;
    let count = keys.len().to_string();
    let mut words = vec!["EVAL", script, &count];
    words.extend(keys.iter().map(String::as_str));
    words.push(&tag);
    redis_command(&mut redis, &words)
}

/// The last activities are still in the outbox. A change of visibility was not complete.
#[tokio::test(flavor = "multi_thread")]
async fn rebuild_converts_data_of_former_version() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let (mut redis, archived) = (app.redis(), app.key("a"));
    let name = "d:2018-09-09";
    redis_command::<i64>(&mut redis, &["SADD", &archived, name])?;
    app.act("ada", "like", "last").await;
    let before = Observed::read(&app).await?;

    for shard in 0..shards() {
        convert_back(&app, shard)?;
    }
    let users = app.key("p");
    let stored: String = redis_command(&mut redis, &["HGET", &users, "\t"])?;
    assert!(stored.starts_with("v3 "), "{stored}");
    let pending = format!("{stored}\nh 7 nobody");
    redis_command::<i64>(&mut redis, &["HSET", &users, "\t", &pending])?;
    let refused = Api::new(&app.url).get("/v1/ranking/all").await;
    refused.assert_status(500);

    rebuild(&app, &[])?;
    Observed::read(&app).await?.assert_same(&before);
    assert_verified(&app)?;
    for name in app.data()?.keys().map(|key| rest(key)) {
        for shard in 0..shards() {
            let former = format!("{{{}:{shard}}}{name}", app.endpoint.prefix);
            if key_on(&app.endpoint.prefix, shard, name) != former {
                let exists: bool = redis_command(&mut redis, &["EXISTS", &former])?;
                assert!(!exists, "{former}");
            }
        }
    }
    let members: Vec<String> = redis_command(&mut redis, &["SMEMBERS", &archived])?;
    assert_eq!(members, [name]);
    let repeated = app.act("ada", "like", "last").await;
    assert_eq!(repeated.body["outcome"], "duplicate");
    Ok(())
}
