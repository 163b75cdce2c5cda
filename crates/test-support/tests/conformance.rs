//! The parts of a conformance run, against a gateway of this checkout with a token of its own.

use redis::{Connection, cmd, pipe};
use test_support::conformance::{Finding, Need, clean, probe, table};
use test_support::{
    Fault, Forwarder, Gateway, RedisOptions, RedisServer, RestClient, StoreProxy, TOKEN, Worker,
    json,
};

const STORE_TOKEN: &str = "another-token";

/// A store, a client of it, and a direct connection.
struct Store {
    redis: RedisServer,
    gateway: Gateway,
    client: RestClient,
}

fn store() -> Store {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn_with_token(&redis.url(), STORE_TOKEN);
    let client = RestClient::connect(&gateway.url(), STORE_TOKEN).unwrap();
    Store {
        redis,
        gateway,
        client,
    }
}

fn connect(proxy: &StoreProxy) -> Connection {
    let url = format!("redis://127.0.0.1:{}", proxy.redis_port());
    redis::Client::open(url).unwrap().get_connection().unwrap()
}

fn missing(findings: &[Finding]) -> Vec<&'static str> {
    let missing = findings.iter().filter(|finding| finding.reply.is_err());
    missing.map(|finding| finding.feature).collect()
}

/// Encodings, the sync token, transactions and error texts reach a Worker unchanged.
#[test]
#[ignore = "soak"]
fn probe_through_the_proxy_finds_the_same() {
    let store = store();
    let proxy = StoreProxy::start(&store.client, "cf-proxied-");
    let url = format!("http://{}", proxy.address());
    let through = RestClient::connect(&url, TOKEN).unwrap();
    let findings = probe(&through, "cf-proxied-").unwrap();
    assert_eq!(missing(&findings), [""; 0], "{}", table(&findings));
    let refused = RestClient::connect(&url, "wrong-token").err().unwrap();
    assert!(refused.contains("status 401"), "{refused}");
}

#[test]
#[ignore = "soak"]
fn probe_reports_what_a_store_lacks() {
    let store = store();
    let forwarder = Forwarder::to(&store.gateway.url());
    forwarder.fail(|request| {
        let body = String::from_utf8_lossy(&request.body);
        let error = r#"[{"error":"ERR attempt to call field 'sha1hex' (a nil value)"}]"#;
        body.contains("sha1hex")
            .then(|| Fault::Respond(200, error.to_owned()))
    });
    let client = RestClient::connect(&forwarder.url(), STORE_TOKEN).unwrap();
    let findings = probe(&client, "cf-lacking-").unwrap();
    assert_eq!(missing(&findings), ["redis.sha1hex"]);
    let found = findings
        .iter()
        .find(|finding| finding.feature == "redis.sha1hex");
    assert_eq!(found.unwrap().need, Need::Required);
    let text = table(&findings);
    assert!(text.contains("NO   redis.sha1hex"), "{text}");
    assert!(
        text.contains("missing: 1 required, 0 useful, 0 for tests"),
        "{text}"
    );
}

#[test]
#[ignore = "soak"]
fn proxy_answers_redis_clients_like_redis() {
    let store = store();
    let mut direct = store.redis.connection();
    let mut proxied = connect(&StoreProxy::start(&store.client, ""));
    let bytes: Vec<u8> = (0..=255).collect();
    cmd("SET")
        .arg("{k}binary")
        .arg(&bytes)
        .exec(&mut direct)
        .unwrap();
    cmd("RPUSH")
        .arg("{k}list")
        .arg("a\r\nb")
        .arg("OK")
        .arg("ä")
        .exec(&mut direct)
        .unwrap();
    for words in [
        &["GET", "{k}binary"][..],
        &["GET", "{k}none"],
        &["LRANGE", "{k}list", "0", "-1"],
        &["DUMP", "{k}list"],
        &["TYPE", "{k}list"],
        &["INCRBY", "{k}number", "9223372036854775807"],
        &["SET", "{k}text", "OK"],
        &["GET", "{k}text"],
        &["SCAN", "0", "MATCH", "none*"],
        &["EVAL", "return {1, false, {'a', 'b'}}", "1", "{k}x"],
    ] {
        let run = |connection: &mut Connection| {
            cmd("DEL").arg("{k}number").exec(connection).unwrap();
            let mut command = cmd(words[0]);
            command.arg(&words[1..]).query::<redis::Value>(connection)
        };
        let (mut found, expected) = (run(&mut proxied).unwrap(), run(&mut direct).unwrap());
        // REST has no status replies.
        if let redis::Value::BulkString(text) = &found
            && matches!(expected, redis::Value::SimpleString(_))
        {
            found = redis::Value::SimpleString(String::from_utf8(text.clone()).unwrap());
        }
        assert_eq!(found, expected, "{words:?}");
    }
    let failed = cmd("HGETALL").arg("{k}text").exec(&mut proxied);
    assert_eq!(failed.unwrap_err().code(), Some("WRONGTYPE"));
    let mut pipeline = pipe();
    for number in 0..1200 {
        pipeline.cmd("ECHO").arg(number);
    }
    let numbers: Vec<u32> = pipeline.query(&mut proxied).unwrap();
    assert!(numbers.into_iter().eq(0..1200));
}

