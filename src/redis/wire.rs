//! One request to the store and its whole answer. The only file that knows which client it is:
//! reqwest on the host, and in the Worker the platform's own, which costs nothing to bring along.

pub(super) use client::Wire;

/// What came back.
pub(super) struct Answer {
    /// The HTTP status.
    pub(super) status: u16,
    /// The body.
    pub(super) text: String,
}

#[cfg(target_arch = "wasm32")]
mod client {
    use super::Answer;
    use crate::http::edge::perform;

    /// The way to one URL.
    pub struct Wire {
        url: String,
        authorization: String,
        deadline: String,
    }

    impl Wire {
        /// To a URL with a bearer token, and a deadline for the whole answer in milliseconds.
        pub fn new(url: String, token: &str, deadline: u32) -> Self {
            Self {
                url,
                authorization: format!("Bearer {token}"),
                deadline: deadline.to_string(),
            }
        }

        /// Sends JSON and reads all that comes back, within the deadline; redirects are not
        /// followed.
        ///
        /// # Errors
        ///
        /// Why there is no answer; nothing in it is secret.
        pub async fn post(&self, body: String) -> Result<Answer, String> {
            let takes = [&self.url, &self.authorization, &self.deadline, &body];
            let mut status = perform("ask", &takes.map(String::as_str)).await?;
            let text = status.split_off(status.find('\n').map_or(0, |end| end + 1));
            match status.trim_end().parse() {
                Ok(0) | Err(_) => Err(text),
                Ok(status) => Ok(Answer { status, text }),
            }
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod client {
    use super::Answer;
    use reqwest::Client;
    use reqwest::redirect::Policy;
    use std::time::Duration;

    /// The way to one URL.
    pub struct Wire {
        client: Client,
        url: String,
        token: String,
        deadline: Duration,
    }

    impl Wire {
        /// To a URL with a bearer token, and a deadline for the whole answer in milliseconds.
        pub fn new(url: String, token: &str, deadline: u32) -> Self {
            let client = Client::builder().redirect(Policy::none()).build();
            Self {
                client: client.unwrap_or_default(),
                url,
                token: token.to_owned(),
                deadline: Duration::from_millis(u64::from(deadline)),
            }
        }

        /// Sends JSON and reads all that comes back, within the deadline; redirects are not
        /// followed.
        ///
        /// # Errors
        ///
        /// Why there is no answer; nothing in it is secret.
        pub async fn post(&self, body: String) -> Result<Answer, String> {
            let request = self.client.post(&self.url).bearer_auth(&self.token);
            let request = request.header("content-type", "application/json");
            let sent = request.body(body).timeout(self.deadline).send().await;
            let response = sent.map_err(told)?;
            let status = response.status().as_u16();
            let text = response.text().await.map_err(told)?;
            Ok(Answer { status, text })
        }
    }

    /// The URL is left out: it can carry credentials.
    fn told(error: reqwest::Error) -> String {
        format!("{:?}", error.without_url())
    }
}
