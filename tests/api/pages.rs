//! The pages: their policies, the texts that other sites show with a link, and `PLAYGROUND`.

use test_support::json;

use crate::app::TestApp;
use crate::problem::{ID, field_error, problem, unknown_path};
use crate::static_files::files;

/// The paths of pages and their files; none of them needs a store.
pub const PAGES: [(&str, &str); 7] = [
    ("/", "/index.html"),
    ("/u/42", "/user.html"),
    ("/try", "/try.html"),
    ("/admin", "/admin.html"),
    ("/gallery", "/gallery.html"),
    ("/docs", "/docs.html"),
    ("/status", "/status.html"),
];

/// Returns the text of a page with these texts in place of its placeholders. Without `SITE`, the site has no name.
pub fn filled(name: &str, texts: &[(&str, &str)]) -> String {
    let (_, page) = files()
        .into_iter()
        .find(|(path, _)| path == name)
        .expect(name);
    let texts = texts.iter().chain(&[
        ("name", "Leaderboard"),
        ("site", "{}"),
        ("achievements", ""),
    ]);
    texts.fold(page, |page, (placeholder, text)| {
        page.replace(&format!("{{{{{placeholder}}}}}"), text)
    })
}

/// Returns the texts of the page of a member of a service.
fn member<'a>(url: &'a str, origin: &'a str, title: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("url", url),
        ("origin", origin),
        ("title", title),
        ("description", "Points, places and activity of this member."),
    ]
}

fn start() -> TestApp {
    TestApp::with(|worker| worker.json("PLAYGROUND", json!(true)))
}

#[tokio::test]
async fn page_has_the_policy_of_what_it_does() {
    let app = start();
    let own = "default-src 'none'; script-src 'self'; style-src 'self'";
    let rest = "base-uri 'none'; form-action 'none'";
    let requests = format!("connect-src 'self'; {rest}");
    for (path, _) in PAGES {
        let policy = match path {
            "/admin" => {
                format!("{own}; img-src 'self' data:; {requests}; frame-ancestors 'none'")
            }
            "/docs" => format!(
                "{own} 'unsafe-inline'; img-src 'self' data:; font-src 'self'; {requests}; frame-ancestors 'none'"
            ),
            // Without `frame-ancestors`, any page may embed the board.
            _ => format!(
                "{own}; img-src 'self' https: data:; connect-src 'self'; manifest-src 'self'; {rest}"
            ),
        };
        let page = app.without_key().get(path).await;
        page.assert_status(200);
        let media_type = page.header("content-type");
        assert_eq!(media_type, Some("text/html; charset=utf-8"), "{path}");
        let tag = page.header("etag").expect("a tag").to_owned();
        let same = app.get_if_none_match(path, &tag).await;
        same.assert(304, json!(null));
        for response in [page, same, app.head(path).await] {
            let found = response.header("content-security-policy");
            assert_eq!(found, Some(&*policy), "{path}");
            assert_eq!(response.header("referrer-policy"), Some("no-referrer"));
        }
    }
}

#[tokio::test]
async fn pages_are_their_files() {
    let app = start();
    let health = app.read("/healthz").await;
    assert_eq!(health["configured"]["playground"], true);
    let origin = app.url();
    for (path, name) in PAGES {
        let url = format!("{origin}{path}");
        let home = [
            ("url", &*url),
            ("origin", origin),
            ("title", "Leaderboard"),
            (
                "description",
                "The most active members, and how points are earned.",
            ),
        ];
        let expected = match path {
            "/" => filled(name, &home),
            "/u/42" => filled(name, &member(&url, origin, "42")),
            _ => filled(name, &[]),
        };
        // Other sites append parameters to links.
        for path in [path, &format!("{path}?utm_source=mail&utm_source=x")] {
            if path.starts_with("/?") || path.starts_with("/u/42?") {
                app.get(path).await.assert_status(200);
            } else {
                assert_eq!(app.get(path).await.text, expected, "{path}");
            }
        }
    }
}

fn with_site() -> TestApp {
    TestApp::with(|worker| {
        worker.json(
            "SITE",
            json!({
                "name": "R&D forum",
                "description": "Who helps most.",
                "url": "https://forum.example",
                "logo": "https://forum.example/logo.png",
                "accent": "#7c3aed",
            }),
        )
    })
}

#[tokio::test]
async fn pages_name_the_site() {
    let app = with_site();
    app.set_name("42", "Ada").await;
    let origin = app.url();
    let site = "{&quot;accent&quot;:&quot;#7c3aed&quot;,&quot;description&quot;:&quot;Who helps most.&quot;,\
        &quot;logo&quot;:&quot;https://forum.example/logo.png&quot;,&quot;name&quot;:&quot;R&amp;D forum&quot;,\
        &quot;url&quot;:&quot;https://forum.example&quot;}";
    for (path, name, title, description) in [
        (
            "/",
            "/index.html",
            "Leaderboard · R&amp;D forum",
            "Who helps most.",
        ),
        (
            "/u/42",
            "/user.html",
            "Ada · R&amp;D forum",
            "Points, places and activity of this member.",
        ),
    ] {
        let texts = [
            ("url", &*format!("{origin}{path}")),
            ("origin", origin),
            ("title", title),
            ("description", description),
            ("name", "R&amp;D forum"),
            ("site", site),
        ];
        let page = app.without_key().get(path).await;
        page.assert_status(200);
        assert_eq!(page.text, filled(name, &texts), "{path}");
    }
}

