//! Paths and methods.

use crate::error::Error;
use percent_encoding::percent_decode_str;

/// What a path leads to. Names in it are as sent, decoded but not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// `/v1/activity`
    Activity,
    /// `/v1/ranking/{period}`
    Ranking(String),
    /// `/v1/ranking/{period}/winners`
    Winners(String),
    /// `/v1/ranking/{period}/live`
    Live(String),
    /// `/v1/ranking/{period}/users`
    Comparison(String),
    /// `/v1/ranking/{period}/users/{user}`
    Standing(String, String),
    /// `/v1/users`
    Profiles,
    /// `/v1/users/{user}`
    Profile(String),
    /// `/v1/users/{user}/activity`
    History(String),
    /// `/v1/users/{user}/moderation`
    Verdict(String),
    /// `/v1/users/{user}/adjustments`
    Adjustments(String),
    /// `/v1/moderation`
    Audit,
    /// `/v1/journal`
    Journal,
    /// `/healthz`
    Health,
    /// `/openapi.json`
    OpenApi,
    /// `/`
    Page,
    /// `/docs`
    Docs,
}

impl Route {
    /// The route of a path.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub fn of(path: &str) -> Result<Self, Error> {
        let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let parts: Vec<String> = path.split('/').skip(1).map(decode).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Ok(match *parts {
            [""] => Self::Page,
            ["healthz"] => Self::Health,
            ["openapi.json"] => Self::OpenApi,
            ["docs"] => Self::Docs,
            ["v1", "activity"] => Self::Activity,
            ["v1", "ranking", period] => Self::Ranking(period.to_owned()),
            ["v1", "ranking", period, "winners"] => Self::Winners(period.to_owned()),
            ["v1", "ranking", period, "live"] => Self::Live(period.to_owned()),
            ["v1", "ranking", period, "users"] => Self::Comparison(period.to_owned()),
            ["v1", "ranking", period, "users", user] => {
                Self::Standing(period.to_owned(), user.to_owned())
            }
            ["v1", "users"] => Self::Profiles,
            ["v1", "users", user] => Self::Profile(user.to_owned()),
            ["v1", "users", user, "activity"] => Self::History(user.to_owned()),
            ["v1", "users", user, "moderation"] => Self::Verdict(user.to_owned()),
            ["v1", "users", user, "adjustments"] => Self::Adjustments(user.to_owned()),
            ["v1", "moderation"] => Self::Audit,
            ["v1", "journal"] => Self::Journal,
            _ => return Err(Error::NotFound("No route has this path.".to_owned())),
        })
    }

    /// The path with the names of its parameters, as the OpenAPI document has it.
    #[must_use]
    pub fn pattern(&self) -> &'static str {
        match self {
            Self::Activity => "/v1/activity",
            Self::Ranking(_) => "/v1/ranking/{period}",
            Self::Winners(_) => "/v1/ranking/{period}/winners",
            Self::Live(_) => "/v1/ranking/{period}/live",
            Self::Comparison(_) => "/v1/ranking/{period}/users",
            Self::Standing(..) => "/v1/ranking/{period}/users/{user}",
            Self::Profiles => "/v1/users",
            Self::Profile(_) => "/v1/users/{user}",
            Self::History(_) => "/v1/users/{user}/activity",
            Self::Verdict(_) => "/v1/users/{user}/moderation",
            Self::Adjustments(_) => "/v1/users/{user}/adjustments",
            Self::Audit => "/v1/moderation",
            Self::Journal => "/v1/journal",
            Self::Health => "/healthz",
            Self::OpenApi => "/openapi.json",
            Self::Page => "/",
            Self::Docs => "/docs",
        }
    }

    /// Whether reading it asks the store for anybody: others ask who is calling, or nothing.
    #[must_use]
    pub fn is_public(&self) -> bool {
        match self {
            Self::Ranking(_)
            | Self::Winners(_)
            | Self::Live(_)
            | Self::Comparison(_)
            | Self::Standing(..)
            | Self::Profile(_)
            | Self::Health => true,
            Self::Activity
            | Self::Profiles
            | Self::History(_)
            | Self::Verdict(_)
            | Self::Adjustments(_)
            | Self::Audit
            | Self::Journal
            | Self::OpenApi
            | Self::Page
            | Self::Docs => false,
        }
    }

    /// The methods there are, as the header `Allow` lists them.
    #[must_use]
    pub fn allow(&self) -> &'static str {
        match self {
            Self::Activity | Self::Adjustments(_) => "POST",
            Self::Profiles => "PUT",
            Self::Verdict(_) => "GET, HEAD, PUT",
            Self::Profile(_) => "GET, HEAD, PUT, DELETE",
            Self::Ranking(_)
            | Self::Winners(_)
            | Self::Live(_)
            | Self::Comparison(_)
            | Self::Standing(..)
            | Self::History(_)
            | Self::Audit
            | Self::Journal
            | Self::Health
            | Self::OpenApi
            | Self::Page
            | Self::Docs => "GET, HEAD",
        }
    }

    /// Whether there is this method.
    ///
    /// # Errors
    ///
    /// [`Error::MethodNotAllowed`].
    pub fn check(&self, method: &str) -> Result<(), Error> {
        let allow = self.allow();
        let known = allow.split(", ").any(|known| known == method);
        if known {
            Ok(())
        } else {
            Err(Error::MethodNotAllowed(allow))
        }
    }
}
