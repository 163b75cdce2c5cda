//! Puts the shadow in the place of what there is, while the service writes nothing.

use std::collections::HashMap;

use super::begin::Shard;
use super::keep::RUN_OUT;
use super::place::Place;
use super::scripts::{FINISH, SWAP};
use super::state::{Phase, State, taken_over};
use crate::archive::key::Key;
use crate::failure::Failure;

/// Pairs of keys in a request.
const PAIRS: usize = 200;
/// How long the index may name a span of histories, in seconds: more than any is kept.
const SPANS: i64 = 63 * 86_400;

/// Takes away what has no shadow, then brings each shadow to its place; goes on where it was.
/// `written` says whether the journal tells anything of the site, on whichever shard.
///
/// # Errors
///
/// [`Failure::Store`] where the store does not answer, or another run has gone on.
pub async fn swap(place: &Place, state: &mut State, written: bool) -> Result<(), Failure> {
    let keeps_audit = state.keeps_audit(place).await?;
    if state.phase == Phase::Delete {
        if keeps_audit {
            number_as_held(place).await?;
        }
        each(place, state, |name| {
            let stays = name.starts_with('~') || is_fixed(name, keeps_audit);
            (!stays).then(|| name.to_owned())
        })
        .await?;
        state.turn(place, Phase::Rename, false).await?;
    }
    each(place, state, |name| {
        let name = name.strip_prefix('~')?;
        let stays = is_fixed(name, keeps_audit) && name != "e" || name == "i" || name == "q";
        (!stays).then(|| name.to_owned())
    })
    .await?;
    finish(place, state, written).await
}

/// What is not swapped: stamp, outbox, archived boards, tombstones, and how far this is.
fn is_fixed(name: &str, keeps_audit: bool) -> bool {
    ["s", "o", "a", "e", "r"].contains(&name) || keeps_audit && ["l", "w"].contains(&name)
}

/// Does what the phase says with each pair of which a name is chosen.
async fn each(
    place: &Place,
    state: &State,
    choose: impl Fn(&str) -> Option<String>,
) -> Result<(), Failure> {
    let mut cursor = "0".to_owned();
    let mut swapped = 0;
    loop {
        let (next, names) = place.live.scan(&cursor).await?;
        let names: Vec<String> = names.iter().filter_map(|name| choose(name)).collect();
        for names in names.chunks(PAIRS) {
            pairs(place, state, names).await?;
            swapped += names.len();
            place.moved(|| format!("{}: {swapped} keys", state.phase.name()));
        }
        if next == "0" {
            return Ok(());
        }
        cursor = next;
    }
}

async fn pairs(place: &Place, state: &State, names: &[String]) -> Result<(), Failure> {
    let live = place.live_keys();
    let mut keys = vec![live.rebuild(), live.index()];
    let run_out = (RUN_OUT * 900).to_string();
    let now = (place.live.now().await? / 1000).to_string();
    let mut args = vec![
        state.owner.clone(),
        state.phase.name().to_owned(),
        now,
        run_out,
    ];
    for name in names {
        keys.extend(place.pair(name));
        let kind = match Key::parse(name) {
            Some(Key::Board(_)) => "board",
            _ if name == "e" => "tombstones",
            _ => "",
        };
        args.push(kind.to_owned());
    }
    let done: i64 = place.live.run(&SWAP, &keys, &args).await?;
    if done == 1 { Ok(()) } else { Err(taken_over()) }
}

/// Names the spans and gives the stamp back: the service writes again.
async fn finish(place: &Place, state: &State, written: bool) -> Result<(), Failure> {
    let (live, shadow) = (place.live_keys(), &place.keys);
    let keys = [
        live.rebuild(),
        live.stamp(),
        live.index(),
        shadow.index(),
        shadow.stamp(),
        shadow.archived(),
        shadow.people(),
        shadow.again(),
        shadow.audit(),
        shadow.who(),
    ];
    let latest = place.live.now().await? / 1000 + SPANS;
    let written = u8::from(written).to_string();
    let args = [state.owner.clone(), latest.to_string(), written];
    let done: i64 = place.live.run(&FINISH, &keys, &args).await?;
    // Done before, if only the answer was lost.
    if done == 1 || State::look(place).await? == Some(Phase::Done) {
        Ok(())
    } else {
        Err(taken_over())
    }
}

/// Forgets how far all shards are, when they are done.
///
/// # Errors
///
/// [`Failure::Store`] where the store does not answer.
pub async fn forget(shards: &[Shard]) -> Result<(), Failure> {
    for Shard { place, .. } in shards {
        let key = place.live_keys().rebuild();
        let _: u64 = place.live.ask(&["UNLINK", &key]).await?;
    }
    Ok(())
}

/// An audit list that stays names users by its own numbers: the shadow's flags take those.
async fn number_as_held(place: &Place) -> Result<(), Failure> {
    let (who, flags) = (place.live_keys().who(), place.keys.flags());
    let mut numbers = HashMap::new();
    let mut subjects = pages(place, &who).await?;
    subjects.retain(|(field, _)| field.starts_with('s') && field != "subjects");
    for (field, user) in subjects {
        let number: Option<u64> = field.strip_prefix('s').and_then(|n| n.parse().ok());
        numbers.entry(user).or_insert(number);
    }
    for (user, held) in pages(place, &flags).await? {
        let letters = held.split(',').next().unwrap_or_default();
        if let Some(Some(number)) = numbers.get(&user) {
            let value = format!("{letters},{number}");
            let _: i64 = place.live.ask(&["HSET", &flags, &user, &value]).await?;
        }
    }
    Ok(())
}

async fn pages(place: &Place, key: &str) -> Result<Vec<(String, String)>, Failure> {
    let (mut pairs, mut cursor) = (Vec::new(), "0".to_owned());
    loop {
        let command = ["HSCAN", key, &cursor, "COUNT", "1000"];
        let (next, values): (String, Vec<String>) = place.live.ask(&command).await?;
        let (rows, _) = values.as_chunks::<2>();
        pairs.extend(
            rows.iter()
                .map(|[name, value]| (name.clone(), value.clone())),
        );
        if next == "0" {
            return Ok(pairs);
        }
        cursor = next;
    }
}
