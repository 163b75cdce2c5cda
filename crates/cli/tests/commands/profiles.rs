//! `profiles`, which shares its pipeline with `import`.

use crate::TestResult;
use crate::command::run;
use crate::service::{Fault, Service};

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_sent_in_arrays_of_500() -> TestResult {
    let service = Service::with([Some(Fault::CutAfter)]).await?;
    let line = |n| format!("{{\"id\":\"{n}\",\"name\":\"Name {n}\"}}\n");
    let run = run(
        &service,
        &["profiles", "-", "--concurrency", "1"],
        &(0..1200).map(line).collect::<String>(),
    )?;
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(
        run.stdout
            .contains("  stored                         1,200\n"),
        "{}",
        run.stdout
    );
    let requests: Vec<_> = service
        .received()
        .into_iter()
        .map(|received| (received.route, received.items.len()))
        .collect();
    let route = "PUT /v1/users".to_owned();
    assert_eq!(
        requests,
        [500, 500, 500, 200].map(|items| (route.clone(), items))
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_profile_is_reported_with_its_line() -> TestResult {
    let service = Service::start().await?;
    let run = run(
        &service,
        &["profiles", "-"],
        "{\"id\":1,\"name\":\"Ada\"}\n{\"id\":2,\"name\":\"refused\"}\n",
    )?;
    assert_eq!(
        run.stderr,
        "line 2: invalid-request: invalid request: injected by the test\n"
    );
    assert_eq!(run.code, Some(1));
    Ok(())
}
