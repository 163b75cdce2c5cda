//! Scripts: NOSCRIPT, and the `allow-key-locking` flag of the hosted service.

use serde_json::{Value, json};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{TcpListener, TcpStream},
};

use crate::support::{Gateway, failed, ok, prefix, private_redis};

const NOSCRIPT: &str = "NOSCRIPT No matching script. Please use EVAL.";

/// Returns a unique script with this first line. It returns 42.
fn script(first_line: &str) -> String {
    format!("{first_line}\n-- {}\nreturn 42", prefix())
}

async fn sha1(gateway: &Gateway, text: &str) -> Value {
    let command = json!(["EVAL", "return redis.sha1hex(ARGV[1])", 0, text]);
    gateway.single(command).await.1["result"].clone()
}

#[tokio::test]
async fn unknown_script_returns_noscript() {
    let gateway = Gateway::start().await;
    let sha = "0".repeat(40);
    responds!(gateway.single(json!(["EVALSHA", sha, 0])) => failed(400, NOSCRIPT));
    responds!(gateway.pipeline(json!([["EVALSHA", sha, 0]])) => (200, json!([{ "error": NOSCRIPT }])));
}

#[tokio::test]
async fn key_locking_script_runs() {
    let gateway = Gateway::start().await;
    for first_line in [
        "#!lua flags=allow-key-locking",
        "#!lua flags=allow-key-locking,no-writes",
        "#!lua flags=no-writes,allow-key-locking",
        "\n#!lua flags=allow-key-locking",
    ] {
        let response = gateway.single(json!(["EVAL", script(first_line), 0])).await;
        assert_eq!(response, ok(42), "{first_line:?}");
    }
    let text = script("#!lua flags=allow-key-locking,no-writes");
    let sha = sha1(&gateway, &text).await;
    responds!(gateway.single(json!(["EVAL_RO", text, 0])) => ok(42));
    responds!(gateway.single(json!(["EVALSHA_RO", sha, 0])) => ok(42));
}

#[tokio::test]
async fn other_script_flags_stay_effective() {
    let gateway = Gateway::start().await;
    let writes = "#!lua flags=allow-key-locking,no-writes\nreturn redis.call('SET', KEYS[1], 1)";
    let (status, body) = gateway.single(json!(["EVAL", writes, 1, prefix()])).await;
    let error = body["error"].as_str().unwrap();
    assert_eq!(status, 400);
    let denied = "ERR Write commands are not allowed from read-only scripts.";
    assert!(error.starts_with(denied), "{error}");
}

#[tokio::test]
async fn rewritten_script_keeps_line_numbers() {
    let gateway = Gateway::start().await;
    let script = "#!lua flags=allow-key-locking\n\nerror('here')";
    let (_, body) = gateway.single(json!(["EVAL", script, 0])).await;
    let error = body["error"].as_str().unwrap();
    assert!(error.contains("user_script:3: here"), "{body}");
}

#[tokio::test]
async fn rewritten_script_runs_by_original_sha() {
    let gateway = Gateway::start().await;
    let text = script("#!lua flags=allow-key-locking");
    let sha = sha1(&gateway, &text).await;
    let call = json!(["EVALSHA", sha, 0]);
    responds!(gateway.single(call.clone()) => failed(400, NOSCRIPT));
    responds!(gateway.single(json!(["EVAL", text, 0])) => ok(42));
    let result = json!({"result": 42});
    responds!(gateway.single(call.clone()) => (200, result.clone()));
    responds!(gateway.pipeline(json!([call])) => (200, json!([result])));
    responds!(gateway.multi_exec(json!([call])) => (200, json!([result])));
    let upper = sha.as_str().unwrap().to_uppercase();
    responds!(gateway.single(json!(["EVALSHA_RO", upper, 0])) => (200, result));
}

#[tokio::test]
async fn script_load_returns_original_sha() {
    let gateway = Gateway::start().await;
    for path in ["/", "/pipeline", "/multi-exec"] {
        let text = script("#!lua flags=allow-key-locking");
        let sha = sha1(&gateway, &text).await;
        let load = json!(["SCRIPT", "LOAD", text]);
        let (body, loaded) = match path {
            "/" => (load, ok(&sha)),
            _ => (json!([load]), (200, json!([{ "result": sha }]))),
        };
        responds!(gateway.post(path, body.to_string()) => loaded);
        let exists = json!(["SCRIPT", "EXISTS", sha, "0".repeat(40)]);
        responds!(gateway.single(exists) => ok(json!([1, 0])));
        responds!(gateway.single(json!(["EVALSHA", sha, 0])) => ok(42));
    }
}

