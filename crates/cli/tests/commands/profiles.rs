//! `profiles`, which shares its pipeline with `import`.

use crate::TestResult;
use crate::command::run;
use crate::service::{Fault, Service};

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_sent_in_arrays_of_500() -> TestResult {
    let service = Service::with([Some(Fault::CutAfter)]).await?;
    let line = |n| format!("{{\"id\":\"{n}\",\"name\":\"Name {n}\"}}\n");
    let input: String = (0..1200).map(line).collect();
    let run = run(&service, "profiles - --concurrency 1", &input)?.assert_error(0, "");
    let stored = "  stored                         1,200\n";
    assert!(run.stdout.contains(stored), "{}", run.stdout);
    for (request, items) in service.requests::<4>().iter().zip([500, 500, 500, 200]) {
        let expected = ("PUT /v1/users", items);
        assert_eq!((&*request.route, request.items.len()), expected);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_profile_is_reported_with_its_line() -> TestResult {
    let service = Service::start().await?;
    let input = "{\"id\":1,\"name\":\"Ada\"}\n{\"id\":2,\"name\":\"refused\"}\n";
    let error = "line 2: invalid-request: invalid request: injected by the test\n";
    run(&service, "profiles -", input)?.assert_error(1, error);
    Ok(())
}
