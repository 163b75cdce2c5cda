//! Who the bearer of a user token is.

use crate::activity::MOST_GROUPS;
use crate::id;
use crate::users::{Profile, claimed_profile};
use serde_json::{Map, Value};

/// A user, as a token tells of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The user's id.
    pub id: String,
    /// On whose boards their activity counts too: at most [`MOST_GROUPS`].
    pub groups: Vec<String>,
    /// What to show of them while they have no profile, if the token tells.
    pub profile: Option<Profile>,
}

impl Member {
    /// Reads the claims of a token that holds; `None` where `sub` is not the id of a user.
    #[must_use]
    pub fn read(claims: &Map<String, Value>, groups_claim: Option<&str>) -> Option<Self> {
        Some(Self {
            id: claims.get("sub").and_then(id::user)?,
            groups: groups(groups_claim.and_then(|claim| claims.get(claim))),
            profile: claimed_profile(claims),
        })
    }
}

/// A text or a list of texts. An issuer's groups are made for other ends too: those that cannot
/// be groups here are left out, so that their members may still call.
fn groups(claim: Option<&Value>) -> Vec<String> {
    let claimed = match claim {
        Some(Value::Array(several)) => several.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let mut groups = Vec::new();
    for group in claimed.iter().filter_map(Value::as_str) {
        let new = || !groups.iter().any(|known| known == group);
        if groups.len() < MOST_GROUPS && id::is_id(group) && new() {
            groups.push(group.to_owned());
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(claims: Value, groups_claim: Option<&str>) -> Option<Member> {
        Member::read(claims.as_object().unwrap(), groups_claim)
    }

    #[test]
    fn a_sub_that_is_no_id_is_nobody() {
        let of = |sub: Value| read(json!({"sub": sub}), None).map(|member| member.id);
        assert_eq!(of(json!(42)), Some("42".to_owned()));
        for sub in [
            json!("4 2"),
            json!(""),
            json!(4.5),
            json!(null),
            json!(["42"]),
            json!(".."),
        ] {
            assert_eq!(of(sub), None);
        }
        assert_eq!(read(json!({}), None), None);
    }

    #[test]
    fn groups_are_a_text_or_a_list_of_texts_and_the_first_four_good_ones_count() {
        let of = |groups: Value| {
            let claims = json!({"sub": "42", "https://example.com/groups": groups});
            read(claims, Some("https://example.com/groups"))
                .unwrap()
                .groups
        };
        assert_eq!(of(json!("eu")), ["eu"]);
        assert_eq!(of(json!(["us", "eu"])), ["us", "eu"]);
        assert_eq!(of(json!(["eu", "eu", "us", "eu"])), ["eu", "us"]);
        assert_eq!(of(json!(["a", "b", "c", "d", "e"])), ["a", "b", "c", "d"]);
        let bad = json!([
            "",
            "a b",
            "..",
            "a,b",
            7,
            null,
            ["x"],
            "a".repeat(65),
            "e",
            "e",
            "ok"
        ]);
        assert_eq!(of(bad), ["e", "ok"]);
        for none in [
            json!(null),
            json!([]),
            json!(7),
            json!(true),
            json!({"eu": 1}),
            json!("a b"),
        ] {
            assert_eq!(of(none), [""; 0]);
        }
    }

    #[test]
    fn no_claim_holds_groups_unless_it_is_configured() {
        let claims = json!({"sub": "42", "groups": ["eu"]});
        assert_eq!(read(claims.clone(), None).unwrap().groups, [""; 0]);
        assert_eq!(read(claims, Some("roles")).unwrap().groups, [""; 0]);
    }
}
