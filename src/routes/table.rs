//! The routes: paths and methods.

use activity_rank_core::board::BoardKind;
use activity_rank_core::card::CardFormat;
use activity_rank_core::digest::FeedFormat;
use activity_rank_core::error::Error;
use percent_encoding::percent_decode_str;

/// The methods of a route that is only read.
const READ: &str = "GET, HEAD";

/// A route. Its parameters are percent-decoded, but not validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// `/v1/activity`
    Activity,
    /// `/v1/ranking/{period}`
    /// `/v1/content/{period}`
    /// `/v1/authors/{period}`
    /// `/v1/events/{event}/ranking`
    Board(BoardKind, String),
    /// `/v1/content/hot`
    Hot,
    /// `/v1/ranking/{period}/winners`
    Winners(String),
    /// `/v1/ranking/{period}/live`
    /// `/v1/content/{period}/live`
    /// `/v1/authors/{period}/live`
    /// `/v1/events/{event}/live`
    Live(BoardKind, String),
    /// `/v1/ranking/{period}/users`
    /// `/v1/events/{event}/ranking/users`
    Comparison(BoardKind, String),
    /// `/v1/ranking/{period}/users/{user}`
    /// `/v1/content/{period}/targets/{target}`
    /// `/v1/authors/{period}/users/{user}`
    /// `/v1/events/{event}/ranking/users/{user}`
    Standing(BoardKind, String, String),
    /// `/v1/events`
    Events,
    /// `/v1/events/{event}`
    Event(String),
    /// `/v1/events/{event}/recount`
    EventRecount(String),
    /// `/v1/targets`
    Targets,
    /// `/v1/targets/{target}`
    Target(String),
    /// `/v1/targets/{target}/moderation`
    TargetModeration(String),
    /// `/v1/users`
    Profiles,
    /// `/v1/users/{user}`
    Profile(String),
    /// `/v1/users/{user}/activity`
    History(String),
    /// `/v1/users/{user}/points`
    Points(String),
    /// `/v1/users/{user}/standings`
    Standings(String),
    /// `/v1/users/{user}/card`
    /// `/v1/users/{user}/card.svg`
    /// `/v1/users/{user}/badge.svg`
    Card(CardFormat, String),
    /// `/v1/users/{user}/targets`
    UserTargets(String),
    /// `/v1/users/{user}/moderation`
    Moderation(String),
    /// `/v1/users/{user}/adjustments`
    Adjustments(String),
    /// `/v1/moderation`
    AuditLog,
    /// `/v1/journal`
    Journal,
    /// `/v1/webhooks/deliveries`
    WebhookDeliveries,
    /// `/v1/webhooks/deliveries/{id}/retry`
    WebhookRetry(String),
    /// `/v1/stats`
    Stats,
    /// `/v1/status`
    Status,
    /// `/v1/digest/{week}`
    Digest(String),
    /// `/v1/feed.atom`
    /// `/v1/feed.json`
    Feed(FeedFormat),
    /// `/healthz`
    Health,
    /// `/metrics`
    Metrics,
    /// `/openapi.json`
    OpenApi,
    /// One of the pages.
    Page(Page),
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Page {
    /// `/`
    Home,
    /// `/u/{user}`
    Member(String),
    /// `/try`
    Playground,
    /// `/admin`
    Admin,
    /// `/gallery`
    Gallery,
    /// `/docs`
    Docs,
}

