//! The check of all facts before the first is sent: what a run would refuse.

use activity_rank_core::content::NamedTarget;
use activity_rank_core::profile::NamedProfile;
use serde_json::Value;

use crate::facts::{Facts, Key};
use crate::item::ItemCheck;

/// Takes what the service would refuse from the facts. An activity becomes a fault; a name, title or link is left out.
/// Returns the number of those.
pub fn check(facts: &mut Facts, check: &ItemCheck) -> u64 {
    let mut faults = Vec::new();
    facts.activities.retain(|key, fact| {
        let invalid = check.read(&key.json(fact, fact.at)).err();
        if let Some(error) = &invalid {
            let Key {
                user,
                action,
                target,
                ..
            } = key;
            let detail = error.problem().detail;
            faults.push((fact.place, format!("{user} {action} {target}: {detail}")));
        }
        invalid.is_none()
    });
    for (place, detail) in faults {
        facts.fault(place, detail);
    }
    facts.faults.sort_by_key(|fault| fault.place);
    let mut left_out = 0;
    let is_profile = |fields| NamedProfile::parse(&Value::Object(fields)).is_ok();
    facts.profiles.retain(|user, profile| {
        if !is_profile(profile.json(user)) {
            left_out += 1;
            (profile.avatar, profile.url) = (None, None);
        }
        !profile.is_empty() && is_profile(profile.json(user))
    });
    let is_target = |fields| NamedTarget::parse_item(&Value::Object(fields)).is_ok();
    facts.targets.retain(|id, target| {
        if !is_target(target.json(id)) {
            left_out += 1;
            (target.url, target.image) = (None, None);
        }
        if !is_target(target.json(id)) {
            target.title = None;
        }
        is_target(target.json(id))
    });
    left_out
}
