//! What is refused, and what may be lost when asked for.

use std::io::Read;
use std::process::Command;
use std::sync::mpsc::channel;

use redis::RedisResult;
use test_support::{Fault, Forwarder, Recorded, json, shard_of, until};

use crate::Tested;
use crate::command::{command_at, rebuilt, run, verified};
use crate::content::ask;
use crate::journalled::Journalled;
use crate::same::Picture;
use crate::site::like;

#[tokio::test(flavor = "multi_thread")]
async fn more_than_the_journal_tells_is_lost_only_when_asked_for() -> Tested {
    let site = Journalled::start(|worker| worker);
    site.fill().await;
    let before = Picture::of(&site).await?;
    let mut redis = site.redis();
    let (board, point) = (site.key_of("cyd", "ba:all"), (1_u64 << 30).to_string());
    ask::<f64>(&mut redis, &["ZINCRBY", &board, &point, "cyd"])?;
    let tampered = Picture::of(&site).await?;

    let refused = run(&site, &["rebuild"])?;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let told = "board all all, cyd: ";
    assert!(refused.stdout.contains(told), "{refused:?}");
    let out = "nothing was changed: 1 value would be lost; --discard goes on all the same";
    assert!(refused.stderr.contains(out), "{refused:?}");
    // Nobody was kept from writing, and nothing changed but that it goes on from there.
    assert_eq!(
        site.send(like("ada", "p0", 0)).await.body["outcome"],
        "duplicate"
    );
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(1), "{told}");
    Picture::of(&site).await?.assert_same(&tampered);

    rebuilt(&site, &["--discard"])?;
    let mut after = Picture::of(&site).await?;
    after.assert_same(&before);
    // The list of what moderators did was whole, and stays: with who is erased, and when.
    let audit = site.api.get("/v1/moderation?limit=100").await;
    let entries = audit.body["entries"].as_array().map_or(0, Vec::len);
    let erased = audit.text.matches("\"erase\"").count();
    assert!(erased >= 1 && entries > erased, "{}", audit.text);
    // Who was hidden before can be shown, under the number they had.
    let shown = json!({"hidden": false, "frozen": false, "reason": "Over"});
    let path = "/v1/users/bob/moderation";
    site.api.put(path, &shown).await.assert_status(200);
    let audit = site.api.get("/v1/moderation?limit=1").await;
    assert_eq!(audit.body["entries"][0]["user"]["id"], "bob");
    after = Picture::of(&site).await?;
    site.lose().await?;
    rebuilt(&site, &[])?;
    Picture::of(&site).await?.assert_same(&after);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn another_site_or_version_is_left_alone() -> Tested {
    let site = Journalled::start(|worker| worker);
    site.send(json!({"user": "a", "action": "like", "target": "x"}))
        .await;
    let mut redis = site.redis();
    let mut other = crate::command::command(&site, &["rebuild"]);
    other.env("PREFIX", "other");
    let refused = finish(other)?;
    assert_eq!(refused.0, Some(2));
    assert!(
        refused
            .1
            .contains("not other: is PREFIX that of the service?"),
        "{}",
        refused.1
    );
    let stamp = site.key("s");
    let held: String = ask(&mut redis, &["GET", &stamp])?;
    for stands in ["restoring 1234", "v1 else"] {
        let told = format!("was written by another version ({stands})");
        ask::<String>(&mut redis, &["SET", &stamp, stands])?;
        let refused = run(&site, &["rebuild"])?;
        // The service itself says so.
        assert_eq!(refused.code, Some(3), "{refused:?}");
        assert!(refused.stderr.contains(&told), "{refused:?}");
    }
    ask::<String>(&mut redis, &["SET", &stamp, &held])?;
    let strange = site.key("zzz:1");
    ask::<String>(&mut redis, &["SET", &strange, "1"])?;
    let refused = run(&site, &["rebuild"])?;
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("zzz:1 is no key that this version knows"),
        "{refused:?}"
    );
    ask::<i64>(&mut redis, &["DEL", &strange])?;
    rebuilt(&site, &[])?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_another_run_has_taken_over_ends() -> Tested {
    let site = Journalled::start(|worker| worker);
    site.fill().await;
    site.lose().await?;
    let forwarder = Forwarder::to(&site.store());
    // The first hangs in the middle, and its request is done after the second has come.
    let (send, reached) = channel();
    forwarder.fail(move |request| {
        does_entries(request).then(|| {
            // Whoever listens has gone when it is killed.
            let _ = send.send(());
            Fault::HangAfter
        })
    });
    let mut first = command_at(&site, &forwarder.url(), &["rebuild", "--retries", "0"]).spawn()?;
    until("the first", async || reached.try_recv().ok()).await;
    rebuilt(&site, &[])?;
    first.kill()?;
    first.wait()?;

    // One that goes on after another has begun is told so.
    site.lose().await?;
    let mut redis = site.redis();
    forwarder.fail(move |request| {
        if does_entries(request) {
            let command = request.commands().remove(0);
            let state = command[3].as_str().unwrap_or_default();
            let _: RedisResult<i64> = ask(&mut redis, &["HSET", state, "owner", "somebody"]);
        }
        None
    });
    let late = finish(command_at(&site, &forwarder.url(), &["rebuild"]))?;
    assert_eq!(late.0, Some(3), "{late:?}");
    assert!(
        late.1.contains("another run has gone on with this rebuild"),
        "{late:?}"
    );
    let fresh = run(&site, &["rebuild", "--fresh"])?;
    assert_eq!(fresh.code, Some(0), "{fresh:?}");
    assert_eq!(verified(&site)?.0, Some(0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_while_writes_are_held_it_lets_them_go() -> Tested {
    let site = Journalled::start(|worker| worker);
    site.fill().await;
    let before = Picture::of(&site).await?;
    site.lose().await?;
    let forwarder = Forwarder::to(&site.store());
    let (mut held, mut hung) = (false, false);
    forwarder.fail(move |request| {
        let text = String::from_utf8_lossy(&request.body);
        let turns = text.contains("\"held\"");
        let hangs = held && !hung && !turns;
        held |= turns;
        hung |= hangs;
        hangs.then_some(Fault::HangBefore)
    });
    let child = command_at(&site, &forwarder.url(), &["rebuild"]).spawn()?;
    let stamp = format!("{{{}:0}}s", site.place.prefix);
    let mut redis = site.redis();
    until("writes are held", async || {
        let held: Option<String> = ask(&mut redis, &["GET", &stamp]).ok()?;
        held?.starts_with("rebuilding ").then_some(())
    })
    .await;
    let like = json!({"user": of_first_shard(), "action": "like", "target": "x"});
    site.api
        .post("/v1/activity", &like)
        .await
        .assert_status(503);
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()?
            .success()
    );
    let output = child.wait_with_output()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(
        told.contains("run it again to go on with it\nerror: interrupted"),
        "{told}"
    );
    let stands: Option<String> = ask(&mut redis, &["GET", &stamp])?;
    assert_eq!(stands, None);
    rebuilt(&site, &[])?;
    Picture::of(&site).await?.assert_same(&before);
    Ok(())
}

/// Somebody on the shard that is brought to its place first.
fn of_first_shard() -> String {
    let mut names = (0..).map(|number| format!("a{number}"));
    names.find(|name| shard_of(name) == 0).unwrap_or_default()
}

/// Whether it does entries of the journal.
fn does_entries(request: &Recorded) -> bool {
    String::from_utf8_lossy(&request.body).contains(",\"run\",")
}

/// Its exit code and complaints.
fn finish(mut command: Command) -> std::io::Result<(Option<i32>, String)> {
    let mut child = command.spawn()?;
    let mut told = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut told)?;
    }
    Ok((child.wait()?.code(), told))
}
