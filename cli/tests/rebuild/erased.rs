//! Who is erased while a rebuild goes on.

use test_support::{Fault, Forwarder, json, until};

use crate::Tested;
use crate::command::{command_at, rebuilt, verified};
use crate::journalled::Journalled;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_them_comes_back() -> Tested {
    let site = Journalled::start(|worker| worker);
    site.fill().await;
    site.lose().await?;
    // All is in the shadow, and it waits to be brought to its place.
    let forwarder = Forwarder::to(&site.store());
    let (send, reached) = std::sync::mpsc::channel();
    forwarder.fail(move |request| {
        let turns = String::from_utf8_lossy(&request.body).contains("\"held\"");
        turns.then(|| send.send(())).map(|_| Fault::HangBefore)
    });
    let mut child = command_at(&site, &forwarder.url(), &["rebuild"]).spawn()?;
    until("the turn", async || reached.try_recv().ok()).await;
    child.kill()?;
    child.wait()?;
    let held = format!("{:?}", site.content()?);
    assert!(
        held.contains("~m:ada") && held.contains("~m:many"),
        "{held}"
    );

    site.api.delete("/v1/users/many").await.assert_status(204);
    site.api.delete("/v1/users/ada").await.assert_status(204);
    let back = json!({"user": "ada", "action": "like", "target": "later"});
    site.send(back).await;
    let told = rebuilt(&site, &[])?;
    let content = site.content()?;
    let held = format!("{content:?}");
    assert!(!held.contains("many"), "{told}");
    // Of ada what was done afterwards alone.
    let keys: Vec<_> = content.keys().filter(|key| key.ends_with(":ada")).collect();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert!(!held.contains("Ada \\\"the first"), "{told}");
    let all = site.reader().api.get("/v1/ranking/all/users/ada").await;
    assert_eq!(all.body["score"], 2);
    let late =
        json!({"user": "many", "action": "visit", "target": "/", "at": crate::site::noon(1)});
    assert_eq!(site.send(late).await.body["outcome"], "stale");
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(0), "{told}");
    Ok(())
}
