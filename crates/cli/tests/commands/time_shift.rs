//! `import --shift-to-now`.

use std::fs;

use jiff::{SignedDuration, Timestamp};

use crate::TestResult;
use crate::command::run;
use crate::service::Service;

const LINES: &str = r#"{"at":"2018-03-12T00:00:00.000Z","user":"105","action":"bookmark","target":"post-53"}
{"at":"2018-09-01T21:16:55.083Z","user":"2293","action":"publish","target":"post-4134"}
{"user":"2293","action":"like","target":"now"}
{"at":"2018-09-01T21:16:55.082Z","user":"105","action":"publish","target":"post-4135"}
{"at":"soon","user":"105","action":"publish","target":"post-4136"}
"#;

fn assert_shifted(service: &Service, before: Timestamp) -> TestResult {
    let at = |target: &str| -> Result<Timestamp, Box<dyn std::error::Error>> {
        let items = service.counted();
        let item = items
            .iter()
            .find(|item| item["target"] == target)
            .ok_or("missing")?;
        Ok(item["at"].as_str().ok_or("no `at`")?.parse()?)
    };
    let latest = at("post-4134")?;
    let slack = SignedDuration::from_millis(1);
    assert!(
        latest >= before - slack && latest <= Timestamp::now(),
        "{latest}"
    );
    assert_eq!(
        latest.duration_since(at("post-4135")?),
        SignedDuration::from_millis(1)
    );
    let gap = "2018-09-01T21:16:55.083Z"
        .parse::<Timestamp>()?
        .duration_since("2018-03-12T00:00:00Z".parse()?);
    assert_eq!(latest.duration_since(at("post-53")?), gap);
    assert!(
        service
            .counted()
            .iter()
            .any(|item| item["target"] == "now" && item.get("at").is_none())
    );
    assert_eq!(service.counted().len(), 4);
    Ok(())
}

const STDERR: &str = "line 5: invalid-request: The request is invalid: at: must be an RFC 3339 date and time such \
                      as 2026-11-20T08:00:00Z\n";

#[tokio::test(flavor = "multi_thread")]
async fn file_is_shifted_to_now() -> TestResult {
    let (service, before) = (Service::start().await?, Timestamp::now());
    let file = tempfile::NamedTempFile::new()?;
    fs::write(&file, LINES)?;
    let run = run(
        &service,
        &[
            "import",
            &file.path().to_string_lossy(),
            "--shift-to-now",
            "--skip-invalid",
        ],
        "",
    )?;
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), STDERR));
    assert_shifted(&service, before)
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_input_is_shifted_to_now() -> TestResult {
    let (service, before) = (Service::start().await?, Timestamp::now());
    let run = run(
        &service,
        &["import", "-", "--shift-to-now", "--skip-invalid"],
        LINES,
    )?;
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), STDERR));
    assert_shifted(&service, before)
}
