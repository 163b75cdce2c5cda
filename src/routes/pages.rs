//! The pages and the OpenAPI document.
//!
//! They are files of `web/`, like the files that the platform serves itself. The Worker serves these
//! because it adds headers that it promises for every route.

use super::card;
use crate::app::{App, RequestContext};
use crate::log;
use crate::platform::assets;
use crate::request::Request;
use crate::response::Response;
use activity_rank_core::calendar::Period;
use activity_rank_core::card::Preview;
use activity_rank_core::config::{Branding, Config};
use activity_rank_core::error::Error;
use activity_rank_core::text::escaped;
use serde_json::json;

/// The content security policy of pages for members: scripts and styles of the deployment and no
/// inline ones, requests to this service, and avatars from anywhere. Any page may frame the boards,
/// where there is nothing to click by mistake. (`frame-ancestors *` would exclude pages opened from a
/// file.)
const OPEN: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' https: data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

/// The policy of the page with a service key: in no frame, and nothing from elsewhere.
const STRICT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The policy of the API reference, whose component has inline styles. Its readers enter keys too.
const REFERENCE: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The accent colour of a site without one, as in `page.css`.
const ACCENT: &str = "#00695c";

/// The description of a site that has none.
const ABOUT: &str = "The most active members, and how points are earned.";

/// The description of a member of whom everyone knows nothing.
const ABOUT_MEMBER: &str = "Points, places and activity of this member.";

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page<'a> {
    /// `/`
    Home,
    /// `/u/{user}`
    Member(&'a str),
    /// `/u/{user}/{period}`
    Recap(&'a str, &'a str),
    /// `/try`
    Playground,
    /// `/admin`
    Admin,
    /// `/gallery`
    Gallery,
    /// `/docs`
    Docs,
    /// `/status`
    Status,
    /// Every address without a page.
    Missing,
}

impl Page<'_> {
    /// Returns the name of its file and its policy.
    fn properties(self) -> (&'static str, &'static str) {
        match self {
            Self::Home => ("index.html", OPEN),
            Self::Member(_) => ("user.html", OPEN),
            Self::Recap(..) => ("recap.html", OPEN),
            Self::Playground => ("try.html", OPEN),
            Self::Admin => ("admin.html", STRICT),
            Self::Gallery => ("gallery.html", OPEN),
            Self::Docs => ("docs.html", REFERENCE),
            Self::Status => ("status.html", OPEN),
            Self::Missing => ("404.html", OPEN),
        }
    }
}

/// The texts of a page's placeholders: the owner's site, and what other sites show with a link to the page (Open Graph).
struct Texts<'a> {
    title: String,
    description: String,
    config: &'a Config,
    request: &'a Request,
}

impl Texts<'_> {
    /// Replaces the placeholders of a page.
    fn fill(&self, page: &str) -> String {
        let mut parts = page.split("{{");
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let found = part.split_once("}}");
            let found = found.and_then(|(name, rest)| Some((self.text(name)?, rest)));
            match found {
                Some((text, rest)) => {
                    filled += &escaped(&text);
                    filled += rest;
                }
                None => {
                    filled += "{{";
                    filled += part;
                }
            }
        }
        filled
    }

    /// Returns the text of a placeholder.
    fn text(&self, name: &str) -> Option<String> {
        let Request { origin, path, .. } = self.request;
        Some(match name {
            "title" => self.title.clone(),
            "description" => self.description.clone(),
            "url" => format!("{origin}{path}"),
            "origin" => origin.clone(),
            "name" => name_of(&self.config.site).to_owned(),
            "site" => self.config.site.json(),
            "achievements" if self.config.achievements.is_empty() => String::new(),
            "achievements" if self.config.badge_key.is_none() => "steps".to_owned(),
            "achievements" => "credentials".to_owned(),
            _ => return None,
        })
    }
}

/// A page. Its address may have any query: other sites append parameters to links.
pub async fn get(context: RequestContext<'_>, page: Page<'_>) -> Result<Response, Error> {
    let (name, policy) = page.properties();
    let site = &context.deployment.config.site;
    let (title, description) = match page {
        Page::Home => {
            let about = site.text("description").unwrap_or(ABOUT);
            (titled("Leaderboard", site), about.to_owned())
        }
        Page::Member(user) => {
            let Preview { name, description } = preview_of(context, user).await?;
            (titled(&name, site), description)
        }
        Page::Recap(user, period) => {
            let known = [Period::Year, Period::Month].map(|kind| kind.first_day(period));
            if known.iter().all(Option::is_none) {
                let detail = "A recap is of a year, such as 2026, or of a month, such as 2026-11.";
                return Err(Error::NotFound(detail.to_owned()));
            }
            let Preview { name, description } = preview_of(context, user).await?;
            (titled(&format!("{name} · {period}"), site), description)
        }
        Page::Playground if !context.deployment.config.playground => {
            let detail = "This deployment has no playground; PLAYGROUND turns it on.";
            return Err(Error::NotFound(detail.to_owned()));
        }
        Page::Playground
        | Page::Admin
        | Page::Gallery
        | Page::Docs
        | Page::Status
        | Page::Missing => (String::new(), String::new()),
    };
    let texts = Texts {
        title,
        description,
        config: &context.deployment.config,
        request: context.request,
    };
    let text = texts.fill(&file(context.app, name).await?);
    let mut response = static_text("text/html; charset=utf-8", text)
        .with("content-security-policy", policy)
        .with("referrer-policy", "no-referrer");
    if page == Page::Missing {
        response.status = 404;
    }
    Ok(match page {
        // A name must not outlive the member's wish to be hidden for longer than on a board.
        Page::Member(_) | Page::Recap(..) => {
            let max_age = context.deployment.config.board_max_age;
            response.with("cache-control", format!("public, max-age={max_age}"))
        }
        _ => response,
    })
}

