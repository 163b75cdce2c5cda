//! The pages and the OpenAPI document.
//!
//! They are files of `web/`, like the files that the platform serves itself. The Worker serves these
//! because it adds headers that it promises for every route.

use crate::app::App;
use crate::platform::assets;
use crate::request::Request;
use crate::response::Response;
use activity_rank_core::error::Error;

/// The content security policy of a page: scripts and styles of the deployment and no inline ones,
/// requests to this service, and avatars from anywhere. Any page may frame the boards, where there
/// is nothing to click by mistake. (`frame-ancestors *` would exclude pages opened from a file.)
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src https: data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

/// A page, by the name of its file.
pub async fn page(app: &App, request: &Request, name: &str) -> Result<Response, Error> {
    let response = file(app, request, name, "text/html; charset=utf-8").await?;
    Ok(response
        .with("content-security-policy", POLICY)
        .with("referrer-policy", "no-referrer"))
}

/// The OpenAPI document.
pub async fn openapi(app: &App, request: &Request) -> Result<Response, Error> {
    file(app, request, "openapi.json", "application/json").await
}

async fn file(
    app: &App,
    request: &Request,
    name: &str,
    media_type: &str,
) -> Result<Response, Error> {
    request.reject_parameters()?;
    let text = app.assets.text(name).await.ok_or_else(|| {
        let remedy = format!("has no {name}; deploy the folder web with the Worker");
        Error::Misconfigured(assets::BINDING, remedy)
    })?;
    let response = Response::text(media_type, text).with("cache-control", "public, max-age=300");
    Ok(response.with_etag())
}

#[cfg(test)]
mod tests {
    use super::POLICY;

    const PAGES: [&str; 2] = [
        include_str!("../../web/index.html"),
        include_str!("../../web/docs.html"),
    ];

    #[test]
    fn pages_have_no_inline_code() {
        assert!(!POLICY.contains("unsafe"), "{POLICY}");
        for page in PAGES {
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
                assert!(!page.contains(inline), "{inline}");
            }
        }
    }
}
