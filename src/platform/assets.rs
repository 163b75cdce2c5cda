//! The static files of the deployment: the binding `ASSETS`.

use worker::{Env, Fetcher, Method, Request};

/// The name of the binding.
pub const BINDING: &str = "ASSETS";

/// The files of `web/`.
pub struct Assets(Option<Fetcher>);

impl Assets {
    /// Returns the files of a deployment.
    #[must_use]
    pub fn new(env: &Env) -> Self {
        Self(env.assets(BINDING).ok())
    }

    /// Returns the text of a file; `None` if it does not exist.
    pub async fn text(&self, name: &str) -> Option<String> {
        let fetcher = self.0.as_ref()?;
        // The binding only uses the path.
        let url = format!("https://activity-rank.invalid/{name}");
        // `Fetcher::fetch` would add 4 KB for the image options of a `RequestInit`.
        let request = Request::new(&url, Method::Get).ok()?;
        let mut response = fetcher.fetch_request(request).await.ok()?;
        match response.status_code() {
            200..=299 => response.text().await.ok(),
            _ => None,
        }
    }
}