#[tokio::test]
async fn eval_after_noscript_works_on_new_gateway() {
    let first = Gateway::start().await;
    let text = script("#!lua flags=allow-key-locking");
    let sha = sha1(&first, &text).await;
    first.single(json!(["EVAL", text, 0])).await;
    let second = Gateway::start().await;
    responds!(second.single(json!(["EVALSHA", sha, 0])) => failed(400, NOSCRIPT));
    responds!(second.single(json!(["EVAL", text, 0])) => ok(42));
    responds!(second.single(json!(["EVALSHA", sha, 0])) => ok(42));
}

#[tokio::test]
async fn script_flush_removes_rewritten_scripts() {
    // Not the shared Redis, because SCRIPT FLUSH affects other tests.
    let redis = private_redis();
    let gateway = Gateway::on(&redis.url()).await;
    let text = script("#!lua flags=allow-key-locking");
    let (_, body) = gateway.single(json!(["SCRIPT", "LOAD", text])).await;
    let sha = &body["result"];
    let exists = json!(["SCRIPT", "EXISTS", sha]);
    responds!(gateway.single(exists.clone()) => ok([1]));
    responds!(gateway.single(json!(["SCRIPT", "FLUSH"])) => ok("OK"));
    responds!(gateway.single(exists.clone()) => ok([0]));
    let call = json!(["EVALSHA", sha, 0]);
    responds!(gateway.single(call.clone()) => failed(400, NOSCRIPT));
    let results = json!([{"result": 42}, {"result": 42}, {"result": [1]}]);
    let commands = json!([["EVAL", text, 0], call, exists]);
    responds!(gateway.pipeline(commands) => (200, results));
}

/// Forwards connections to the shared Redis, and changes the first digit of its version to 6.
async fn redis_6_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let redis = test_support::redis().url().replace("redis://", "");
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(&redis).await.unwrap();
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            tokio::spawn(async move { copy(&mut from_client, &mut to_server).await });
            tokio::spawn(async move {
                let mut buffer = vec![0; 65_536];
                while let Ok(length @ 1..) = from_server.read(&mut buffer).await {
                    let reply = &mut buffer[..length];
                    let field = b"version\r\n$";
                    if let Some(at) = reply.windows(field.len()).position(|found| found == field) {
                        let length_line = at + field.len();
                        let end = reply[length_line..].iter().position(|byte| *byte == b'\n');
                        reply[length_line + end.unwrap() + 1] = b'6';
                    }
                    if to_client.write_all(reply).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

/// Redis before 7.0 rejects every shebang line, also with flags that later versions know.
#[tokio::test]
async fn shebang_is_removed_for_redis_6() {
    let url = redis_6_url().await;
    let gateway = Gateway::with(|config| config.redis_url = url).await;
    for first_line in [
        "#!lua flags=no-writes",
        "#!lua flags=no-writes,allow-key-locking",
        "#!lua",
    ] {
        let text = script(first_line);
        let sha = sha1(&gateway, &text).await;
        let sent = text.replacen(first_line, "", 1);
        let sent_sha = sha1(&gateway, &sent).await;
        let loaded = gateway.single(json!(["SCRIPT", "LOAD", text])).await;
        assert_eq!(loaded, ok(&sha), "{first_line}");
        for command in [
            json!(["EVALSHA", sha, 0]),
            json!(["EVAL", text, 0]),
            json!(["EVAL_RO", text, 0]),
            json!(["EVALSHA", sent_sha, 0]),
        ] {
            responds!(gateway.single(command) => ok(42));
        }
        responds!(gateway.single(json!(["SCRIPT", "EXISTS", sha, sent_sha])) => ok([1, 1]));
    }
}

#[tokio::test]
async fn key_locking_function_runs() {
    let gateway = Gateway::start().await;
    let name = prefix();
    let library = format!(
        "#!lua name={name}\nredis.register_function{{function_name='{name}', \
         callback=function() return 42 end, flags={{'allow-key-locking', 'no-writes'}}}}"
    );
    responds!(gateway.single(json!(["FUNCTION", "LOAD", library])) => ok(&name));
    responds!(gateway.single(json!(["FCALL_RO", name, 0])) => ok(42));
    responds!(gateway.single(json!(["FUNCTION", "DELETE", name])) => ok("OK"));
}
