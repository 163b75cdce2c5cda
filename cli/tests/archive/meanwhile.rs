//! A site that counts while it is exported.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use test_support::{json, redis, rest};

use crate::command::{Place, exported, restored};
use crate::content::{Held, content};
use crate::site::{MANY, Site};
use crate::{Tested, start};

const ORDERS: i64 = 1 << 30;

#[tokio::test(flavor = "multi_thread")]
async fn what_counts_after_a_restore_comes_after_all_that_was_exported() -> Tested {
    let site = Arc::new(start());
    site.fill().await;
    let done = Arc::new(AtomicBool::new(false));
    let counting = tokio::spawn({
        let (site, done) = (site.clone(), done.clone());
        async move {
            let mut sent = 0;
            while !done.load(Ordering::Relaxed) {
                sent += 1;
                let user = format!("u{}", sent % MANY);
                let like = json!({"user": user, "action": "like", "target": format!("live{sent}")});
                site.send(like).await;
            }
            sent
        }
    });
    let folder = tempfile::tempdir()?;
    let place = site.place.clone();
    let to = folder.path().to_owned();
    let file = tokio::task::spawn_blocking(move || exported(&place, &to)).await??;
    done.store(true, Ordering::Relaxed);
    assert!(counting.await? > 10, "nothing counted meanwhile");

    let place = Place {
        prefix: format!("{}-live", site.place.prefix),
        ..site.place.clone()
    };
    restored(&place, &file)?;
    let mut boards = 0;
    for (key, (held, _)) in content(&mut redis().connection(), &place.prefix)? {
        let Held::Sorted(scores) = held else { continue };
        if rest(&key) == "i" {
            continue;
        }
        let (mut counter, mut latest) = (None, 0);
        for (member, score) in scores {
            let score: i64 = score.parse()?;
            if member == "#" {
                counter = Some(score);
            } else {
                latest = latest.max(ORDERS - 1 - score.abs() % ORDERS);
            }
        }
        assert!(
            counter.is_some_and(|next| next > latest),
            "{key}: {counter:?}, {latest}"
        );
        boards += 1;
    }
    assert!(boards > 20, "{boards} boards");
    let copy = Site::on(&place);
    let like = json!({"user": "late", "action": "like", "target": "after"});
    assert_eq!(copy.send(like).await.body["outcome"], "counted");
    Ok(())
}