impl Route {
    /// Parses a path.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub fn parse(path: &str) -> Result<Self, Error> {
        let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let parts: Vec<String> = path.split('/').skip(1).map(decode).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Ok(match *parts {
            [""] => Self::Page(Page::Home),
            ["healthz"] => Self::Health,
            ["metrics"] => Self::Metrics,
            ["openapi.json"] => Self::OpenApi,
            ["u", user] => Self::Page(Page::Member(user.to_owned())),
            ["try"] => Self::Page(Page::Playground),
            ["admin"] => Self::Page(Page::Admin),
            ["gallery"] => Self::Page(Page::Gallery),
            ["docs"] => Self::Page(Page::Docs),
            ["v1", "activity"] => Self::Activity,
            ["v1", "content", "hot"] => Self::Hot,
            ["v1", kind @ ("ranking" | "content" | "authors"), period] => {
                Self::Board(BoardKind::from_path(kind), period.to_owned())
            }
            ["v1", "ranking", period, "winners"] => Self::Winners(period.to_owned()),
            [
                "v1",
                kind @ ("ranking" | "content" | "authors"),
                period,
                "live",
            ] => Self::Live(BoardKind::from_path(kind), period.to_owned()),
            ["v1", "ranking", period, "users"] => {
                Self::Comparison(BoardKind::Members, period.to_owned())
            }
            ["v1", "events"] => Self::Events,
            ["v1", "events", event] => Self::Event(event.to_owned()),
            ["v1", "events", event, "recount"] => Self::EventRecount(event.to_owned()),
            ["v1", "events", event, "ranking"] => Self::Board(BoardKind::Event, event.to_owned()),
            ["v1", "events", event, "live"] => Self::Live(BoardKind::Event, event.to_owned()),
            ["v1", "events", event, "ranking", "users"] => {
                Self::Comparison(BoardKind::Event, event.to_owned())
            }
            ["v1", "events", event, "ranking", "users", user] => {
                Self::Standing(BoardKind::Event, event.to_owned(), user.to_owned())
            }
            ["v1", kind @ ("ranking" | "authors"), period, "users", id]
            | ["v1", kind @ "content", period, "targets", id] => {
                Self::Standing(BoardKind::from_path(kind), period.to_owned(), id.to_owned())
            }
            ["v1", "targets"] => Self::Targets,
            ["v1", "targets", target] => Self::Target(target.to_owned()),
            ["v1", "targets", target, "moderation"] => Self::TargetModeration(target.to_owned()),
            ["v1", "users"] => Self::Profiles,
            ["v1", "users", user] => Self::Profile(user.to_owned()),
            ["v1", "users", user, "activity"] => Self::History(user.to_owned()),
            ["v1", "users", user, "points"] => Self::Points(user.to_owned()),
            ["v1", "users", user, "standings"] => Self::Standings(user.to_owned()),
            [
                "v1",
                "users",
                user,
                format @ ("card" | "card.svg" | "badge.svg"),
            ] => Self::Card(CardFormat::from_path(format), user.to_owned()),
            ["v1", "users", user, "targets"] => Self::UserTargets(user.to_owned()),
            ["v1", "users", user, "moderation"] => Self::Moderation(user.to_owned()),
            ["v1", "users", user, "adjustments"] => Self::Adjustments(user.to_owned()),
            ["v1", "moderation"] => Self::AuditLog,
            ["v1", "journal"] => Self::Journal,
            ["v1", "webhooks", "deliveries"] => Self::WebhookDeliveries,
            ["v1", "webhooks", "deliveries", id, "retry"] => Self::WebhookRetry(id.to_owned()),
            ["v1", "stats"] => Self::Stats,
            ["v1", "status"] => Self::Status,
            ["v1", "digest", week] => Self::Digest(week.to_owned()),
            ["v1", "feed.atom"] => Self::Feed(FeedFormat::Atom),
            ["v1", "feed.json"] => Self::Feed(FeedFormat::Json),
            _ => return Err(Error::NotFound("No route has this path.".to_owned())),
        })
    }

    /// Returns the path with the names of its parameters, as in the OpenAPI document.
    #[must_use]
    pub fn pattern(&self) -> &'static str {
        self.properties().0
    }

    /// Returns the allowed methods, as the value of `Allow`.
    #[must_use]
    pub fn allow(&self) -> &'static str {
        self.properties().1
    }

    /// Returns whether a read needs the store but no authentication.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.properties().2
    }

    /// Returns the pattern, the allowed methods and whether a read is public.
    fn properties(&self) -> (&'static str, &'static str, bool) {
        match self {
            Self::Activity => ("/v1/activity", "POST", false),
            Self::Board(BoardKind::Members, _) => ("/v1/ranking/{period}", READ, true),
            Self::Board(BoardKind::Content, _) => ("/v1/content/{period}", READ, true),
            Self::Board(BoardKind::Authors, _) => ("/v1/authors/{period}", READ, true),
            Self::Board(BoardKind::Event, _) => ("/v1/events/{event}/ranking", READ, true),
            Self::Hot => ("/v1/content/hot", READ, true),
            Self::Winners(_) => ("/v1/ranking/{period}/winners", READ, true),
            Self::Live(BoardKind::Members, _) => ("/v1/ranking/{period}/live", READ, true),
            Self::Live(BoardKind::Content, _) => ("/v1/content/{period}/live", READ, true),
            Self::Live(BoardKind::Authors, _) => ("/v1/authors/{period}/live", READ, true),
            Self::Live(BoardKind::Event, _) => ("/v1/events/{event}/live", READ, true),
            Self::Comparison(BoardKind::Event, _) => {
                ("/v1/events/{event}/ranking/users", READ, true)
            }
            Self::Comparison(..) => ("/v1/ranking/{period}/users", READ, true),
            Self::Events => ("/v1/events", READ, true),
            Self::Event(_) => ("/v1/events/{event}", "GET, HEAD, PUT, DELETE", true),
            Self::EventRecount(_) => ("/v1/events/{event}/recount", "POST", false),
            Self::Standing(BoardKind::Event, ..) => {
                ("/v1/events/{event}/ranking/users/{user}", READ, true)
            }
            Self::Standing(BoardKind::Members, ..) => {
                ("/v1/ranking/{period}/users/{user}", READ, true)
            }
            Self::Standing(BoardKind::Content, ..) => {
                ("/v1/content/{period}/targets/{target}", READ, true)
            }
            Self::Standing(BoardKind::Authors, ..) => {
                ("/v1/authors/{period}/users/{user}", READ, true)
            }
            Self::Targets => ("/v1/targets", "PUT", false),
            Self::Target(_) => ("/v1/targets/{target}", "GET, HEAD, PUT, DELETE", true),
            Self::TargetModeration(_) => {
                ("/v1/targets/{target}/moderation", "GET, HEAD, PUT", false)
            }
            Self::Profiles => ("/v1/users", "PUT", false),
            Self::Profile(_) => ("/v1/users/{user}", "GET, HEAD, PUT, DELETE", true),
            Self::History(_) => ("/v1/users/{user}/activity", READ, false),
            Self::Points(_) => ("/v1/users/{user}/points", READ, false),
            Self::Standings(_) => ("/v1/users/{user}/standings", READ, false),
            Self::Card(format, _) => (format.pattern(), READ, true),
            Self::UserTargets(_) => ("/v1/users/{user}/targets", READ, true),
            Self::Moderation(_) => ("/v1/users/{user}/moderation", "GET, HEAD, PUT", false),
            Self::Adjustments(_) => ("/v1/users/{user}/adjustments", "POST", false),
            Self::AuditLog => ("/v1/moderation", READ, false),
            Self::Journal => ("/v1/journal", READ, false),
            Self::WebhookDeliveries => ("/v1/webhooks/deliveries", READ, false),
            Self::WebhookRetry(_) => ("/v1/webhooks/deliveries/{id}/retry", "POST", false),
            Self::Stats => ("/v1/stats", READ, false),
            Self::Status => ("/v1/status", READ, false),
            Self::Digest(_) => ("/v1/digest/{week}", READ, true),
            Self::Feed(format) => (format.path(), READ, true),
            Self::Health => ("/healthz", READ, true),
            Self::Metrics => ("/metrics", READ, false),
            Self::OpenApi => ("/openapi.json", READ, false),
            Self::Page(Page::Home) => ("/", READ, false),
            Self::Page(Page::Member(_)) => ("/u/{user}", READ, true),
            Self::Page(Page::Playground) => ("/try", READ, false),
            Self::Page(Page::Admin) => ("/admin", READ, false),
            Self::Page(Page::Gallery) => ("/gallery", READ, false),
            Self::Page(Page::Docs) => ("/docs", READ, false),
        }
    }

    /// Checks a method.
    ///
    /// # Errors
    ///
    /// [`Error::MethodNotAllowed`].
    pub fn check_method(&self, method: &str) -> Result<(), Error> {
        let allow = self.allow();
        if allow.split(", ").any(|known| known == method) {
            Ok(())
        } else {
            Err(Error::MethodNotAllowed(allow))
        }
    }
}
