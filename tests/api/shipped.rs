//! What is deployed: nothing of development is in it, and nothing of development opens it.

mod upload;

use test_support::{Api, Method, SERVICE_KEY, TOKEN, Value, Worker, WorkerBuilder, json, root};

use crate::client::Client;
use crate::document::document;
use crate::files::files;
use crate::site::patient;
use crate::store::Store;
use crate::token::sign::{claims, hmac, token};
use upload::{ENVIRONMENTS, Upload};

/// Variables that only `wrangler secret put` may set.
const SECRETS: [&str; 3] = ["UPSTASH_REDIS_REST_TOKEN", "SERVICE_KEYS", "JWT_SECRET"];

/// Name and value of all in dev.vars, and of what is secret in a .dev.vars beside it.
fn development() -> Vec<(String, String)> {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap_or_default();
    let (common, own) = (read("dev.vars"), read(".dev.vars"));
    let pair = |line: &str| {
        let (name, value) = line
            .trim()
            .split_once('=')
            .filter(|(name, _)| !name.starts_with('#'))?;
        Some((
            name.trim().to_owned(),
            value.trim().trim_matches('"').to_owned(),
        ))
    };
    let secret = |(name, _): &(String, String)| SECRETS.contains(&&**name);
    let own = own.lines().filter_map(pair).filter(secret);
    let all: Vec<_> = common.lines().filter_map(pair).chain(own).collect();
    assert!(
        all.contains(&("SERVICE_KEYS".to_owned(), "dev-service-key".to_owned())),
        "{all:?}"
    );
    all
}

/// Everything in them that could open something: values, and each of several between commas.
fn development_keys() -> Vec<String> {
    let mut keys = Vec::new();
    for (_, value) in development() {
        keys.extend(value.split(',').map(|key| key.trim().to_owned()));
        keys.push(value);
    }
    keys.dedup();
    keys
}

fn contains(form: &[u8], word: &str) -> bool {
    form.windows(word.len())
        .any(|window| window == word.as_bytes())
}

#[test]
fn nothing_of_development_is_sent() {
    let mut words = development_keys();
    // The harness's own keys, servers of `make dev` and of tests, files of both, maps of the code,
    // folders of this machine.
    let others = [
        SERVICE_KEY,
        TOKEN,
        "//127.0.0.1",
        "127.0.0.1:",
        ":8787",
        ":8079",
        ":6390",
        "dev.vars",
        ".dev/",
        "make dev",
        "community.jsonl",
        "miniflare",
        "sourceMappingURL",
        "\"sourcesContent\"",
        "/.cargo/",
    ];
    words.extend(others.map(str::to_owned));
    let checkout = root().canonicalize().expect("a folder");
    words.push(checkout.to_str().expect("UTF-8").to_owned());
    for (path, text) in files() {
        for word in &words {
            assert!(!text.contains(word), "{path}: {word:?} would be sent");
        }
    }
    for environment in ENVIRONMENTS {
        let Upload {
            form,
            metadata,
            modules,
            folder,
        } = Upload::to(environment);
        for word in &words {
            assert!(
                !contains(&form, word),
                "{environment}: {word:?} would be sent"
            );
        }
        let names: Vec<&str> = modules.iter().map(|(name, _)| name.as_str()).collect();
        assert!(
            matches!(names[..], [wasm, "index.js"] if wasm.ends_with(".wasm")),
            "{names:?}"
        );
        for (name, content) in &modules {
            let file = std::fs::read(folder.join(name)).expect("a file");
            assert!(
                file == *content,
                "{environment}: {name} is not what would be sent"
            );
        }
        assert_eq!(metadata["main_module"], "index.js");
        for binding in metadata["bindings"].as_array().expect("bindings") {
            let name = binding["name"].as_str().expect("a name");
            assert!(
                !SECRETS.contains(&name),
                "{environment}: {name} would be sent"
            );
            let kind = binding["type"].as_str().expect("a type");
            assert!(
                !kind.starts_with("secret"),
                "{environment}: {name} is a {kind}"
            );
        }
    }
}

#[test]
fn every_environment_has_the_files_of_web() {
    for environment in ENVIRONMENTS {
        let bindings = Upload::to(environment).metadata["bindings"].clone();
        let files = json!({"name": "ASSETS", "type": "assets"});
        let bindings = bindings.as_array().expect("bindings");
        assert!(bindings.contains(&files), "{environment}: {bindings:?}");
    }
}

