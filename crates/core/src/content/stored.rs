//! A target as the store holds it.
//!
//! `users.lua` describes the text. A member of a board is the id of a target, preceded by
//! a second `#` if it begins with one: the member `#` is the order counter. Members sort as ids do.

use super::Target;

/// A registered target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTarget {
    /// The number of its registration, with several shards after that of one of them and a dot. A target that
    /// is deleted and registered again has another.
    pub number: String,
    /// When it was registered, in Unix ms.
    pub registered: i64,
    /// The number of authors that the registration has had.
    pub authorship: u32,
    /// The id of its author.
    pub author: Option<String>,
    /// The title and links.
    pub target: Target,
}

impl StoredTarget {
    /// Parses a stored target.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(5, ';');
        let mut next = || parts.next();
        let (number, registered) = (next()?, next()?.parse().ok()?);
        let (authorship, author, json) = (next()?.parse().ok()?, next()?, next()?);
        Some(Self {
            number: number.to_owned(),
            registered,
            authorship,
            author: (!author.is_empty()).then(|| author.to_owned()),
            target: Target::from_json(json)?,
        })
    }

    /// Returns the JSON of a stored target, which has its title and links, and the id of its author, empty for none.
    #[must_use]
    pub fn json_and_author(text: &str) -> Option<(&str, &str)> {
        let mut parts = text.splitn(5, ';').skip(3);
        let author = parts.next()?;
        Some((parts.next()?, author))
    }
}

/// Returns the member of boards for a target.
#[must_use]
pub fn member(id: &str) -> String {
    match id.starts_with('#') {
        true => format!("#{id}"),
        false => id.to_owned(),
    }
}

/// Returns the target of a member.
#[must_use]
pub fn id_of_member(member: &str) -> &str {
    match member.strip_prefix('#') {
        Some(id) if id.starts_with('#') => id,
        Some(_) | None => member,
    }
}

/// Returns the member that a field of the register, or an entry in the list of an author, belongs to: a stub such as
/// `#17 post-7` belongs to `post-7`.
#[must_use]
pub fn member_of_stub(name: &str) -> &str {
    let stub = name.strip_prefix('#').and_then(|rest| rest.split_once(' '));
    let is_number = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    match stub {
        Some((number, member)) if !number.is_empty() && is_number(number) => member,
        Some(_) | None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::NamedTarget;
    use proptest::prelude::*;
    use serde_json::json;

    proptest! {
        #[test]
        fn members_round_trip_in_order(a in "#{0,3}[a#]{1,3}", b in "[#a]{1,4}") {
            let (first, second) = (member(&a), member(&b));
            prop_assert_eq!(id_of_member(&first), &a);
            prop_assert_ne!(&first, "#");
            prop_assert_eq!(first.cmp(&second), a.cmp(&b));
        }

        /// The registration of `users.lua`: number, instant, authorship, author and JSON.
        #[test]
        fn stored_target_is_read_back(
            author in prop::option::of("[A-Za-z0-9_.:@|-]{1,64}"),
            title in prop::option::of("[;,]?.{0,202}"),
            url in prop::option::of("https://.{1,20}"),
            registered: i64,
        ) {
            let mut body = json!({});
            for (field, text) in [("author", author), ("title", title), ("image", url.clone()), ("url", url)] {
                if let Some(text) = text {
                    body[field] = json!(text);
                }
            }
            if let Ok(NamedTarget { author, target, .. }) = NamedTarget::parse("post-7", &body) {
                let json = serde_json::to_string(&target).unwrap();
                let text = format!("3.17;{registered};1;{};{json}", author.as_deref().unwrap_or_default());
                prop_assert_eq!(StoredTarget::json_and_author(&text), Some((&*json, author.as_deref().unwrap_or_default())));
                let number = "3.17".to_owned();
                let expected = StoredTarget { number, registered, authorship: 1, author, target };
                prop_assert_eq!(StoredTarget::parse(&text), Some(expected));
            }
        }
    }

    #[test]
    fn stub_belongs_to_a_member() {
        for (name, expected) in [
            ("#17 post-7", "post-7"),
            ("#3.17 ##a b", "##a b"),
            ("##1 a", "##1 a"),
            ("post-7 a", "post-7 a"),
            ("# a", "# a"),
            ("#", "#"),
        ] {
            assert_eq!(member_of_stub(name), expected);
        }
    }

    #[test]
    fn stored_target_parses() {
        let text = r#"3.17;1795132800000;1;9;{"title":"A; b","url":"https://a.example/7"}"#;
        let stored = StoredTarget::parse(text).unwrap();
        let target = Target {
            title: Some("A; b".to_owned()),
            url: Some("https://a.example/7".to_owned()),
            image: None,
        };
        let expected = StoredTarget {
            number: "3.17".to_owned(),
            registered: 1_795_132_800_000,
            authorship: 1,
            author: Some("9".to_owned()),
            target,
        };
        assert_eq!(stored, expected);
        let bare = StoredTarget::parse("1;0;0;;{}").unwrap();
        assert_eq!(bare.author, None);
        for odd in ["", "1;0;0;", "1;x;0;;{}", "1;0;0;;[]"] {
            assert_eq!(StoredTarget::parse(odd), None, "{odd}");
        }
    }
}