/// Programs get a problem document.
#[tokio::test]
async fn reader_of_a_wrong_address_gets_a_page() {
    let app = TestApp::start();
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    for path in [
        "/nothing",
        "/u/42/nothing",
        "/index.html",
        "/try",
        "/u/nobody/share.svg",
    ] {
        let page = app.get_with(path, "accept", html).await;
        page.assert_status(404);
        assert_eq!(page.text, filled("/404.html", &[]), "{path}");
        let expected = Some("text/html; charset=utf-8");
        assert_eq!(page.header("content-type"), expected);
    }
    for (path, accept) in [("/nothing", "*/*"), ("/v1/nothing", html)] {
        let response = app.get_with(path, "accept", accept).await;
        response.assert(404, unknown_path().body());
    }
}

#[tokio::test]
async fn recap_is_of_a_year_or_a_month() {
    let app = TestApp::start();
    app.set_name("42", "Ada").await;
    let origin = app.url();
    for period in ["2026", "2026-11"] {
        let path = format!("/u/42/{period}");
        let page = app.without_key().get(&path).await;
        page.assert_status(200);
        let texts = [
            ("url", &*format!("{origin}{path}")),
            ("origin", origin),
            ("title", &format!("Ada · {period}")),
            ("description", "Points, places and activity of this member."),
        ];
        assert_eq!(page.text, filled("/recap.html", &texts), "{period}");
    }
    let detail = "A recap is of a year, such as 2026, or of a month, such as 2026-11.";
    for period in ["2026-13", "2026-W47", "all", "nothing"] {
        let response = app.get(&format!("/u/42/{period}")).await;
        response.assert(404, problem("not-found", detail));
    }
}

#[tokio::test]
async fn manifest_is_that_of_the_site() {
    let manifest = |name: &str, description: &str, colour: &str, icon| {
        json!({
            "id": "/", "name": name, "description": description, "start_url": "/", "display": "minimal-ui",
            "theme_color": colour, "icons": [icon],
        })
    };
    let default = manifest(
        "Leaderboard",
        "The most active members, and how points are earned.",
        "#00695c",
        json!({"src": "/favicon.svg", "sizes": "any", "type": "image/svg+xml"}),
    );
    let named = manifest(
        "R&D forum",
        "Who helps most.",
        "#7c3aed",
        json!({"src": "https://forum.example/logo.png", "sizes": "any"}),
    );
    for (app, expected) in [(TestApp::start(), default), (with_site(), named)] {
        let response = app.without_key().get("/site.webmanifest").await;
        response.assert(200, expected);
        let media_type = response.header("content-type");
        assert_eq!(media_type, Some("application/manifest+json"));
    }
}

/// The description of a link to a member is what their card says.
#[tokio::test]
async fn preview_describes_the_member() {
    let levels = json!({"Newcomer": 1});
    let app = TestApp::with(|worker| worker.json("LEVELS", levels));
    app.set_name("42", "Ada").await;
    app.count("42", "like", "p").await;
    let descriptions = async |path: &str| {
        let page = app.without_key().get(path).await.text;
        let tags = ["name=\"description\"", "property=\"og:description\""];
        tags.map(|tag| {
            let (_, rest) = page.split_once(tag).expect(tag);
            let content = rest.strip_prefix(" content=\"").expect("a content");
            content.split('"').next().unwrap_or_default().to_owned()
        })
    };
    let private = "#1 this week · 2 points. Newcomer";
    assert_eq!(descriptions("/u/42").await, [private; 2]);
    let public = json!({"name": "Ada", "public_activity": true});
    app.put_profile("42", public).await;
    let public = format!("{private}. 1-day streak (best: 1)");
    for path in ["/u/42", "/u/42/2026"] {
        assert_eq!(descriptions(path).await, [&*public; 2], "{path}");
    }
    app.moderate("42", true, false).await;
    let hidden = "Points, places and activity of this member.";
    assert_eq!(descriptions("/u/42").await, [hidden; 2]);
}

/// A page says no more of a hidden member than of one who does not exist.
#[tokio::test]
async fn member_page_names_only_visible_members() {
    let app = TestApp::start();
    let name = "<b title=\"x\">Ada & {{origin}}</b>";
    for user in ["shown", "moderated", "opted-out"] {
        app.set_name(user, name).await;
    }
    app.moderate("moderated", true, false).await;
    let opted_out = json!({"name": name, "hidden": true});
    app.put_profile("opted-out", opted_out).await;
    let escaped = "&lt;b title=&quot;x&quot;&gt;Ada &amp; {{origin}}&lt;/b&gt;";
    for (user, title) in [
        ("shown", escaped),
        ("moderated", "moderated"),
        ("opted-out", "opted-out"),
        ("unknown", "unknown"),
    ] {
        for caller in [app.without_key(), app.with_key(test_support::SERVICE_KEY)] {
            let (path, origin) = (format!("/u/{user}"), app.url());
            let page = caller.get(&path).await;
            let url = format!("{origin}{path}");
            let texts = member(&url, origin, title);
            assert_eq!(page.text, filled("/user.html", &texts), "{user}");
            assert_eq!(page.header("cache-control"), Some("public, max-age=0"));
        }
    }
    let invalid = app.get("/u/4%202").await;
    invalid.assert(400, field_error("user", ID).body());
}

#[tokio::test]
async fn pages_need_no_store() {
    let app = TestApp::with(|worker| {
        let worker = worker.store("http://127.0.0.1:1");
        worker.json("PLAYGROUND", json!(true))
    });
    for (path, _) in PAGES {
        app.get(path).await.assert_status(200);
    }
}
