//! Accounts: a member may have several users, and what is sent for one of them counts for the member.

use crate::error::{Error, FieldErrors};
use crate::id;
use serde_json::Value;

/// The accounts in the flags of a user, and their exclusions, as the store holds them.
///
/// `>2 9` of the second account that member 9 has had; `3 1=42 3=77` of a member who has had three accounts, and has two;
/// `0 0a4d55a8d778/1795132800000//17` of a member without accounts who gives nothing to another one. Empty for other users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts(String);

impl Accounts {
    /// Returns accounts from the text that the store holds.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the accounts of a user from their flags.
    #[must_use]
    pub fn from_flags(flags: &str) -> Self {
        Self::new(flags.splitn(3, ',').nth(2).unwrap_or_default())
    }

    /// Returns the text that the store holds.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the number of an account, and its member; `None` for a user who is no account.
    #[must_use]
    pub fn member(&self) -> Option<(&str, &str)> {
        self.0.strip_prefix('>')?.split_once(' ')
    }

    /// Returns the exclusions: whom the member gives nothing, as 12 digits of the SHA-1 of their id; from when until when,
    /// in Unix ms, empty for ever; and the case: between `/`.
    pub fn exclusions(&self) -> impl Iterator<Item = &str> {
        self.0.split(' ').filter(|word| word.contains('/'))
    }

    /// Returns the accounts of a member with the exclusions of others, as the store holds them.
    #[must_use]
    pub fn with_exclusions_of(&self, other: &Self) -> String {
        let own = self.0.split(' ').filter(|word| !word.contains('/'));
        let mut words: Vec<&str> = own.filter(|word| !word.is_empty()).collect();
        let exclusions: Vec<&str> = other.exclusions().collect();
        if words.is_empty() && !exclusions.is_empty() {
            words.push("0");
        }
        words.extend(exclusions);
        words.join(" ")
    }

    /// Returns number and user of each account of a member.
    pub fn list(&self) -> impl Iterator<Item = (&str, &str)> {
        let words = self.0.split(' ').skip(1);
        words.filter_map(|word| word.split_once('='))
    }

    /// Returns the number of an account of a member.
    #[must_use]
    pub fn number_of(&self, account: &str) -> Option<&str> {
        let mut list = self.list();
        list.find_map(|(number, known)| (known == account).then_some(number))
    }
}

/// A request that makes a user an account of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinRequest {
    /// The account.
    pub user: String,
    /// The member.
    pub of: String,
    /// The token of whichever of them has not sent the request; empty in a request of a service.
    pub token: String,
}

impl JoinRequest {
    /// Parses a request body; the account comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(user: &str, body: &Value) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("An account is a JSON object."));
        };
        let mut errors = FieldErrors::default();
        errors.reject_unknown(fields.keys(), &["of", "token"]);
        let user = errors.check("/user", id::checked_member(user));
        let text = |name: &str| fields.get(name).map_or(Some(""), Value::as_str);
        let of = errors.check("/of", id::member(fields.get("of")));
        let token = text("token").ok_or_else(|| "must be a user token".to_owned());
        let token = errors.check("/token", token);
        if of.is_some() && of == user {
            let same = "must be another user than the account".to_owned();
            errors.check::<()>("/of", Err(same));
        }
        let request = || {
            Some(Self {
                user: user?,
                of: of?,
                token: token?.to_owned(),
            })
        };
        errors.finish(request())
    }
}

/// Whether the activity of accounts before their joins counts for the member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// A recount has added it.
    Counted,
    /// The next recount adds it.
    Pending,
    /// There is no journal to add it from.
    LeftOut,
}

impl Past {
    fn name(self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::Pending => "pending",
            Self::LeftOut => "left-out",
        }
    }
}

/// Renders the member of an account, and the accounts of a member, and how far a recount of their past is, in percent. Ids need no
/// escapes.
#[must_use]
pub fn render(user: &str, accounts: &Accounts, past: Option<Past>, recount: Option<u64>) -> String {
    let of = accounts.member();
    let of = of.map_or_else(|| "null".to_owned(), |(_, member)| format!("\"{member}\""));
    let list: Vec<String> = accounts
        .list()
        .map(|(_, account)| format!("\"{account}\""))
        .collect();
    let list = list.join(",");
    let past = past.map_or_else(String::new, |past| format!(",\"past\":\"{}\"", past.name()));
    let recount = recount.map_or_else(String::new, |percent| format!(",\"recount\":{percent}"));
    format!(
        "{{\"user\":{{\"id\":\"{user}\"}},\"account_of\":{of},\"accounts\":[{list}]{past}{recount}}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn flags_name_accounts() {
        let accounts = |flags| Accounts::from_flags(flags);
        assert_eq!(accounts("hf,7"), Accounts::default());
        assert_eq!(accounts(",7,>2 9").member(), Some(("2", "9")));
        let list = accounts("f,7,3 1=42 3=a|b");
        assert_eq!(list.member(), None);
        assert!(list.list().eq([("1", "42"), ("3", "a|b")]));
        assert_eq!(list.number_of("a|b"), Some("3"));
        assert_eq!(list.number_of("4"), None);
        assert_eq!(accounts(",7,3").list().count(), 0);
        let excluded = accounts(",7,1 1=42 0a4d55a8d778/5//17");
        assert!(excluded.list().eq([("1", "42")]));
        assert!(excluded.exclusions().eq(["0a4d55a8d778/5//17"]));
        assert_eq!(list.exclusions().count(), 0);
        let merged = |own: &Accounts, other: &Accounts| own.with_exclusions_of(other);
        assert_eq!(merged(&list, &excluded), "3 1=42 3=a|b 0a4d55a8d778/5//17");
        assert_eq!(merged(&excluded, &list), "1 1=42");
        let none = Accounts::default();
        assert_eq!(merged(&none, &excluded), "0 0a4d55a8d778/5//17");
        assert_eq!(merged(&none, &none), "");
    }

    #[test]
    fn invalid_join_request_names_fields() {
        let parse = |user, body| JoinRequest::parse(user, &body).map_err(|error| error.problem());
        let valid = parse("42", json!({"of": "9"})).unwrap();
        assert_eq!((&*valid.user, &*valid.of, &*valid.token), ("42", "9", ""));
        for (user, body, pointers) in [
            ("42", json!({"of": "42"}), vec!["/of"]),
            (
                "4 2",
                json!({"of": [9], "token": 1}),
                vec!["/user", "/of", "/token"],
            ),
            ("42", json!({"to": "9"}), vec!["/to", "/of"]),
        ] {
            let problem = parse(user, body).unwrap_err();
            let found: Vec<&str> = problem.errors.iter().map(|e| &*e.pointer).collect();
            assert_eq!(found, pointers);
        }
        assert_eq!(parse("42", json!([])).unwrap_err().status, 400);
    }
}