/// Returns the name of the site, or what pages are called without one.
fn name_of(site: &Branding) -> &str {
    site.name().unwrap_or("Leaderboard")
}

/// Returns a title with the name of the site, if it has one.
fn titled(title: &str, site: &Branding) -> String {
    match site.name() {
        Some(name) => format!("{title} · {name}"),
        None => title.to_owned(),
    }
}

/// The web app manifest (W3C), with which browsers install the front page.
pub async fn manifest(context: RequestContext<'_>) -> Result<Response, Error> {
    let site = &context.deployment.config.site;
    let icon = match site.text("logo") {
        Some(logo) => json!({ "src": logo, "sizes": "any" }),
        None => json!({ "src": "/favicon.svg", "sizes": "any", "type": "image/svg+xml" }),
    };
    let manifest = json!({
        "id": "/",
        "name": name_of(site),
        "description": site.text("description").unwrap_or(ABOUT),
        "start_url": "/",
        "display": "minimal-ui",
        "theme_color": site.text("accent").unwrap_or(ACCENT),
        "icons": [icon],
    });
    Ok(static_text(
        "application/manifest+json",
        manifest.to_string(),
    ))
}

/// Returns what a page says of a member. A hidden one is described like one who does not exist, and so is everyone while
/// the store is unavailable.
async fn preview_of(context: RequestContext<'_>, user: &str) -> Result<Preview, Error> {
    let known = match card::preview(context, user).await {
        Err(error @ (Error::InvalidRequest(..) | Error::AccountOf(_))) => return Err(error),
        Err(Error::NotFound(_)) => None,
        Err(error) => {
            log::failure(context.request, &error);
            None
        }
        Ok(preview) => Some(preview),
    };
    let mut preview = known.unwrap_or_else(|| Preview {
        name: user.to_owned(),
        description: String::new(),
    });
    if preview.description.is_empty() {
        ABOUT_MEMBER.clone_into(&mut preview.description);
    }
    Ok(preview)
}

/// The OpenAPI document.
pub async fn openapi(context: RequestContext<'_>) -> Result<Response, Error> {
    let text = file(context.app, "openapi.json").await?;
    Ok(static_text("application/json", text))
}

/// Returns the text of a file.
async fn file(app: &App, name: &str) -> Result<String, Error> {
    app.assets.text(name).await.ok_or_else(|| {
        let remedy = format!("has no {name}; deploy the folder web with the Worker");
        Error::Misconfigured(assets::BINDING, remedy)
    })
}

fn static_text(media_type: &str, text: String) -> Response {
    Response::text(media_type, text)
        .with("cache-control", "public, max-age=300")
        .with_etag()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: [(Page<'_>, &str); 9] = [
        (Page::Home, include_str!("../../web/index.html")),
        (Page::Member(""), include_str!("../../web/user.html")),
        (Page::Recap("", ""), include_str!("../../web/recap.html")),
        (Page::Playground, include_str!("../../web/try.html")),
        (Page::Admin, include_str!("../../web/admin.html")),
        (Page::Gallery, include_str!("../../web/gallery.html")),
        (Page::Docs, include_str!("../../web/docs.html")),
        (Page::Status, include_str!("../../web/status.html")),
        (Page::Missing, include_str!("../../web/404.html")),
    ];
    /// What the build puts into several pages.
    const INCLUDES: [&str; 5] = [
        include_str!("../../web/includes/head.html"),
        include_str!("../../web/includes/preview.html"),
        include_str!("../../web/includes/header.html"),
        include_str!("../../web/includes/noscript.html"),
        include_str!("../../web/includes/footer.html"),
    ];

    #[test]
    fn pages_have_no_inline_code() {
        for (page, _) in PAGES {
            let (name, policy) = page.properties();
            let has_inline_styles = policy.contains("style-src 'self' 'unsafe-inline'");
            assert_eq!(has_inline_styles, page == Page::Docs, "{name}");
            assert!(policy.contains("script-src 'self';"), "{name}");
        }
        for text in PAGES.map(|(_, text)| text).into_iter().chain(INCLUDES) {
            for inline in [
                "<style",
                "<script>",
                "<script type=\"module\">",
                " style=",
                " onclick=",
                " onload=",
                " onerror=",
                "javascript:",
            ] {
                assert!(!text.contains(inline), "{inline}: {text}");
            }
        }
    }
}