/// A Worker of the bundle that would be sent, with these variables alone.
fn shipped(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Worker {
    let bundle = Upload::to("production").folder;
    configure(patient().bundle(&bundle).without("SERVICE_KEYS")).start()
}

/// Every request that takes a key: method, path and body.
fn guarded() -> Vec<(Method, String, &'static str)> {
    let mut requests = Vec::new();
    for (path, item) in document().paths() {
        for method in ["get", "put", "post", "delete", "patch"] {
            let Some(_) = item[method]["security"].as_array() else {
                continue;
            };
            let body = if item[method]["requestBody"].is_object() {
                "{}"
            } else {
                ""
            };
            let method: Method = method.to_uppercase().parse().expect("a method");
            requests.push((method, path.replace("{user}", "42"), body));
        }
    }
    assert!(requests.len() >= 5, "{requests:?}");
    requests
}

async fn answers(worker: &Worker, key: Option<&str>) -> Vec<(u16, Value)> {
    let api = Api::new(worker.url());
    let client = Client::new(key.map_or_else(|| api.clone(), |key| api.with_key(key)));
    let mut answers = Vec::new();
    for (method, path, body) in guarded() {
        let json = [("content-type", "application/json")];
        let answer = client.send(method, &path, body, &json).await;
        answers.push((answer.status, answer.body));
    }
    answers
}

#[tokio::test]
async fn as_it_is_sent_it_does_nothing_for_anybody() {
    let worker = shipped(|worker| {
        let settings = [
            "UPSTASH_REDIS_REST_URL",
            "UPSTASH_REDIS_REST_TOKEN",
            "PREFIX",
            "STORE_TIMEOUT_MS",
        ];
        settings.into_iter().fold(worker, WorkerBuilder::without)
    });
    let keys = development_keys();
    for key in keys.iter().map(|key| Some(&**key)).chain([None]) {
        for answer in answers(&worker, key).await {
            let problem =
                crate::misconfigured::problem("UPSTASH_REDIS_REST_URL: is required and not set");
            assert_eq!(answer, (500, problem));
        }
    }
}

#[tokio::test]
async fn without_secrets_nobody_may_write() {
    let worker = shipped(|worker| worker);
    let keys = development_keys();
    for key in keys.iter().map(|key| Some(&**key)).chain([None]) {
        for answer in answers(&worker, key).await {
            let detail =
                "Neither service keys nor user tokens are configured, so nobody may do this.";
            let problem = json!({"type": "/problems/unauthenticated", "title": "The caller is not known",
                "status": 401, "detail": detail});
            assert_eq!(answer, (401, problem));
        }
    }
    assert_eq!(Store::shared(worker.prefix()).keys(), [""; 0]);
}

#[tokio::test]
async fn with_keys_of_its_own_it_takes_none_of_development() {
    let worker = shipped(|worker| {
        let worker = worker.var("SERVICE_KEYS", "its-own-service-key");
        worker.var("JWT_SECRET", "a secret of its own, 32 bytes and more")
    });
    let keys = development_keys();
    let signed = |secret: &String| {
        let header = json!({"alg": "HS256", "typ": "JWT"});
        token(header, claims("42"), hmac(secret))
    };
    let tokens: Vec<String> = keys.iter().map(signed).collect();
    for key in keys.iter().chain(&tokens) {
        for (status, body) in answers(&worker, Some(key)).await {
            assert_eq!(
                (status, &body["type"]),
                (401, &json!("/problems/unauthenticated")),
                "{key}: {body}"
            );
        }
    }
    assert_eq!(Store::shared(worker.prefix()).keys(), [""; 0]);
    let own = Client::new(Api::new(worker.url()).with_key("its-own-service-key"));
    own.put("/v1/users/42", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
}

#[tokio::test]
async fn it_has_no_page_and_no_file_of_development() {
    let worker = shipped(|worker| worker);
    let client = Client::new(Api::new(worker.url()));
    let page = std::fs::read_to_string(root().join("web/index.html")).expect("the page");
    assert_eq!(client.get("/").await.assert_status(200).text, page);
    let paths = [
        "/dev",
        "/development.js",
        "/development.json",
        "/dev/token",
        "/token",
        "/token.html",
        "/v1/token",
        "/test",
        "/__test",
        "/debug",
        "/demo",
        "/demo/",
        "/demo/community.jsonl",
        "/dev.vars",
        "/.dev.vars",
        "/.dev/redis/imported",
        "/.env",
        "/wrangler.toml",
        "/index.js",
        "/index.js.map",
        "/index.wasm",
        "/build/index.js",
        "/src/lib.rs",
        "/.git/HEAD",
    ];
    for path in paths {
        for method in [Method::GET, Method::POST] {
            client.send(method, path, "", &[]).await.assert_status(404);
        }
    }
}
