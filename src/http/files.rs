//! The page and the OpenAPI document. They are files of `web/` as the others, which the platform
//! serves itself; these two are answered here because they promise what every route does.

use super::answer::Answer;
use super::call::Call;
use super::edge::{is_bound, perform};
use crate::error::Error;
use worker::Env;

/// What the page may do: run its own script and style and no other, ask this service, and show
/// avatars from anywhere. Nothing is said of frames: any page may show it in one, which is how
/// boards are embedded, and there is nothing on it to click by mistake. (`frame-ancestors *` would
/// leave out pages opened from a file.)
const POLICY: &str = "default-src 'none'; \
    script-src 'sha256-C3PO9U+XCzR9opRXVjfiR/0diur3NGmmPeFwXpMIV4s='; \
    style-src 'sha256-hpk/XctIsNFvDR67SaBgrmWnIkgbOdtXa++k8gYgYwM='; \
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

    /// The page.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`], [`Error::Misconfigured`] where the file is missing.
    pub async fn page(&self, call: &Call) -> Result<Answer, Error> {
        let answer = self.fixed(call, "index.html", "text/html; charset=utf-8");
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
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use ring::digest::{SHA256, digest};

    const PAGE: &str = include_str!("../../web/index.html");

    /// What lies between the two, which is there once.
    fn between(start: &str, end: &str) -> &'static str {
        assert_eq!(PAGE.matches(start).count(), 1, "{start}");
        let (_, rest) = PAGE.split_once(start).expect("its start");
        rest.split_once(end).expect("its end").0
    }

    fn directive(name: &str) -> &'static str {
        let directives = POLICY.split(';').map(str::trim);
        let mut values = directives.filter_map(|directive| directive.strip_prefix(name));
        values.next().expect(name).trim()
    }

    #[test]
    fn the_policy_allows_the_script_and_style_of_the_page_and_no_other() {
        for (name, text) in [
            (
                "script-src",
                between("<script type=\"module\">", "</script>"),
            ),
            ("style-src", between("<style>", "</style>")),
        ] {
            let hash = STANDARD.encode(digest(&SHA256, text.as_bytes()));
            assert_eq!(directive(name), format!("'sha256-{hash}'"), "{name}");
        }
        assert!(!POLICY.contains("unsafe"), "{POLICY}");
        // What no hash allows.
        for inline in [
            " style=",
            " onclick=",
            " onload=",
            " onerror=",
            "javascript:",
        ] {
            assert!(!PAGE.contains(inline), "{inline}");
        }
    }
}
