//! A store that fails meanwhile.

use std::fs;

use test_support::{Fault, Forwarder, Gateway, RedisOptions, RedisServer, redis};

use crate::command::{Place, exported, restored, run};
use crate::content::{assert_same, content};
use crate::site::Site;
use crate::{Tested, start};

/// An empty store of the test's own, behind a forwarder.
struct Faulty {
    server: RedisServer,
    _gateway: Gateway,
    forwarder: Forwarder,
    place: Place,
}

impl Faulty {
    fn start(prefix: &str) -> Self {
        let server = RedisServer::spawn(RedisOptions::default());
        let gateway = Gateway::spawn(&server.url());
        let forwarder = Forwarder::to(&gateway.url());
        let place = Place {
            store: forwarder.url(),
            prefix: prefix.to_owned(),
        };
        Self {
            server,
            _gateway: gateway,
            forwarder,
            place,
        }
    }
}

/// Every other request fails, each in another way.
fn every_other(forwarder: &Forwarder) {
    let faults = [
        Fault::CutBefore,
        Fault::CutAfter,
        Fault::HalfAnswer,
        Fault::Answer(503, r#"{"error":"redis is not reachable"}"#.to_owned()),
    ];
    let mut number = 0;
    forwarder.fail(move |_| {
        number += 1;
        (number % 2 == 1).then(|| faults[number / 2 % faults.len()].clone())
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_requests_and_answers_change_nothing() -> Tested {
    let site = start();
    site.fill().await;
    let folder = tempfile::tempdir()?;
    let expected = content(&mut redis().connection(), &site.place.prefix)?;

    let between = Forwarder::to(&site.place.store);
    every_other(&between);
    let behind = Place {
        store: between.url(),
        ..site.place.clone()
    };
    let file = exported(&behind, folder.path())?;

    let faulty = Faulty::start(&site.place.prefix);
    every_other(&faulty.forwarder);
    restored(&faulty.place, &file)?;
    assert_same(
        &content(&mut faulty.server.connection(), &faulty.place.prefix)?,
        &expected,
    );
    let largest = faulty.forwarder.requests();
    let largest = largest.iter().map(|request| request.body.len()).max();
    assert!(
        largest.is_some_and(|bytes| bytes < 1_000_000),
        "{largest:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_broke_off_keeps_the_service_away_and_goes_on_when_asked() -> Tested {
    let site = start();
    site.fill().await;
    let folder = tempfile::tempdir()?;
    let file = exported(&site.place, folder.path())?;
    let path = file.to_string_lossy();

    let faulty = Faulty::start(&site.place.prefix);
    // The first part of the data is written, all after it is not.
    let mut parts = 0;
    faulty.forwarder.fail(move |request| {
        parts += usize::from(request.commands()[0][0] == "EVAL");
        (parts > 1).then_some(Fault::CutBefore)
    });
    let broken = run(&faulty.place, &["restore", &path, "--retries", "0"])?;
    assert_eq!(broken.code, Some(3), "{broken:?}");
    assert!(
        broken.stderr.contains("run it again with --continue"),
        "{broken:?}"
    );
    faulty.forwarder.heal();
    let half = content(&mut faulty.server.connection(), &faulty.place.prefix)?;
    assert!(half.len() > 10, "nothing was written before it broke off");

    let copy = Site::on(&faulty.place);
    let answer = copy.api.get("/v1/ranking/all").await;
    answer.assert_status(500);
    assert_eq!(answer.body["type"], "/problems/misconfigured");

    let refused = run(&faulty.place, &["restore", &path])?;
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("add --continue"), "{refused:?}");
    let refused = run(&faulty.place, &["export"])?;
    assert!(
        refused.stderr.contains("has not been finished"),
        "{refused:?}"
    );
    let other = folder.path().join("other.jsonl");
    let text = fs::read_to_string(&file)?.replacen("\"instant\":\"2", "\"instant\":\"3", 1);
    fs::write(&other, text)?;
    let refused = run(
        &faulty.place,
        &["restore", "--continue", &other.to_string_lossy()],
    )?;
    assert!(refused.stderr.contains("of another file"), "{refused:?}");

    let done = run(&faulty.place, &["restore", "--continue", &path])?;
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let expected = content(&mut redis().connection(), &site.place.prefix)?;
    assert_same(
        &content(&mut faulty.server.connection(), &faulty.place.prefix)?,
        &expected,
    );
    copy.api.get("/v1/ranking/all").await.assert_status(200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_copy_of_a_part_changes_nothing() -> Tested {
    let site = start();
    site.fill().await;
    let folder = tempfile::tempdir()?;
    let file = exported(&site.place, folder.path())?;
    let faulty = Faulty::start(&site.place.prefix);
    restored(&faulty.place, &file)?;
    let requests = faulty.forwarder.requests();
    let copy = Site::on(&faulty.place);
    copy.api.delete("/v1/users/ada").await.assert_status(204);
    let before = content(&mut faulty.server.connection(), &faulty.place.prefix)?;
    let parts = requests
        .iter()
        .filter(|request| request.commands()[0][0] == "EVAL");
    assert!(parts.clone().count() > 1, "one part alone");
    let store = test_support::Api::new(&faulty.place.store).with_key(test_support::TOKEN);
    for part in parts {
        let answer = store.post_raw("/pipeline", part.body.clone(), &[]).await;
        answer.assert(200, test_support::json!([{"result": 0}]));
    }
    assert_eq!(
        content(&mut faulty.server.connection(), &faulty.place.prefix)?,
        before
    );
    Ok(())
}
