//! A site of three shards: each is made anew by itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use test_support::{Fault, Forwarder, Value, WorkerBuilder, json, rest, shard_among, until};

use crate::Tested;
use crate::command::{command, command_at, rebuilt, run, verified};
use crate::content::{Content, ask};
use crate::journalled::Journalled;
use crate::random::Random;
use crate::site::builder;

const SHARDS: u32 = 3;

fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Journalled {
    Journalled::start(|worker| configure(worker.json("SHARDS", json!(SHARDS))))
}

/// Somebody on a shard.
fn user(shard: u32) -> String {
    let mut names = (0..).map(|number| format!("s{number}"));
    let on_it = names.find(|name| shard_among(name, SHARDS) == shard);
    on_it.unwrap_or_default()
}

fn like(user: &str, target: &str) -> Value {
    json!({"user": user, "action": "like", "target": target})
}

/// A key of a shard in full.
fn key(site: &Journalled, shard: u32, name: &str) -> String {
    format!("{{{}:{shard}}}{name}", site.place.prefix)
}

/// In which phase each shard is.
fn phases(site: &Journalled) -> redis::RedisResult<Vec<Option<String>>> {
    let phase = |shard| {
        ask(
            &mut site.redis(),
            &["HGET", &key(site, shard, "r"), "phase"],
        )
    };
    (0..SHARDS).map(phase).collect()
}

/// What is not there for a rebuild.
fn live(content: Content) -> Content {
    let is_live = |key: &String| !rest(key).starts_with('~') && rest(key) != "r";
    content
        .into_iter()
        .filter(|(key, _)| is_live(key))
        .collect()
}

/// Likes by somebody on each shard, until it is told to end; how many of each user.
async fn go_on(site: &Journalled, done: &AtomicBool) -> BTreeMap<String, u64> {
    let mut likes = BTreeMap::new();
    for number in 0.. {
        if done.load(Ordering::Relaxed) {
            break;
        }
        for shard in 0..SHARDS {
            let user = user(shard);
            let answer = site.send(json!([like(&user, &number.to_string())])).await;
            let outcome = answer.body["results"][0]["outcome"].clone();
            assert!(
                outcome == "counted" || outcome == "queued",
                "{}",
                answer.text
            );
            *likes.entry(user).or_default() += 1;
        }
    }
    likes
}

async fn score(site: &Journalled, user: &str) -> Option<u64> {
    let answer = site.api.get(&format!("/v1/ranking/all/users/{user}")).await;
    answer.body["score"].as_u64()
}