/// Other data of the store must survive every test, and a test that forgets `unique_prefix` must fail.
#[tokio::test]
#[ignore = "soak"]
async fn proxy_refuses_commands_on_keys_of_others() {
    let (store, proxy) = start("cf-mine-");
    let mut proxied = connect(&proxy);
    cmd("SET")
        .arg("{cf-mine-t1:0}a")
        .arg("1")
        .exec(&mut proxied)
        .unwrap();
    let refused = [
        &["FLUSHALL"][..],
        &["flushdb"],
        &["CONFIG", "SET", "maxmemory", "1"],
        &["SWAPDB", "0", "1"],
        &["GET", "cf-mine-t1"],
        &["hset", "{ar:0}p", "a", "b"],
        &["DEL", "{cf-mine-t1:0}a", "{ar:0}a"],
        &["RENAME", "{cf-mine-t1:0}a", "{ar:0}a"],
        &["EVAL", "return 1", "2", "{cf-mine-t1:0}a", "{ar:0}a"],
        &["EVAL", "return 1", "0"],
    ];
    for words in refused {
        let mut command = cmd(words[0]);
        let refused = command.arg(&words[1..]).exec(&mut proxied).unwrap_err();
        let text = refused.to_string();
        let is_refusal = text.contains("others may use") || text.contains("belong to this run");
        assert!(is_refusal, "{words:?}: {text}");
    }
    let left: Vec<String> = cmd("KEYS")
        .arg("*")
        .query(&mut store.redis.connection())
        .unwrap();
    assert_eq!(left, ["{cf-mine-t1:0}a"]);
    // The Worker's prefix does not begin with that of the run.
    let worker = Worker::builder()
        .store(&format!("http://{}", proxy.address()))
        .start();
    let like = json!({"user": "42", "action": "like", "target": "a"});
    worker
        .api()
        .post("/v1/activity", &like)
        .await
        .assert_status(503);
    std::thread::spawn(move || drop(store)).join().unwrap();
}

/// Returns a store and a proxy to it, for an async test, in which the client must not block.
fn start(prefix: &'static str) -> (Store, StoreProxy) {
    let start = move || {
        let store = store();
        let proxy = StoreProxy::start(&store.client, prefix);
        (store, proxy)
    };
    std::thread::spawn(start).join().unwrap()
}

#[test]
#[ignore = "soak"]
fn clean_removes_only_keys_of_the_run() {
    let store = store();
    let run = "cf-1a2b3c4d-";
    let mut direct = store.redis.connection();
    for number in 0..2500 {
        let key = format!("{{{run}t{}:0}}{number}", number % 7);
        cmd("SET").arg(key).arg("1").exec(&mut direct).unwrap();
    }
    let others = [
        "{ar:0}i",
        "cf-1a2b3c4d-x",
        "{cf-1a2b3c4e-t:0}i",
        "{cf-1a2b3c4d}i",
    ];
    for key in others {
        cmd("SET").arg(key).arg("1").exec(&mut direct).unwrap();
    }
    assert_eq!(clean(&store.client, run), Ok(2500));
    assert_eq!(clean(&store.client, run), Ok(0));
    let mut left: Vec<String> = cmd("KEYS").arg("*").query(&mut direct).unwrap();
    left.sort_unstable();
    let mut others = others.map(str::to_owned);
    others.sort_unstable();
    assert_eq!(left, others);
    for unsafe_prefix in ["", "ar", "cf-*******", "cf-[0-9]", "{cf-1a2b3c4d"] {
        assert!(
            clean(&store.client, unsafe_prefix).is_err(),
            "{unsafe_prefix}"
        );
    }
}
