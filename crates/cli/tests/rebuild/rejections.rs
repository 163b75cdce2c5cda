//! Rebuilds that are rejected, and `--discard`.

use test_support::{Gateway, RedisOptions, RedisServer};

use crate::TestResult;
use crate::app::like;
use crate::cli::{command, fails, finish, rebuild, run, succeed};
use crate::journal_app::JournalApp;
use crate::observed::Observed;
use crate::stored::{is_of_rebuild, redis_command};

/// What a rebuild writes takes as much memory as the data, and its state stops runs for other purposes.
#[track_caller]
fn assert_nothing_left(app: &JournalApp) -> TestResult {
    let left = app.data()?.into_keys();
    let left: Vec<_> = left.filter(|key| is_of_rebuild(key)).collect();
    assert_eq!(left, Vec::<String>::new());
    Ok(())
}

/// The rejected rebuild changes no data. `--discard` keeps a complete audit log
/// with its entries of erased users.
#[tokio::test(flavor = "multi_thread")]
async fn data_missing_from_journal_needs_discard() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let before = Observed::read(&app).await?;
    let mut redis = app.redis();
    let (board, point) = (app.key_of("cyd", "ba:all"), (1_u64 << 30).to_string());
    redis_command::<f64>(&mut redis, &["ZINCRBY", &board, &point, "cyd"])?;
    let changed = Observed::read(&app).await?;

    let error = "nothing was changed: 1 value would be lost; use --discard to rebuild anyway";
    let rejected = fails(&app, &["rebuild"], 1, error)?;
    let difference = "board all all, cyd: ";
    assert!(rejected.stdout.contains(difference), "{rejected:?}");
    assert_nothing_left(&app)?;
    let repeated = app.send(like("ada", "p0", 0)).await;
    assert_eq!(repeated.body["outcome"], "duplicate");
    fails(&app, &["verify"], 1, "")?;
    Observed::read(&app).await?.assert_same(&changed);

    rebuild(&app, &["--discard"])?;
    let mut after = Observed::read(&app).await?;
    after.assert_same(&before);
    let audit = app.api.get("/v1/moderation?limit=100").await;
    let entries = audit.body["entries"].as_array().map_or(0, Vec::len);
    let erasures = audit.text.matches("\"erase\"").count();
    assert!(erasures >= 1 && entries > erasures, "{}", audit.text);
    // A user hidden before the rebuild keeps the number in the audit log.
    app.moderate("bob", false, false).await;
    let audit = app.api.get("/v1/moderation?limit=1").await;
    assert_eq!(audit.body["entries"][0]["user"]["id"], "bob");
    after = Observed::read(&app).await?;
    app.lose_data().await?;
    rebuild(&app, &[])?;
    Observed::read(&app).await?.assert_same(&after);
    Ok(())
}

/// Covers another prefix, other versions and an unknown key.
#[tokio::test(flavor = "multi_thread")]
async fn data_of_another_deployment_is_rejected() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.act("a", "like", "x").await;
    let mut redis = app.redis();
    let mut other = command(&app, &["rebuild"]);
    other.env("PREFIX", "other");
    finish(other)?.assert_error(2, "not other: set PREFIX to that of the service");
    let users = app.key("p");
    let stored: String = redis_command(&mut redis, &["HGET", &users, "\t"])?;
    for other in ["v5 else", "v1 else"] {
        redis_command::<i64>(&mut redis, &["HSET", &users, "\t", other])?;
        // The service rejects the request for the journal.
        let error = format!("was written by another version ({other})");
        fails(&app, &["rebuild"], 3, &error)?;
    }
    redis_command::<i64>(&mut redis, &["HSET", &users, "\t", &stored])?;
    let unknown = app.key("zzz:1");
    redis_command::<String>(&mut redis, &["SET", &unknown, "1"])?;
    for command in ["rebuild", "verify"] {
        let error = format!("unexpected data in the store: {unknown} is not a key of this version");
        let rejected = run(&app, &[command])?.assert_code(3);
        let cost =
            "The journal has up to 1 entry. The replay takes about 12 Redis commands of the store.";
        assert_eq!(rejected.stderr, format!("{cost}\nerror: {error}\n"));
        assert_nothing_left(&app)?;
    }
    redis_command::<i64>(&mut redis, &["DEL", &unknown])?;
    rebuild(&app, &[])?;
    Ok(())
}

/// A store that is full refuses the writes of the service too.
#[tokio::test(flavor = "multi_thread")]
async fn second_copy_needs_memory() -> TestResult {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let app = JournalApp::on(&gateway.url(), |worker| worker);
    app.send(like("ada", "a", 0)).await;
    let mut connection = redis.connection();
    let memory: String = redis_command(&mut connection, &["INFO", "memory"])?;
    let mut fields = memory.lines();
    let used = fields.find_map(|line| line.strip_prefix("used_memory:"));
    let maximum = used.unwrap_or_default().trim();
    let limit = |connection: &mut redis::Connection, bytes: &str| {
        redis_command::<String>(connection, &["CONFIG", "SET", "maxmemory", bytes])
    };
    limit(&mut connection, maximum)?;
    let full = "and the store has 0 MB left: raise maxmemory";
    for command in ["verify", "rebuild"] {
        fails(&app, &[command], 2, full)?;
    }
    let keys: Vec<String> = redis_command(&mut connection, &["KEYS", "*}r"])?;
    assert_eq!(keys, [""; 0]);
    let more = (maximum.parse::<u64>()? + 10_000_000).to_string();
    limit(&mut connection, &more)?;
    succeed(&app, &["rebuild"])?;
    limit(&mut connection, maximum)?;
    let skipped = run(&app, &["verify", "--skip-memory-check"])?;
    assert!(!skipped.stderr.contains("raise maxmemory"), "{skipped:?}");
    Ok(())
}
