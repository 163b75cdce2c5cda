//! The files of the bundle: the page and the OpenAPI document.

use super::answer::Answer;
use super::call::Call;
use crate::error::Error;

const OPENAPI: &str = include_str!("../../web/openapi.json");
const PAGE: &str = include_str!("../../web/index.html");

/// What the page may do: run its own script and style and no other, ask this service, and show
/// avatars from anywhere. Nothing is said of frames: any page may show it in one, which is how
/// boards are embedded, and there is nothing on it to click by mistake. (`frame-ancestors *` would
/// leave out pages opened from a file.)
const POLICY: &str = "default-src 'none'; \
    script-src 'sha256-C3PO9U+XCzR9opRXVjfiR/0diur3NGmmPeFwXpMIV4s='; \
    style-src 'sha256-hpk/XctIsNFvDR67SaBgrmWnIkgbOdtXa++k8gYgYwM='; \
    img-src https: data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

/// The page.
pub fn page(call: &Call) -> Result<Answer, Error> {
    let answer = Answer::text("text/html; charset=utf-8", PAGE)
        .with("content-security-policy", POLICY)
        .with("referrer-policy", "no-referrer");
    fixed(answer, call)
}

/// The OpenAPI document.
pub fn openapi(call: &Call) -> Result<Answer, Error> {
    fixed(Answer::text("application/json", OPENAPI), call)
}

fn fixed(answer: Answer, call: &Call) -> Result<Answer, Error> {
    call.no_parameters()?;
    let answer = answer.with("cache-control", "public, max-age=300");
    Ok(answer.tagged().unless_known(call.header("if-none-match")))
}

#[cfg(test)]
mod tests {
    use super::{PAGE, POLICY};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use ring::digest::{SHA256, digest};

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
