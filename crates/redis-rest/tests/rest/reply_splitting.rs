//! Errors that hold line breaks of the request, which look like further replies on the connection.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use test_support::depth;

use crate::support::{Gateway, ok, private_redis, scaled_ms};

/// Lines that look like replies. The second one never ends.
const INJECTED: [&str; 7] = ["+a", "$100000", ":1", "*2", "-ERR b", "_", "%1"];

/// Returns commands whose errors hold a reply. The last two have nothing special in the line of the shebang.
fn splitting(injected: &str) -> Vec<Value> {
    let script = |shebang: &str| format!("#!{shebang}\nreturn 1");
    let shebangs = [
        r#"lua "a=\r\nINJECTED""#,
        r#"lua "a=\x0d\x0aINJECTED""#,
        r#"lua flags="a\r\nINJECTED\r\nINJECTED""#,
        r#""lua\r\nINJECTED""#,
    ];
    let shebangs = shebangs.map(|shebang| shebang.replace("INJECTED", injected));
    let mut commands = Vec::new();
    for shebang in &shebangs {
        let script = script(shebang);
        commands.push(json!(["EVAL", script, 0]));
        commands.push(json!(["EVAL_RO", script, 0]));
        commands.push(json!(["SCRIPT", "LOAD", script]));
        commands.push(json!(["FUNCTION", "LOAD", script]));
    }
    for library in [
        "#!lua name=x\nlocal s = \"a\\13\\10INJECTED\\13\\10\nreturn 1",
        "#!lua name=y\nlocal t = {}; t[\"a\\13\\10INJECTED\"]()",
    ] {
        let library = library.replace("INJECTED", injected);
        commands.push(json!(["FUNCTION", "LOAD", library]));
    }
    commands
}

/// Also while a script fails with line breaks in the text of its error: Redis replaces them.
#[tokio::test]
async fn surplus_replies_reach_no_other_request() {
    let redis = private_redis();
    let gateway = Gateway::with(|config| {
        config.redis_url = redis.url();
        config.readonly_scripts = true;
        config.connections = 1;
        config.timeout_ms = scaled_ms(500);
    });
    let gateway = Arc::new(gateway.await);
    let keys = depth(8, 50);
    for key in 0..keys {
        let set = json!(["SET", key.to_string(), key.to_string()]);
        assert_eq!(gateway.single(set).await, ok("OK"));
    }
    let failing = "return redis.error_reply('a\\r\\n+INJECTED') ";
    let loaded = gateway.single(json!(["SCRIPT", "LOAD", failing])).await;
    let evalsha = json!(["EVALSHA", loaded.1["result"], 0]);
    let done = Arc::new(AtomicBool::new(false));
    let readers = (0..keys).map(|key| {
        let (gateway, done, evalsha) = (Arc::clone(&gateway), Arc::clone(&done), evalsha.clone());
        tokio::spawn(async move {
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) {
                let key = key.to_string();
                assert_eq!(gateway.single(json!(["GET", key])).await, ok(key));
                let failed = gateway.single(evalsha.clone()).await;
                assert_eq!(failed.0, 400, "{}", failed.1);
                assert!(
                    failed.1.to_string().contains("a  +INJECTED"),
                    "{}",
                    failed.1
                );
                reads += 1;
            }
            reads
        })
    });
    let readers: Vec<_> = readers.collect();
    let end = Instant::now() + Duration::from_secs(depth(0, 600));
    while {
        for injected in INJECTED {
            for command in splitting(injected) {
                let (status, body) = gateway.single(command.clone()).await;
                assert!(status >= 400, "{command}: {status} {body}");
                let (status, body) = gateway.post_read_only("/", command.to_string()).await;
                assert!(status >= 400, "{command}: {status} {body}");
            }
        }
        Instant::now() < end
    } {}
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(reader.await.expect("a reader") > 0);
    }
}