/// Kills a rebuild there; what it went through.
async fn killed_while_the_second_is_held(
    site: &Journalled,
) -> Result<Forwarder, Box<dyn std::error::Error>> {
    let forwarder = Forwarder::to(&site.store());
    let (send, reached) = channel();
    let (state, mut held) = (key(site, 1, "r"), false);
    forwarder.fail(move |request| {
        let text = String::from_utf8_lossy(&request.body);
        if held {
            // Whoever listens has gone when it is killed.
            let _ = send.send(());
            return Some(Fault::HangBefore);
        }
        held = text.contains(&state) && text.contains("\"held\"");
        None
    });
    let mut first = command_at(site, &forwarder.url(), &["rebuild"]).spawn()?;
    until("the second shard is held", async || reached.try_recv().ok()).await;
    first.kill()?;
    first.wait()?;
    let phases = phases(site)?;
    let phases: Vec<_> = phases.iter().map(Option::as_deref).collect();
    assert_eq!(phases, [Some("done"), Some("held"), Some("replay")]);
    forwarder.heal();
    forwarder.reset();
    Ok(forwarder)
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_one_is_held_the_others_count_and_it_goes_on_there() -> Tested {
    let site = Arc::new(start(|worker| worker.queued(100)));
    Random::new(4).activities(&site.api, 1000).await;
    site.send(json!([like("early", "bird")])).await;
    site.lose().await?;
    let done = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (site, done) = (site.clone(), done.clone());
        async move { go_on(&site, &done).await }
    });

    let forwarder = killed_while_the_second_is_held(&site).await?;
    for (shard, outcome) in [(0, "counted"), (1, "queued"), (2, "counted")] {
        let liked = like(&user(shard), "meanwhile");
        let answer = site.send(json!([liked])).await;
        assert_eq!(answer.body["results"][0]["outcome"], outcome, "{shard}");
    }
    let left: i64 = ask(&mut site.redis(), &["TTL", &key(&site, 0, "r")])?;
    assert!((1..=86_400).contains(&left), "{left}");

    let resumed = command_at(&site, &forwarder.url(), &["rebuild"]).spawn()?;
    let output = tokio::task::spawn_blocking(move || resumed.wait_with_output()).await??;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.ends_with("\n1 shard had been rebuilt before it broke off\n"),
        "{told}"
    );
    let shadow = key(&site, 0, "~");
    let touched = forwarder.requests().into_iter().filter(|request| {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        text.contains(&shadow)
    });
    assert_eq!(touched.count(), 0, "the first shard was made anew again");

    done.store(true, Ordering::Relaxed);
    for (user, likes) in writer.await? {
        // And the one of meanwhile; points are told as they are, 2 for each.
        let expected = 2 * (likes + 1);
        until(&format!("{expected} points of {user}"), async || {
            (score(&site, &user).await == Some(expected)).then_some(())
        })
        .await;
    }
    assert_eq!(score(&site, "early").await, Some(2));
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(0), "{told}");
    let left = site.content()?;
    assert_eq!(left.len(), live(left.clone()).len(), "{left:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_last_would_lose_something_it_stays_as_it_is_and_the_others_are_done() -> Tested {
    let site = start(|worker| worker);
    for shard in 0..SHARDS {
        site.send(json!([like(&user(shard), "p")])).await;
    }
    killed_while_the_second_is_held(&site).await?;
    let (board, point) = (key(&site, 2, "ba:all"), (1_u64 << 30).to_string());
    ask::<f64>(&mut site.redis(), &["ZINCRBY", &board, &point, &user(2)])?;
    let of_last = |content: Content| {
        let of_last = |key: &String| key.starts_with("2}");
        let content = live(content).into_iter().filter(|(key, _)| of_last(key));
        content.collect::<Content>()
    };
    let before = of_last(site.content()?);
    let refused = run(&site, &["rebuild"])?;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let told = "2 of 3 shards are rebuilt, and nothing else was changed: 1 value would be lost";
    assert!(refused.stderr.contains(told), "{refused:?}");
    assert_eq!(of_last(site.content()?), before);
    // Nobody is kept from writing.
    for shard in 0..SHARDS {
        let answer = site.send(json!([like(&user(shard), "q")])).await;
        assert_eq!(answer.body["results"][0]["outcome"], "counted");
    }
    // Until it is done nothing is said of the whole.
    let early = run(&site, &["verify"])?;
    assert_eq!(early.code, Some(2), "{early:?}");
    assert!(
        early
            .stderr
            .contains("a rebuild has not been finished: run rebuild first"),
        "{early:?}"
    );
    rebuilt(&site, &["--discard"])?;
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(0), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_on_the_second_is_told_and_nothing_is_changed_on_any() -> Tested {
    let site = start(|worker| worker);
    for shard in 0..SHARDS {
        site.send(like(&user(shard), "p")).await;
        site.send(like("many", &shard.to_string())).await;
    }
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(0), "{told}");
    let (board, point) = (key(&site, 1, "ba:all"), (1_u64 << 30).to_string());
    ask::<f64>(&mut site.redis(), &["ZINCRBY", &board, &point, &user(1)])?;
    let before = site.content()?;

    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.starts_with("1 difference\n"), "{told}");
    let row = format!(
        "board all all, {}: 201 points; the journal tells 200 points",
        user(1)
    );
    assert!(told.contains(&row), "{told}");
    assert_eq!(site.content()?, before);

    let refused = run(&site, &["rebuild"])?;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("nothing was changed: 1 value would be lost")
    );
    assert_eq!(live(site.content()?), before);
    rebuilt(&site, &["--discard"])?;
    assert_eq!(verified(&site)?.0, Some(0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_moderators_did_is_listed_in_its_order_again() -> Tested {
    let site = start(|worker| worker);
    for (shard, hidden) in [(2, true), (0, true), (1, true), (2, false), (0, false)] {
        let path = format!("/v1/users/{}/moderation", user(shard));
        let verdict = json!({"hidden": hidden, "frozen": false, "reason": "Because"});
        site.api.put(&path, &verdict).await.assert_status(200);
    }
    let listed = async || {
        let list = site.api.get("/v1/moderation").await;
        let entries = list.assert_status(200).body["entries"].as_array();
        let told = |entry: &Value| format!("{} {}", entry["action"], entry["user"]["id"]);
        entries.map(|entries| entries.iter().map(told).collect::<Vec<_>>())
    };
    let before = listed().await;
    assert_eq!(before.as_ref().map(Vec::len), Some(5));
    site.lose().await?;
    rebuilt(&site, &[])?;
    assert_eq!(listed().await, before);
    // What comes then is the newest.
    let path = format!("/v1/users/{}/moderation", user(1));
    let verdict = json!({"hidden": false, "frozen": false, "reason": "Over"});
    site.api.put(&path, &verdict).await.assert_status(200);
    let newest = format!("\"unhide\" \"{}\"", user(1));
    let after = listed().await.unwrap_or_default();
    assert_eq!((after.len(), after.first()), (6, Some(&newest)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_is_not_of_its_shard_is_told_and_nothing_is_changed() -> Tested {
    let site = start(|worker| worker);
    for shard in 0..SHARDS {
        site.send(like(&user(shard), "p")).await;
    }
    site.api.get("/v1/journal").await.assert_status(200);
    let strays = format!("UPDATE journal SET shard = 2 WHERE user = '{}'", user(1));
    site.sql(&strays).await;
    let before = site.content()?;
    let told = format!("is of shard 2; '{}' is of shard 1 of 3", user(1));
    for what in ["verify", "rebuild"] {
        let refused = run(&site, &[what])?;
        assert_eq!(refused.code, Some(3), "{refused:?}");
        assert!(refused.stderr.contains(&told), "{refused:?}");
        assert_eq!(site.content()?, before);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn another_number_of_shards_is_told_and_fresh_leaves_nothing_of_the_one_before() -> Tested {
    let site = start(|worker| worker);
    Random::new(5).activities(&site.api, 100).await;
    let other = builder().store(&site.store()).json("SHARDS", json!(2));
    let other = other.var("PREFIX", &site.place.prefix).journal();
    let other = other.start_wrangler();
    let at_other = |args: &[&str]| {
        let mut command = command(&site, args);
        command.env("ACTIVITY_RANK_URL", other.url());
        crate::run::finish(command, "", test_support::TOKEN)
    };
    let before = site.content()?;
    let refused = at_other(&["rebuild"])?;
    assert_eq!(refused.code, Some(3), "{refused:?}");
    let told = format!(
        "SHARDS: is 2, but the data under PREFIX {} was written with 3",
        site.place.prefix
    );
    assert!(refused.stderr.contains(&told), "{refused:?}");
    assert_eq!(site.content()?, before);

    // Begun with three, in a store that has lost what it had.
    site.lose().await?;
    let forwarder = Forwarder::to(&site.store());
    let (send, reached) = channel();
    forwarder.fail(move |request| {
        let turns = String::from_utf8_lossy(&request.body).contains("\"held\"");
        turns.then(|| send.send(())).map(|_| Fault::HangBefore)
    });
    let mut first = command_at(&site, &forwarder.url(), &["rebuild"]).spawn()?;
    until("the turn", async || reached.try_recv().ok()).await;
    first.kill()?;
    first.wait()?;
    let before = site.content()?;
    assert!(
        before.keys().any(|key| key.starts_with("2}~")),
        "{before:?}"
    );
    for what in ["verify", "rebuild"] {
        let refused = at_other(&[what])?;
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(
            refused
                .stderr
                .contains("a rebuild was begun with other settings of the service (v2 shards=3 ")
                && refused.stderr.contains("; now v2 shards=2 ")
                && refused.stderr.contains("--fresh begins anew"),
            "{refused:?}"
        );
        assert_eq!(site.content()?, before);
    }
    let fresh = at_other(&["verify", "--fresh"])?;
    assert_eq!(fresh.code, Some(0), "{fresh:?}");
    assert!(site.content()?.is_empty());
    Ok(())
}
