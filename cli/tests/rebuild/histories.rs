//! Random histories: whatever was done, a rebuild has it as it was.

use test_support::{Value, json};

use crate::Tested;
use crate::command::{rebuilt, verified};
use crate::journalled::Journalled;
use crate::random::Random;
use crate::same::Picture;
use crate::site::{USERS, noon};

/// Settings with everything that can leave something out.
fn start() -> Journalled {
    let wave = json!({"points": 1.25, "once": "standing", "undo": true, "by": "service", "cooldown": 3600});
    let share =
        json!({"points": 2, "once": "standing", "undo": true, "by": "service", "daily_cap": 6});
    let rules = json!({"wave": wave, "share": share});
    Journalled::start(|worker| worker.json("RULES", rules))
}

/// Does one thing, perhaps many at once.
async fn step(site: &Journalled, random: &mut Random) {
    let user = random.of(&USERS);
    let api = &site.api;
    match random.below(12) {
        0 => {
            let reason = "Because";
            let verdict = json!({"hidden": random.below(2) == 0, "frozen": random.below(4) == 0, "reason": reason});
            let path = format!("/v1/users/{user}/moderation");
            api.put(&path, &verdict).await.assert_status(200);
        }
        1 => {
            let mut profile = json!({"name": format!("Name {}", random.below(3))});
            if random.below(2) == 0 {
                profile["hidden"] = json!(random.below(2) == 0);
            }
            let path = format!("/v1/users/{user}");
            api.put(&path, &profile).await.assert_status(200);
        }
        2 => {
            let points = (random.below(400) as f64 - 200.5) / 2.0;
            let mut adjustment = json!({"id": format!("c{}", random.below(5)), "reason": "Case"});
            if random.below(3) == 0 {
                adjustment["undo"] = json!(true);
            } else {
                adjustment["points"] = json!(points);
                if random.below(2) == 0 {
                    adjustment["groups"] = json!(["eu"]);
                }
                if random.below(3) == 0 {
                    adjustment["at"] = json!(noon(random.below(3) as i64));
                }
            }
            let path = format!("/v1/users/{user}/adjustments");
            api.post(&path, &adjustment).await.assert_status(200);
        }
        3 if random.below(4) == 0 => {
            let path = format!("/v1/users/{user}");
            api.delete(&path).await.assert_status(204);
        }
        _ => {
            let items = 1 + random.below(8);
            let items: Vec<Value> = (0..items)
                .map(|_| {
                    let mut activity = random.activity(1, 6);
                    activity["user"] = json!(random.of(&USERS));
                    if random.below(4) == 0 {
                        activity["action"] = json!("share");
                    }
                    activity
                })
                .collect();
            api.post("/v1/activity", &json!(items))
                .await
                .assert_status(200);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_random_history_is_the_same_when_it_was_lost_and_made_anew() -> Tested {
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or(u64::from(std::process::id()));
    println!("SEED={seed}");
    let (site, mut random) = (start(), Random::new(seed));
    for round in 0..4 {
        for _ in 0..150 {
            step(&site, &mut random).await;
        }
        let before = Picture::of(&site).await?;
        let (code, told) = verified(&site)?;
        assert_eq!(code, Some(0), "round {round}: {told}");
        site.lose().await?;
        rebuilt(&site, &[])?;
        Picture::of(&site).await?.assert_same(&before);
        // Made anew although nothing was lost, it is the same too.
        let told = rebuilt(&site, &[])?;
        assert!(
            told.starts_with("no differences\n"),
            "round {round}: {told}"
        );
        Picture::of(&site).await?.assert_same(&before);
    }
    Ok(())
}
