//! The pages and the OpenAPI document. They are files of `web/` as the others, which the platform
//! serves itself; these are answered here because they promise what every route does.

use super::answer::Answer;
use super::call::Call;
use super::edge::{is_bound, perform};
use crate::error::Error;
use worker::Env;

/// What a page may do: run scripts and styles that are files of the deployment and none that are
/// written into it, ask this service, and show avatars from anywhere. Nothing is said of frames: any
/// page may show the boards in one, where there is nothing to click by mistake. (`frame-ancestors *`
/// would leave out pages opened from a file.)
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src https: data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

const BINDING: &str = "ASSETS";

/// The files of a deployment.
pub struct Files {
    bound: bool,
}

impl Files {
    /// Those that a deployment has.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        Self {
            bound: is_bound(env, BINDING),
        }
    }

    /// A page, by the name of its file.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`], [`Error::Misconfigured`] where the file is missing.
    pub async fn page(&self, call: &Call, name: &str) -> Result<Answer, Error> {
        let answer = self.fixed(call, name, "text/html; charset=utf-8");
        let answer = answer.await?.with("content-security-policy", POLICY);
        Ok(known(call, answer.with("referrer-policy", "no-referrer")))
    }

    /// The OpenAPI document.
    ///
    /// # Errors
    ///
    /// As [`Self::page`].
    pub async fn openapi(&self, call: &Call) -> Result<Answer, Error> {
        let answer = self.fixed(call, "openapi.json", "application/json");
        Ok(known(call, answer.await?))
    }

    async fn fixed(&self, call: &Call, name: &str, media_type: &str) -> Result<Answer, Error> {
        call.no_parameters()?;
        let text = self.text(name).await.ok_or_else(|| {
            let detail = format!("has no {name}; deploy the folder web with the Worker");
            Error::Misconfigured(BINDING, detail)
        })?;
        let answer = Answer::text(media_type, text).with("cache-control", "public, max-age=300");
        Ok(answer.tagged())
    }

    async fn text(&self, name: &str) -> Option<String> {
        if !self.bound {
            return None;
        }
        perform("text_of", &[name]).await.ok()
    }
}

fn known(call: &Call, answer: Answer) -> Answer {
    answer.unless_known(call.header("if-none-match"))
}

#[cfg(test)]
mod tests {
    use super::POLICY;

    const PAGES: [&str; 2] = [
        include_str!("../../web/index.html"),
        include_str!("../../web/docs.html"),
    ];

    #[test]
    fn the_policy_allows_nothing_written_into_a_page_and_there_is_nothing() {
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
