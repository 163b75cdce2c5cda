//! `import --shift-to-now`.

use std::fs;

use jiff::{SignedDuration, Timestamp};

use crate::Tested;
use crate::command::run;
use crate::service::Service;

const LINES: &str = r#"{"at":"2018-03-12T00:00:00.000Z","user":"105","action":"bookmark","target":"post-53"}
{"at":"2018-09-01T21:16:55.083Z","user":"2293","action":"publish","target":"post-4134"}
{"user":"2293","action":"like","target":"now"}
{"at":"2018-09-01T21:16:55.082Z","user":"105","action":"publish","target":"post-4135"}
{"at":"soon","user":"105","action":"publish","target":"post-4136"}
"#;

fn assert_shifted(service: &Service, before: Timestamp) -> Tested {
    let at = |target: &str| -> Result<Timestamp, Box<dyn std::error::Error>> {
        let items = service.counted();
        let item = items
            .iter()
            .find(|item| item["target"] == target)
            .ok_or("missing")?;
        Ok(item["at"].as_str().ok_or("no time")?.parse()?)
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

const REFUSED: &str = "line 5: invalid-request: Invalid request: the time can't be moved \
                       (/at: is no instant like 2026-11-20T08:00:00Z)\n";

#[tokio::test(flavor = "multi_thread")]
async fn the_latest_line_of_a_file_becomes_now() -> Tested {
    let (service, before) = (Service::sound().await?, Timestamp::now());
    let file = tempfile::NamedTempFile::new()?;
    fs::write(&file, LINES)?;
    let run = run(
        &service,
        &["import", &file.path().to_string_lossy(), "--shift-to-now"],
        "",
    )?;
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), REFUSED));
    assert_shifted(&service, before)
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_input_is_kept_for_its_second_reading() -> Tested {
    let (service, before) = (Service::sound().await?, Timestamp::now());
    let run = run(&service, &["import", "-", "--shift-to-now"], LINES)?;
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), REFUSED));
    assert_shifted(&service, before)
}
