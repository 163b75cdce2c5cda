//! `GET /v1/feed.atom` and `GET /v1/feed.json`: the winners of past weeks as feeds.
//!
//! Atom is RFC 4287, JSON Feed version 1.1 of jsonfeed.org.

use super::{WINNERS, boards, check_weeks, path};
use crate::board::{BoardId, BoardKind, BoardSlice, Row};
use crate::calendar::{Calendar, Date, Instant, Period};
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::text;
use serde::Serialize;
use std::fmt::Write;

/// Past weeks of a feed: fewer than the default lifetime of their boards.
const WEEKS: usize = 8;

const TITLE: &str = "Most active members";

/// The author of the feed of a site without a name.
const AUTHOR: &str = "activity-rank";

/// The format of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedFormat {
    /// Atom.
    Atom,
    /// JSON Feed.
    Json,
}

/// A request for a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedRequest {
    /// The boards whose first rows are read; the last week comes first.
    pub boards: Vec<BoardId>,
    format: FeedFormat,
    /// The first day of the current week.
    current: Date,
}

/// A feed as JSON Feed has it.
#[derive(Debug, Serialize)]
struct Feed {
    version: &'static str,
    title: String,
    home_page_url: String,
    feed_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    authors: [Author; 1],
    items: Vec<Item>,
}

/// The author of a feed.
#[derive(Debug, Serialize)]
struct Author {
    name: String,
}

/// The digest of a week.
#[derive(Debug, Serialize)]
struct Item {
    id: String,
    url: String,
    title: String,
    content_html: String,
    date_published: String,
}

impl FeedFormat {
    /// Returns the path.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Atom => "/v1/feed.atom",
            Self::Json => "/v1/feed.json",
        }
    }

    /// Returns the media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Atom => "application/atom+xml; charset=utf-8",
            Self::Json => "application/feed+json",
        }
    }
}

impl FeedRequest {
    /// Rows to read of each board.
    pub const ROWS: u32 = WINNERS;

    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where boards of weeks are switched off.
    pub fn parse(format: FeedFormat, config: &Config, today: Date) -> Result<Self, Error> {
        check_weeks(Query::known("", &[]), config, today)?;
        let current = Period::Week.days(today).map_or(today, |(first, _)| first);
        let weeks = (1..=WEEKS).scan(current, |first, _| {
            *first = first.plus(-7);
            Some(*first)
        });
        Ok(Self {
            boards: weeks.flat_map(|first| boards(config, first)).collect(),
            format,
            current,
        })
    }

    /// Renders the response body from the first rows of [`Self::boards`]. Weeks without activity are left out.
    #[must_use]
    pub fn render(
        &self,
        slices: &[BoardSlice],
        origin: &str,
        calendar: &Calendar,
        config: &Config,
    ) -> String {
        let mut items: Vec<Item> = Vec::new();
        let mut is_empty = true;
        for (board, slice) in self.boards.iter().zip(slices) {
            if board.kind == BoardKind::Members {
                is_empty = slice.total == 0;
                if !is_empty {
                    items.push(Item::new(board.date, slice.total, origin, calendar));
                }
            }
            if let Some(item) = items.last_mut().filter(|_| !is_empty) {
                item.add(board.kind, &slice.rows, config);
            }
        }
        let site = &config.site;
        let feed = Feed {
            version: "https://jsonfeed.org/version/1.1",
            title: match site.name() {
                Some(name) => format!("{TITLE} · {name}"),
                None => TITLE.to_owned(),
            },
            home_page_url: format!("{origin}/"),
            feed_url: format!("{origin}{}", self.format.path()),
            icon: site.text("logo").map(str::to_owned),
            authors: [Author {
                name: site.name().unwrap_or(AUTHOR).to_owned(),
            }],
            items,
        };
        match self.format {
            FeedFormat::Json => serde_json::to_string(&feed).unwrap_or_default(),
            FeedFormat::Atom => feed.atom(calendar.start_of(self.current)),
        }
    }
}

impl Item {
    fn new(first: Date, total: u64, origin: &str, calendar: &Calendar) -> Self {
        let url = format!("{origin}{}", path(first));
        Self {
            id: url.clone(),
            url,
            title: format!("{TITLE}, {}", Period::Week.id(first)),
            content_html: format!("<p>Members on the board: {total}</p>"),
            date_published: calendar.start_of(first.plus(7)).to_string(),
        }
    }

    /// Adds the first rows of a board.
    fn add(&mut self, kind: BoardKind, rows: &[Row], config: &Config) {
        let heading = match kind {
            BoardKind::Members | BoardKind::Event => "",
            BoardKind::Content => "<h2>Content</h2>",
            BoardKind::Authors => "<h2>Authors</h2>",
        };
        let html = &mut self.content_html;
        if rows.is_empty() {
            return;
        }
        html.push_str(heading);
        html.push_str("<ol>");
        for row in rows {
            let (name, url) = match (&row.content, &row.profile) {
                (Some(content), _) => (&content.target.title, &content.target.url),
                (None, Some(profile)) => (&profile.name, &profile.url),
                (None, None) => (&None, &None),
            };
            // The direction of a name must not change the text after it.
            let name = text::escaped(name.as_deref().unwrap_or(&row.user));
            let name = format!("<bdi>{name}</bdi>");
            let points = serde_json::to_string(&kind.points(row.score, config.layout));
            let points = points.unwrap_or_default();
            // Writing to a string never fails.
            let _ = match url {
                Some(url) => {
                    let url = text::escaped(url);
                    write!(html, "<li><a href=\"{url}\">{name}</a>: {points}</li>")
                }
                None => write!(html, "<li>{name}: {points}</li>"),
            };
        }
        html.push_str("</ol>");
    }
}

impl Feed {
    fn atom(&self, updated: Instant) -> String {
        let [feed, home] = [&self.feed_url, &self.home_page_url].map(|url| text::escaped(url));
        let [Author { name: author }] = &self.authors;
        let [title, author] = [&self.title, author].map(|text| text::escaped(text));
        let icon = self.icon.as_ref().map(|icon| text::escaped(icon));
        let icon = icon.map_or_else(String::new, |icon| format!("<icon>{icon}</icon>"));
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\
             <id>{feed}</id><title>{title}</title><updated>{updated}</updated>\
             {icon}<author><name>{author}</name></author>\
             <link rel=\"self\" type=\"application/atom+xml\" href=\"{feed}\"/>\
             <link rel=\"alternate\" type=\"text/html\" href=\"{home}\"/>"
        );
        for item in &self.items {
            let Item {
                title,
                date_published,
                ..
            } = item;
            let (url, html) = (text::escaped(&item.url), text::escaped(&item.content_html));
            let _ = write!(
                xml,
                "<entry><id>{url}</id><title>{title}</title><updated>{date_published}</updated>\
                 <link rel=\"alternate\" type=\"application/json\" href=\"{url}\"/>\
                 <content type=\"html\">{html}</content></entry>"
            );
        }
        xml.push_str("</feed>");
        xml
    }
}
