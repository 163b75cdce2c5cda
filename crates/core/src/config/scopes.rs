//! The scopes of service keys.

/// A permission of a service key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Sends activity, and reads the data of users.
    Activity,
    /// Writes profiles.
    Profiles,
    /// Registers targets.
    Content,
    /// Erases and moderates users, and reads their data.
    Admin,
    /// Reads the metrics, and nothing else.
    Metrics,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 5] = [
        Self::Activity,
        Self::Profiles,
        Self::Content,
        Self::Admin,
        Self::Metrics,
    ];

    /// Returns the name used in `SERVICE_KEYS` and responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Activity => "activity",
            Self::Profiles => "profiles",
            Self::Content => "content",
            Self::Admin => "admin",
            Self::Metrics => "metrics",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Every scope, including scopes added in the future.
    pub const ALL: Self = Self(u8::MAX);

    /// Parses names such as `activity+profiles`; `None` if a name is unknown.
    #[must_use]
    pub fn parse(names: &str) -> Option<Self> {
        let mut bits = 0;
        for name in names.split('+') {
            let scope = Scope::ALL.into_iter().find(|scope| scope.name() == name)?;
            bits |= scope.bit();
        }
        Some(Self(bits))
    }

    /// Returns whether the set contains a scope.
    #[must_use]
    pub fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scopes: Scopes) -> Vec<&'static str> {
        let contained = Scope::ALL.into_iter().filter(|scope| scopes.has(*scope));
        contained.map(Scope::name).collect()
    }

    #[test]
    fn scope_names_parse_in_any_order() {
        for (text, expected) in [
            ("activity", &["activity"][..]),
            ("admin", &["admin"]),
            ("profiles+activity", &["activity", "profiles"]),
            (
                "admin+profiles+activity",
                &["activity", "profiles", "admin"],
            ),
        ] {
            assert_eq!(names(Scopes::parse(text).unwrap()), expected);
        }
        assert_eq!(
            names(Scopes::ALL),
            ["activity", "profiles", "content", "admin", "metrics"]
        );
    }

    #[test]
    fn unknown_scope_names_are_rejected() {
        for text in [
            "",
            "+",
            "activity+",
            "+admin",
            "all",
            "*",
            "Admin",
            " admin",
            "admin,activity",
            "activity profiles",
            "activity+write",
        ] {
            assert_eq!(Scopes::parse(text), None, "{text}");
        }
    }
}
