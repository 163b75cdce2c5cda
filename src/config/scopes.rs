//! What a service key is good for.

/// A part of what services may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Sending activity and reading histories.
    Activity,
    /// Writing profiles.
    Profiles,
    /// Erasing users and moderating them.
    Admin,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::Activity, Self::Profiles, Self::Admin];

    /// The name in `SERVICE_KEYS` and in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Activity => "activity",
            Self::Profiles => "profiles",
            Self::Admin => "admin",
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
    /// All there are and will be.
    pub const ALL: Self = Self(u8::MAX);

    /// Reads `activity+profiles`; `None` unless each is the name of a scope.
    #[must_use]
    pub fn parse(names: &str) -> Option<Self> {
        let mut bits = 0;
        for name in names.split('+') {
            let scope = Scope::ALL.into_iter().find(|scope| scope.name() == name)?;
            bits |= scope.bit();
        }
        Some(Self(bits))
    }

    /// Whether this is one of them.
    #[must_use]
    pub fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn had(scopes: Scopes) -> Vec<&'static str> {
        let had = Scope::ALL.into_iter().filter(|scope| scopes.has(*scope));
        had.map(Scope::name).collect()
    }

    #[test]
    fn scopes_are_names_between_plus_signs_in_any_order() {
        for (names, expected) in [
            ("activity", &["activity"][..]),
            ("admin", &["admin"]),
            ("profiles+activity", &["activity", "profiles"]),
            (
                "admin+profiles+activity",
                &["activity", "profiles", "admin"],
            ),
        ] {
            assert_eq!(had(Scopes::parse(names).unwrap()), expected);
        }
        assert_eq!(had(Scopes::ALL), ["activity", "profiles", "admin"]);
    }

    #[test]
    fn other_words_are_no_scopes() {
        for names in [
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
            assert_eq!(Scopes::parse(names), None, "{names}");
        }
    }
}
