//! The OpenAPI document as a contract: schemathesis makes requests of it, good ones and bad ones,
//! and holds every answer of the running Worker against it.
//!
//! `CASES` that there must be at least, `EXAMPLES` of each operation in a round, and `SEED`, from
//! the environment, make it a longer run or another one: `make schema`.

// Tests fail by panicking, and run on the host, where std has clocks.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod report;

use std::env::var;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use report::{Report, is_done, is_write};
use test_support::{SERVICE_KEY, Value, Worker, root, target};

/// The operations it describes.
const DOCUMENT: &str = include_str!("../../web/openapi.json");

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Runs schemathesis against the Worker: whether it is content, and what it said.
fn schemathesis(worker: &Worker, phases: &str, seed: u64, report: &Path) -> (bool, String) {
    let python = root().join(".tools/schemathesis/bin/python");
    assert!(
        python.exists(),
        "no {}: run `scripts/tools test`",
        python.display()
    );
    let output = Command::new(python)
        .args(["-B", "-m", "schemathesis.cli"])
        .args(["--config-file", "schemathesis.toml", "run"])
        .args(["../../web/openapi.json", "--url", worker.url()])
        .args(["--phases", phases, "--seed", &seed.to_string()])
        .args(["--max-examples", &number("EXAMPLES", 60).to_string()])
        // With more than one worker a seed does not repeat a run.
        .args(["--workers", "1", "--no-color"])
        .args(["--report", "ndjson", "--report-ndjson-path"])
        .arg(report)
        .current_dir(root().join("tests/schema"))
        .env("SERVICE_KEY", SERVICE_KEY)
        .env("HYPOTHESIS_STORAGE_DIRECTORY", target().join("hypothesis"))
        .output()
        .expect("schemathesis starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    (output.status.success(), said)
}

#[test]
fn every_answer_is_as_the_document_says() {
    let worker = Worker::builder().var("STORE_TIMEOUT_MS", "20000").start();
    let file = target().join("schema.ndjson");
    let (seed, least) = (number("SEED", 1), number("CASES", 1000));
    let mut report = Report::default();
    let mut phases = "examples,coverage,fuzzing,stateful";
    // In rounds: how many scenarios of several steps one makes is left to chance.
    for seed in seed..seed + 20 {
        let (content, said) = schemathesis(&worker, phases, seed, &file);
        let log = worker.log();
        let errors = log.lines().filter(|line| line.contains("\"level\""));
        let errors: Vec<&str> = errors.collect();
        assert!(content, "{said}\n{}", errors.join("\n"));
        report.add(&file);
        if report.count(|_| true, |_| true) >= least {
            break;
        }
        // The others make the same requests every time.
        phases = "fuzzing,stateful";
    }
    // Past the harness, which shows nothing of a test that succeeds.
    writeln!(std::io::stderr(), "{report}").expect("stderr");
    let any = report.count(|_| true, |_| true);
    assert!(any >= least, "{any} cases, not {least}");
    let failed = |status| status == 0 || status >= 500;
    assert_eq!(report.count(|_| true, failed), 0, "not answered, or 5xx");
    let writes = report.count(is_write, |_| true);
    let done = report.count(is_write, is_done);
    assert!(done * 100 >= writes * 30, "{done} of {writes} writes done");

    let document: Value = serde_json::from_str(DOCUMENT).expect("web/openapi.json is JSON");
    let paths = document["paths"].as_object().expect("paths");
    // There is no journal here, and a stream would never end.
    let bound = ["/v1/journal", "/v1/ranking/{period}/live"];
    for (path, item) in paths
        .iter()
        .filter(|(path, _)| !bound.contains(&path.as_str()))
    {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let described = item.get(method.to_lowercase()).is_some();
            assert!(
                !described || report.has_done(path, method),
                "{method} {path} never done"
            );
        }
    }
}
