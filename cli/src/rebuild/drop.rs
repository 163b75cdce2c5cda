//! Gives a shadow up.

use super::place::Place;
use super::state::{Phase, State};
use crate::failure::Failure;

/// Takes away all that lies in the shadow, and how far it was.
///
/// # Errors
///
/// [`Failure::Store`] where the store does not answer.
pub async fn give_up(place: &Place, state: &mut State) -> Result<(), Failure> {
    if state.phase != Phase::Drop {
        state.turn(place, Phase::Drop, false).await?;
    }
    let mut cursor = "0".to_owned();
    loop {
        let (next, names) = place.live.scan(&cursor).await?;
        let shadows = names.iter().filter(|name| name.starts_with('~'));
        let shadows: Vec<String> = shadows
            .map(|name| format!("{}{name}", place.live.tag))
            .collect();
        if !shadows.is_empty() {
            let keys: Vec<&str> = shadows.iter().map(String::as_str).collect();
            let _: u64 = place
                .live
                .ask(&[&["UNLINK"], keys.as_slice()].concat())
                .await?;
        }
        if next == "0" {
            break;
        }
        cursor = next;
    }
    let _: u64 = place
        .live
        .ask(&["UNLINK", &place.live_keys().rebuild()])
        .await?;
    Ok(())
}
