//! A rebuild that is killed, and run again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::channel;

use test_support::{Fault, Forwarder, shards};

use crate::Tested;
use crate::command::{command_at, verified};
use crate::content::ask;
use crate::journalled::Journalled;
use crate::random::Random;
use crate::same::Picture;

/// Phases, and in how many requests of each a run is killed.
const PHASES: [(&str, u64); 4] = [("replay", 30), ("held", 30), ("delete", 5), ("rename", 10)];

/// How often it is made anew: 6, or ROUNDS.
fn rounds() -> usize {
    let rounds = std::env::var("ROUNDS").ok();
    rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(6)
}

/// How often a run may be killed before that is too much.
const MOST: usize = 400;

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_in_each_phase_it_ends_right() -> Tested {
    let site = Journalled::start(|worker| worker);
    site.fill().await;
    let mut random = Random::new(3);
    random.activities(&site.api, 1500).await;
    let before = Picture::of(&site).await?;
    let forwarder = Forwarder::to(&site.store());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..rounds() {
        site.lose().await?;
        let mut runs = 0;
        while !run_and_kill(&site, &forwarder, &mut random)? {
            for phase in phases(&site)? {
                *seen.entry(phase).or_default() += 1;
            }
            runs += 1;
            assert!(runs < MOST, "it does not come to its end");
        }
        Picture::of(&site).await?.assert_same(&before);
        println!("round {round}: killed {runs} times, {seen:?}");
    }
    for (phase, _) in PHASES {
        assert!(seen.contains_key(phase), "not killed in {phase}: {seen:?}");
    }
    let (code, told) = verified(&site)?;
    assert_eq!(code, Some(0), "{told}");
    Ok(())
}

/// The phases in which its shards are.
fn phases(site: &Journalled) -> redis::RedisResult<BTreeSet<String>> {
    let mut phases = BTreeSet::new();
    for shard in 0..shards() {
        let state = format!("{{{}:{shard}}}r", site.place.prefix);
        let phase: Option<String> = ask(&mut site.redis(), &["HGET", &state, "phase"])?;
        phases.extend(phase);
    }
    Ok(phases)
}

/// Kills it before or after a request that is chosen at random, and says whether it came to its end
/// before.
fn run_and_kill(
    site: &Journalled,
    forwarder: &Forwarder,
    random: &mut Random,
) -> Result<bool, Box<dyn std::error::Error>> {
    let (phase, most) = PHASES[random.below(4) as usize];
    let mut begun = phase == "replay";
    // It begins with all shards, and comes to the others one by one.
    let most = if begun {
        most * u64::from(shards())
    } else {
        most
    };
    let (last, after) = (random.below(most), random.below(2) == 0);
    let (reached, is_reached) = channel();
    let (word, mut requests) = (format!("\"{phase}\""), 0);
    forwarder.fail(move |request| {
        begun |= String::from_utf8_lossy(&request.body).contains(&word);
        requests += u64::from(begun);
        if requests <= last {
            return None;
        }
        // Whoever listens has gone only if it came to its end.
        let _ = reached.send(());
        Some(if after {
            Fault::HangAfter
        } else {
            Fault::HangBefore
        })
    });
    let mut child = command_at(site, &forwarder.url(), &["rebuild"]).spawn()?;
    loop {
        if is_reached.try_recv().is_ok() {
            if after {
                // What hangs is the answer: it comes to the store first.
                std::thread::yield_now();
            }
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        if let Some(status) = child.try_wait()? {
            let output = child.wait_with_output()?;
            assert_eq!(status.code(), Some(0), "{output:?}");
            return Ok(true);
        }
        std::thread::yield_now();
    }
}
