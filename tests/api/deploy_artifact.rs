//! The uploaded bundle: it contains no development data and accepts no development keys.

mod upload;

use test_support::{Api, Method, SERVICE_KEY, TOKEN, Value, Worker, WorkerBuilder, json, root};

use crate::client::{Client, JSON};
use crate::document::document;
use crate::problem::problem;
use crate::static_files::files;
use crate::store::Store;
use crate::token::sign::{claims, hmac, token};
use upload::{ENVIRONMENTS, Upload};

/// Secrets, which only `wrangler secret put` may set.
const SECRETS: [&str; 3] = ["UPSTASH_REDIS_REST_TOKEN", "SERVICE_KEYS", "JWT_SECRET"];

/// Returns the variables of `dev.vars` and the secrets of `.dev.vars`.
fn development_variables() -> Vec<(String, String)> {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap_or_default();
    let (shared, own) = (read("dev.vars"), read(".dev.vars"));
    let pair = |line: &str| {
        let pair = line.trim().split_once('=');
        let (name, value) = pair.filter(|(name, _)| !name.starts_with('#'))?;
        let value = value.trim().trim_matches('"');
        Some((name.trim().to_owned(), value.to_owned()))
    };
    let secret = |(name, _): &(String, String)| SECRETS.contains(&&**name);
    let own = own.lines().filter_map(pair).filter(secret);
    let all: Vec<_> = shared.lines().filter_map(pair).chain(own).collect();
    let known = ("SERVICE_KEYS".to_owned(), "dev-service-key".to_owned());
    assert!(all.contains(&known), "{all:?}");
    all
}

