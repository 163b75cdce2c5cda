//! Rebuild after a store has lost all data, from a demo community and from random histories.

use test_support::{depth, json, root};

use crate::TestResult;
use crate::app::{MANY, USERS, noon};
use crate::cli::{assert_verified, fails, rebuild, run};
use crate::journal_app::JournalApp;
use crate::observed::Observed;
use crate::random::{Random, variable};
use crate::stored::is_of_rebuild;

/// Imports the demo community, fills the app and sends random activities.
async fn fill(app: &JournalApp) -> TestResult {
    let community = root().join("demo/community.jsonl");
    let import = ["import", &community.to_string_lossy(), "--shift-to-now"];
    run(app, &import)?.assert_code(0);
    app.fill_with(MANY).await;
    let mut random = Random::new(7);
    let count = variable("MORE", depth(200, 3000)) as usize;
    random.send_activities(&app.api, count).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuilt_community_is_unchanged() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    fill(&app).await?;
    let before = Observed::read(&app).await?;
    let output = run(&app, &["verify"])?.assert_code(0).stdout;
    assert!(output.starts_with("no differences\n"), "{output}");

    app.lose_data().await?;
    fails(&app, &["verify"], 1, "")?;
    println!("{}", rebuild(&app, &[])?);
    Observed::read(&app).await?.assert_same(&before);
    assert_verified(&app)?;
    let left: Vec<_> = app.data()?.into_keys().collect();
    assert!(!left.iter().any(|key| is_of_rebuild(key)), "{left:?}");

    // Deduplication records are rebuilt too.
    let repeated = app.act("ada", "like", "p0").await;
    assert_eq!(repeated.body["outcome"], "duplicate");
    Ok(())
}

/// Sends one request, or an array of activities. The rules have a cooldown and a daily cap.
async fn random_change(app: &JournalApp, random: &mut Random) {
    let user = random.choose(&USERS);
    match random.below(12) {
        0 => {
            let (hidden, frozen) = (random.below(2) == 0, random.below(4) == 0);
            app.moderate(user, hidden, frozen).await;
        }
        1 => {
            let mut profile = json!({"name": format!("Name {}", random.below(3))});
            if random.below(2) == 0 {
                profile["hidden"] = json!(random.below(2) == 0);
            }
            let path = format!("/v1/users/{user}");
            app.put(&path, &profile).await;
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
            app.adjust(user, adjustment).await;
        }
        3 if random.below(4) == 0 => {
            let path = format!("/v1/users/{user}");
            app.delete(&path).await;
        }
        _ => {
            let mut items = Vec::new();
            for _ in 0..1 + random.below(8) {
                let mut activity = random.activity(1, 6);
                activity["user"] = json!(random.choose(&USERS));
                if random.below(4) == 0 {
                    activity["action"] = json!("share");
                }
                items.push(activity);
            }
            app.send(json!(items)).await;
        }
    }
}

/// A second rebuild, without a loss, changes nothing either. `SEED` repeats a history.
#[tokio::test(flavor = "multi_thread")]
async fn rebuilt_random_history_is_unchanged() -> TestResult {
    let seed = variable("SEED", u64::from(std::process::id()));
    println!("SEED={seed}");
    let wave = json!({"points": 1.25, "once": "standing", "undo": true, "by": "service", "cooldown": 3600});
    let share =
        json!({"points": 2, "once": "standing", "undo": true, "by": "service", "daily_cap": 6});
    let rules = json!({"wave": wave, "share": share});
    let app = JournalApp::start(|worker| worker.json("RULES", rules));
    let mut random = Random::new(seed);
    for round in 0..depth(1, 4) {
        for _ in 0..150 {
            random_change(&app, &mut random).await;
        }
        let before = Observed::read(&app).await?;
        println!("round {round}");
        assert_verified(&app)?;
        app.lose_data().await?;
        rebuild(&app, &[])?;
        Observed::read(&app).await?.assert_same(&before);
        let output = rebuild(&app, &[])?;
        assert!(output.starts_with("no differences\n"), "{output}");
        Observed::read(&app).await?.assert_same(&before);
        for user in USERS {
            assert_points_add_up(&app, user).await;
        }
    }
    Ok(())
}

/// The changes of points add up to the all-time score, which only visible users have.
async fn assert_points_add_up(app: &JournalApp, user: &str) {
    app.moderate(user, false, false).await;
    let path = format!("/v1/users/{user}");
    app.put(&path, &json!({"hidden": false})).await;
    let (mut sum, mut before) = (0.0, String::new());
    loop {
        let path = format!("{path}/points?limit=100{before}");
        let page = app.api.get(&path).await.assert_status(200).body.clone();
        let entries = page["entries"].as_array().into_iter().flatten();
        let points = entries.map(|entry| entry["points"].as_f64());
        sum += points.map(Option::unwrap_or_default).sum::<f64>();
        match page["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    let standing = app.api.get(&format!("/v1/ranking/all/users/{user}")).await;
    let score = standing.assert_status(200).body["score"].as_f64();
    // The points have at most two decimals.
    let [found, expected] = [score, Some(sum)].map(|sum| sum.map(|sum| (sum * 100.0).round()));
    assert_eq!(found, expected, "{user}");
}
