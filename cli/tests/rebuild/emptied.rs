//! A store that has lost everything.

use test_support::{json, rest, root};

use crate::Tested;
use crate::command::{rebuilt, verified};
use crate::journalled::Journalled;
use crate::random::Random;
use crate::run;
use crate::same::Picture;
use test_support::SERVICE_KEY;

/// Activities in addition to those of the community.
fn more() -> usize {
    let more = std::env::var("MORE").ok();
    more.and_then(|more| more.parse().ok()).unwrap_or(3000)
}

/// Everything a site can have: a community, many more activities, moderation, profiles, an erasure.
async fn fill(site: &Journalled) -> Tested {
    let community = root().join("demo/community.jsonl");
    let place = [
        ("ACTIVITY_RANK_URL", site.url.as_str()),
        ("ACTIVITY_RANK_KEY", SERVICE_KEY),
    ];
    let import = ["import", &community.to_string_lossy(), "--shift-to-now"];
    let imported = run::finish(run::command(&import, &place), "", SERVICE_KEY)?;
    assert_eq!(imported.code, Some(0), "{imported:?}");
    site.fill().await;
    let mut random = Random::new(7);
    random.activities(&site.api, more()).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_as_before_when_it_is_rebuilt() -> Tested {
    let site = Journalled::start(|worker| worker);
    fill(&site).await?;
    let before = Picture::of(&site).await?;
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.starts_with("no differences\n"), "{told}");
    println!("{told}");
    Picture::of(&site).await?.assert_same(&before);

    site.lose().await?;
    assert_eq!(verified(&site)?.0, Some(1));
    let told = rebuilt(&site, &[])?;
    println!("{told}");
    let after = Picture::of(&site).await?;
    after.assert_same(&before);
    assert_eq!(verified(&site)?.0, Some(0));
    let left: Vec<_> = site.content()?.into_keys().collect();
    let shadow = left
        .iter()
        .filter(|key| rest(key).starts_with('~') || rest(key) == "r");
    assert_eq!(shadow.count(), 0, "{left:?}");

    // It goes on: what had counted is a duplicate, what comes is behind who was there.
    let like = json!({"user": "ada", "action": "like", "target": "p0"});
    assert_eq!(site.send(like).await.body["outcome"], "duplicate");
    Ok(())
}
