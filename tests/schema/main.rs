//! Tests the Worker against its OpenAPI document with schemathesis, which generates valid and invalid
//! requests and checks every response.
//!
//! The environment variables `CASES` (the minimum number of requests), `EXAMPLES` (per operation and
//! round) and `SEED` change the run: `make schema`.

// Tests fail by panicking, and run on the host, where std has clocks.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod report;

use std::env::var;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use report::{Report, is_success, is_write};
use test_support::{SERVICE_KEY, Value, Worker, json, root, target};

const DOCUMENT: &str = include_str!("../../web/openapi.json");

/// Returns a number from an environment variable.
fn number(name: &str, default: u64) -> u64 {
    var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Runs schemathesis against the Worker. Returns whether it passed, and its output.
fn schemathesis(worker: &Worker, phases: &str, seed: u64, report: &Path) -> (bool, String) {
    let python = root().join(".tools/schemathesis/bin/python");
    assert!(
        python.exists(),
        "{} is missing: run `scripts/tools test`",
        python.display()
    );
    let output = Command::new(python)
        .args(["-B", "-m", "schemathesis.cli"])
        .args(["--config-file", "schemathesis.toml", "run"])
        .args(["../../web/openapi.json", "--url", worker.url()])
        .args(["--phases", phases, "--seed", &seed.to_string()])
        .args(["--max-examples", &number("EXAMPLES", 60).to_string()])
        // A run is reproducible by its seed only with a single worker.
        .args(["--workers", "1", "--no-color"])
        .args(["--report", "ndjson", "--report-ndjson-path"])
        .arg(report)
        .current_dir(root().join("tests/schema"))
        .env("SERVICE_KEY", SERVICE_KEY)
        .env("HYPOTHESIS_STORAGE_DIRECTORY", target().join("hypothesis"))
        .output()
        .expect("schemathesis starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let output_text = text(&output.stdout) + &text(&output.stderr);
    (output.status.success(), output_text)
}

/// Defines the event that hooks.py names.
fn define_event(worker: &Worker) {
    let event =
        json!({"title": "Hackathon", "from": "9000-01-01T00:00:00Z", "to": "9000-01-02T00:00:00Z"});
    let api = worker.api();
    let put = async { api.put("/v1/events/defined", &event).await };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(put).assert_status(200);
}

#[test]
fn responses_match_openapi_document() {
    // All periods, because the document allows each.
    let periods = "day,week,month,year,all";
    let worker = Worker::builder().var("CONTENT_PERIODS", periods);
    // `on` too, because the document allows it for each action.
    let actions = ["visit", "like", "bookmark", "follow", "publish"];
    let rules = actions.map(|action| (action.to_owned(), json!({"on": true})));
    let worker = worker.json("RULES", Value::Object(rules.into_iter().collect()));
    let worker = worker.json("PLAYGROUND", json!(true)).start();
    define_event(&worker);
    let file = target().join("schema.ndjson");
    let (seed, min_cases) = (number("SEED", 1), number("CASES", 1000));
    let mut report = Report::default();
    let mut phases = "examples,coverage,fuzzing,stateful";
    // Several rounds, because the number of stateful scenarios in a round is random.
    for seed in seed..seed + 20 {
        let (passed, output) = schemathesis(&worker, phases, seed, &file);
        let log = worker.log();
        let errors = log.lines().filter(|line| line.contains("\"level\""));
        let errors: Vec<&str> = errors.collect();
        assert!(passed, "{output}\n{}", errors.join("\n"));
        report.add(&file);
        if report.count(|_| true, |_| true) >= min_cases {
            break;
        }
        // The other phases make the same requests in every round.
        phases = "fuzzing,stateful";
    }
    // Directly to stderr, because the test harness hides the output of a test that passes.
    writeln!(std::io::stderr(), "{report}").expect("stderr");
    let cases = report.count(|_| true, |_| true);
    assert!(cases >= min_cases, "{cases} cases, not {min_cases}");
    let failed = |status| status == 0 || status >= 500;
    assert_eq!(
        report.count(|_| true, failed),
        0,
        "requests without a response or with 5xx"
    );
    let writes = report.count(is_write, |_| true);
    let successful = report.count(is_write, is_success);
    assert!(
        successful * 100 >= writes * 30,
        "{successful} of {writes} writes succeeded"
    );

    let document: Value = serde_json::from_str(DOCUMENT).expect("web/openapi.json is JSON");
    let paths = document["paths"].as_object().expect("paths");
    // Plain workerd has no journal, no webhooks, no credentials and no live boards, and this one no visitors.
    let unavailable = |path: &str| {
        let starts = [
            "/v1/webhooks/",
            "/v1/issuer",
            "/v1/cases",
            "/v1/visitors",
            "/v1/content/counts",
            "/v1/syncs",
            "/v1/token",
        ];
        let ends = [
            "/journal",
            "/live",
            "/recount",
            "/credential",
            "/preview",
            "/achievements/{achievement}",
        ];
        starts.iter().any(|start| path.starts_with(start))
            || ends.iter().any(|end| path.ends_with(end))
    };
    for (path, item) in paths.iter().filter(|(path, _)| !unavailable(path)) {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let described = item.get(method.to_lowercase()).is_some();
            assert!(
                !described || report.has_succeeded(path, method),
                "{method} {path} never succeeded"
            );
        }
    }
}