/// Returns every value of them that could be a key, also the elements of comma-separated lists.
fn development_keys() -> Vec<String> {
    let mut keys = Vec::new();
    for (_, value) in development_variables() {
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
fn upload_contains_no_development_data() {
    let mut words = development_keys();
    // Keys of the test harness, addresses and files of `make dev` and of tests, source maps, and
    // folders of this machine.
    let other_words = [
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
    words.extend(other_words.map(str::to_owned));
    let checkout = root().canonicalize().expect("a folder");
    words.push(checkout.to_str().expect("UTF-8").to_owned());
    // The modules of the elements are public, and so are their source maps.
    let map_words = ["sourceMappingURL", "\"sourcesContent\""];
    let own = files().into_iter();
    for (path, text) in own.filter(|(path, _)| !path.starts_with("/vendor/")) {
        let has_map = path.starts_with("/elements/") || path.starts_with("/immutable/");
        for word in &words {
            let is_expected = has_map && map_words.contains(&word.as_str());
            let is_found = text.contains(word) && !is_expected;
            assert!(!is_found, "{path}: {word:?} would be uploaded");
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
            let is_uploaded = contains(&form, word);
            assert!(!is_uploaded, "{environment}: {word:?} would be uploaded");
        }
        let names: Vec<&str> = modules.iter().map(|(name, _)| name.as_str()).collect();
        let is_bundle = matches!(names[..], [wasm, "index.js"] if wasm.ends_with(".wasm"));
        assert!(is_bundle, "{names:?}");
        for (name, content) in &modules {
            let same = std::fs::read(folder.join(name)).expect("a file") == *content;
            assert!(
                same,
                "{environment}: {name} differs from the uploaded module"
            );
        }
        assert_eq!(metadata["main_module"], "index.js");
        for binding in metadata["bindings"].as_array().expect("bindings") {
            let text = |field: &str| binding[field].as_str().expect("a text");
            let (name, kind) = (text("name"), text("type"));
            let is_secret = SECRETS.contains(&name) || kind.starts_with("secret");
            assert!(
                !is_secret,
                "{environment}: {name}, a {kind}, would be uploaded"
            );
        }
    }
}

#[test]
fn every_environment_binds_the_web_files() {
    for environment in ENVIRONMENTS {
        let bindings = Upload::to(environment).metadata["bindings"].clone();
        let files = json!({"name": "ASSETS", "type": "assets"});
        let bindings = bindings.as_array().expect("bindings");
        assert!(bindings.contains(&files), "{environment}: {bindings:?}");
    }
}

/// Starts the bundle that would be uploaded, with only the variables that `configure` adds.
fn start_bundle(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Worker {
    let bundle = Upload::to("production").folder;
    configure(Worker::builder().bundle(&bundle).without("SERVICE_KEYS")).start()
}

/// Returns every request that requires a key: method, path and body.
fn protected_requests() -> Vec<(Method, String, &'static str)> {
    let mut requests = Vec::new();
    for (path, item) in document().paths() {
        for method in ["get", "put", "post", "delete", "patch"] {
            let operation = &item[method];
            if !operation["responses"]["401"].is_object() {
                continue;
            }
            let has_body = operation["requestBody"].is_object();
            let body = if has_body { "{}" } else { "" };
            let method: Method = method.to_uppercase().parse().expect("a method");
            let path = match path {
                // Comparisons of given ids are public.
                "/v1/ranking/{period}/users" => "/v1/ranking/day/users?followed_by=42".to_owned(),
                "/v1/events/{event}/ranking/users" => {
                    "/v1/events/e/ranking/users?followed_by=42".to_owned()
                }
                // Public: a key adds the actors and all reasons.
                "/v1/rules" if method == Method::GET => continue,
                path => path.replace("{user}", "42").replace("{event}", "e"),
            };
            requests.push((method, path, body));
        }
    }
    assert!(requests.len() >= 5, "{requests:?}");
    requests
}

/// Sends every protected request and returns the statuses and bodies.
async fn send_all(worker: &Worker, key: Option<&str>) -> Vec<(u16, Value)> {
    let api = Api::new(worker.url());
    let client = Client::new(key.map_or_else(|| api.clone(), |key| api.with_key(key)));
    let mut responses = Vec::new();
    for (method, path, body) in protected_requests() {
        let response = client.send(method, &path, body, JSON).await;
        responses.push((response.status, response.body));
    }
    responses
}

/// The bundle runs without any variable, as directly after the first upload.
#[tokio::test]
async fn unconfigured_deployment_returns_500() {
    let settings =
        "UPSTASH_REDIS_REST_URL UPSTASH_REDIS_REST_TOKEN PREFIX STORE_TIMEOUT_MS".split(' ');
    let worker = start_bundle(|worker| settings.fold(worker, WorkerBuilder::without));
    let keys = development_keys();
    for key in keys.iter().map(|key| Some(&**key)).chain([None]) {
        for response in send_all(&worker, key).await {
            let detail = "UPSTASH_REDIS_REST_URL: is required and not set";
            let problem = problem("misconfigured", detail);
            assert_eq!(response, (500, problem));
        }
    }
}

#[tokio::test]
async fn deployment_without_secrets_rejects_writes() {
    let worker = start_bundle(|worker| worker);
    let keys = development_keys();
    for key in keys.iter().map(|key| Some(&**key)).chain([None]) {
        for response in send_all(&worker, key).await {
            let detail = "Neither service keys nor user tokens are configured, so this request is never allowed.";
            let problem = problem("unauthenticated", detail);
            assert_eq!(response, (401, problem));
        }
    }
    assert_eq!(Store::shared(worker.prefix()).keys(), [""; 0]);
}

#[tokio::test]
async fn deployment_rejects_development_keys() {
    let worker = start_bundle(|worker| {
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
        for (status, body) in send_all(&worker, Some(key)).await {
            assert_eq!(status, 401, "{key}: {body}");
            assert_eq!(body["type"], "/problems/unauthenticated", "{key}");
        }
    }
    assert_eq!(Store::shared(worker.prefix()).keys(), [""; 0]);
    let own = Client::new(Api::new(worker.url()).with_key("its-own-service-key"));
    own.set_name("42", "Ada").await;
}

#[tokio::test]
async fn deployment_has_no_development_routes() {
    let worker = start_bundle(|worker| worker);
    let client = Client::new(Api::new(worker.url()));
    let page = std::fs::read_to_string(root().join("web/docs.html")).expect("the page");
    assert_eq!(client.get("/docs").await.assert_status(200).text, page);
    let paths = "/dev /development.js /development.json /dev/token /token /token.html /test /__test \
        /debug /demo /demo/ /demo/community.jsonl /dev.vars /.dev.vars /.dev/single/imported /.env \
        /wrangler.toml /index.js /index.js.map /index.wasm /build/index.js /src/lib.rs /.git/HEAD";
    for path in paths.split(' ') {
        for method in [Method::GET, Method::POST] {
            client.send(method, path, "", &[]).await.assert_status(404);
        }
    }
}
