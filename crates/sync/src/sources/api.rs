//! Requests to the API of a source.

use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::Value;
use url::Url;

use crate::count::count;
use crate::failure::Failure;
use crate::platform::{Platform, Progress, Request, Response};
use crate::printable::printable;
use crate::request_error::RequestError;
use crate::retry::{self, with_backoff};

const REMAINING: &str = "x-ratelimit-remaining";
const RESET: &str = "x-ratelimit-reset";
/// The least wait for a rate limit that does not say when it ends.
pub const LIMITED: Duration = Duration::from_secs(60);

/// The longest wait for a rate limit. The sources end theirs within an hour.
const MAX_WAIT: Duration = Duration::from_hours(2);
/// The most times that a rate limit may refuse a request.
const WAITS: usize = 10;

/// Maximum number of reads of a list that loses items meanwhile.
const READS: usize = 5;
/// The most pages of a list: of most sources five million items.
const PAGES: u64 = 50_000;

/// Sends requests, repeats them after failures, and waits for rate limits.
pub struct Api<'a> {
    /// Name of the software.
    pub name: &'static str,
    /// Where waits are shown.
    pub progress: &'a dyn Progress,
    /// Where and how it is sent.
    pub connection: &'a Connection,
}

/// The address of a source, and how requests are sent to it.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The sender.
    pub platform: Arc<dyn Platform>,
    /// The address.
    pub url: Url,
    /// The most repetitions of a request.
    pub retries: usize,
}

/// A successful answer.
pub struct Answer {
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Value,
    /// Whether it said that the rate limit is used up, and the next request may follow now.
    pub has_waited: bool,
}

/// A page of a list.
pub struct Page {
    /// Its items.
    pub items: Vec<Value>,
    /// Number of items on all pages.
    pub total: u64,
    /// Number of pages.
    pub pages: u64,
}

impl<'a> Api<'a> {
    /// Creates the client of a source.
    #[must_use]
    pub fn new(name: &'static str, connection: &'a Connection, progress: &'a dyn Progress) -> Self {
        Self {
            name,
            progress,
            connection,
        }
    }

    /// Reads all pages of a list, from the oldest item on. `request` gives the address and the headers of a page, by number from
    /// 1. A removed item moves others to pages that have been read: then it reads all of them again.
    ///
    /// # Errors
    ///
    /// [`Failure`] if a page cannot be read, or items are removed during each of some reads.
    pub async fn list(
        &self,
        name: &str,
        request: impl Fn(u64) -> (Url, HeaderMap),
        page_of: impl Fn(&Answer) -> Option<Page>,
    ) -> Result<Vec<Value>, Failure> {
        for _ in 0..READS {
            let (mut items, mut number, mut total) = (Vec::new(), 1, 0);
            loop {
                let (url, headers) = request(number);
                let answer = self.request(Method::GET, &url, &headers, None).await?;
                let page = page_of(&answer);
                let missing = || unexpected(&url, format!("no list of the API of {}", self.name));
                let page = page.ok_or_else(missing)?;
                if page.total < total {
                    break;
                }
                check_page(&url, number)?;
                items.extend(page.items);
                if items.len() as u64 > page.total {
                    return Err(unexpected(&url, "more items than its total".to_owned()));
                }
                let read = format!("{} of {name}", count(items.len() as u64, "item"));
                self.progress.advance(0, read);
                if number >= page.pages {
                    return Ok(items);
                }
                (number, total) = (number + 1, page.total);
            }
        }
        let what = format!("{name}: items were removed during each of {READS} reads");
        Err(unexpected(&request(1).0, what))
    }

    /// Sends a request, repeats it after failures, and waits as long as the rate limit requires.
    ///
    /// # Errors
    ///
    /// [`Failure`] for an answer that is not a success, after the retries.
    pub async fn request(
        &self,
        method: Method,
        url: &Url,
        headers: &HeaderMap,
        body: Option<String>,
    ) -> Result<Answer, Failure> {
        let mut waits = 0;
        loop {
            let attempt = || self.attempt(&method, url, headers, body.clone());
            let notify =
                |error: &RequestError, wait| self.progress.retrying(&error.to_string(), wait);
            let sleep = retry::waits(&self.connection.platform);
            let (status, headers, body) =
                with_backoff(sleep, self.connection.retries, notify, attempt).await?;
            let wait = rate_limit(status, &headers, Timestamp::now());
            if let Some(wait) = wait {
                waits += 1;
                if wait > MAX_WAIT || waits > WAITS {
                    let what = format!(
                        "the rate limit of {} refuses for {} s, after {} waits",
                        self.name,
                        wait.as_secs(),
                        waits - 1
                    );
                    return Err(unexpected(url, what));
                }
                self.wait(wait).await;
            }
            if status.is_success() {
                let body = serde_json::from_slice(&body);
                let body = body.map_err(|error| unexpected(url, error.to_string()))?;
                let has_waited = wait.is_some();
                return Ok(Answer {
                    headers,
                    body,
                    has_waited,
                });
            }
            if wait.is_none() {
                let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
                let places = ["/message", "/errors/0/message", "/errors/0"];
                let mut messages = places.iter().map(|place| value_at(&answer, place));
                let message = messages.find_map(Value::as_str).unwrap_or_default();
                let message = format!("status {}: {}", status.as_u16(), printable(message));
                return Err(unexpected(url, message));
            }
        }
    }

    /// Waits for the rate limit.
    pub async fn wait(&self, wait: Duration) {
        let (name, seconds) = (self.name, wait.as_secs());
        let message = format!("rate limit of {name}: waiting {seconds} s");
        self.progress.print(&message);
        self.connection.platform.sleep(wait).await;
    }

    async fn attempt(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: Option<String>,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), RequestError> {
        let mut request = Request {
            method: method.clone(),
            url: url.clone(),
            headers: headers.clone(),
            body,
        };
        if request.body.is_some() {
            let json = HeaderValue::from_static("application/json");
            request.headers.insert(CONTENT_TYPE, json);
        }
        let response = self.connection.platform.send(request).await;
        let response = response.map_err(|error| RequestError::without_response(url, error));
        let Response {
            status,
            headers,
            body,
        } = response?;
        match status.is_server_error() {
            true => Err(RequestError::NoResponse {
                url: url.to_string(),
                cause: format!("status {}", status.as_u16()),
            }),
            false => Ok((status, headers, body)),
        }
    }
}

/// Returns how long to wait before the next request.
fn rate_limit(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let number = |name: &str| -> Option<i64> { headers.get(name)?.to_str().ok()?.parse().ok() };
    let is_refused = matches!(
        status,
        StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS
    );
    let seconds = |seconds: i64| Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    if let Some(after) = number(RETRY_AFTER.as_str()).filter(|_| is_refused) {
        return Some(seconds(after));
    }
    match number(REMAINING) {
        // A second more: clocks differ.
        Some(0) => {
            let until = |reset: i64| reset.saturating_sub(now.as_second()).saturating_add(1);
            Some(number(RESET).map_or(LIMITED, |reset| seconds(until(reset))))
        }
        _ => (status == StatusCode::TOO_MANY_REQUESTS).then_some(LIMITED),
    }
}

/// Checks that a list may have a page with this number.
///
/// # Errors
///
/// [`Failure`] if the list seems to have no end.
pub fn check_page(url: &Url, number: u64) -> Result<(), Failure> {
    match number > PAGES {
        true => Err(unexpected(
            url,
            format!("a list of more than {PAGES} pages"),
        )),
        false => Ok(()),
    }
}

/// Returns the failure of an answer that the adapter cannot read.
pub fn unexpected(url: &Url, what: String) -> Failure {
    Failure::Service(RequestError::UnexpectedResponse {
        url: url.to_string(),
        what,
    })
}

/// Returns the text at a JSON pointer.
pub fn text_at(item: &Value, pointer: &str) -> Option<String> {
    value_at(item, pointer).as_str().map(str::to_owned)
}

/// Returns a value of an object by its JSON pointer; null if there is none.
pub fn value_at<'a>(item: &'a Value, pointer: &str) -> &'a Value {
    item.pointer(pointer).unwrap_or(&Value::Null)
}

#[cfg(test)]
#[allow(missing_docs, reason = "a test of another module shares a function")]
pub mod tests {
    use std::future::ready;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use http::header::HeaderValue;

    use super::*;
    use crate::platform::{Pending, SendError};

    /// Returns response headers.
    pub fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let all = all.iter();
        all.map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect()
    }

    /// A source that gives the same answer to each request, and where no wait takes time.
    #[derive(Debug)]
    struct Source(Response);

    impl Platform for Source {
        fn send(&self, _: Request) -> Pending<'_, Result<Response, SendError>> {
            Box::pin(ready(Ok(self.0.clone())))
        }

        fn sleep(&self, _: Duration) -> Pending<'_, ()> {
            Box::pin(ready(()))
        }
    }

    impl Progress for Source {
        fn advance(&self, _: u64, _: String) {}

        fn retrying(&self, _: &str, _: Duration) {}

        fn print(&self, _: &str) {}
    }

    #[test]
    fn hostile_source_ends_with_a_failure() {
        let refused = "the rate limit of Source refuses for";
        for (status, given, total, expected) in [
            (
                429,
                &[("retry-after", "3155760000")][..],
                0,
                format!("{refused} 3155760000 s, after 0 waits"),
            ),
            (
                429,
                &[("retry-after", "0")],
                0,
                format!("{refused} 0 s, after 10 waits"),
            ),
            (
                200,
                &[],
                u64::MAX,
                "a list of more than 50000 pages".to_owned(),
            ),
            (200, &[], 1, "more items than its total".to_owned()),
        ] {
            let source = Source(Response {
                status: StatusCode::from_u16(status).unwrap(),
                headers: headers(given),
                body: b"[1]".to_vec(),
            });
            let progress = Source(source.0.clone());
            let connection = Connection {
                platform: Arc::new(source),
                url: Url::parse("https://source.example/").unwrap(),
                retries: 0,
            };
            let api = Api::new("Source", &connection, &progress);
            let request = |_| (connection.url.clone(), HeaderMap::new());
            let page_of = |answer: &Answer| {
                let items = answer.body.as_array()?.clone();
                Some(Page {
                    items,
                    total,
                    pages: u64::MAX,
                })
            };
            let list = pin!(api.list("items", request, page_of));
            // Nothing in it waits.
            let Poll::Ready(list) = list.poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("{status} {given:?}: waits");
            };
            let expected = format!("unexpected response from https://source.example/: {expected}");
            assert_eq!(list.unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn rate_limits_say_how_long_to_wait() {
        let now = Timestamp::from_second(1_795_132_800).unwrap();
        let (some, none) = (
            ("x-ratelimit-remaining", "7"),
            ("x-ratelimit-remaining", "0"),
        );
        let reset = |at| ("x-ratelimit-reset", at);
        for (status, given, expected) in [
            (200, &[some][..], None),
            (200, &[none, reset("1795132830")], Some(31)),
            (403, &[none, reset("1795132700")], Some(0)),
            (403, &[("retry-after", "9"), some], Some(9)),
            (403, &[some], None),
            (403, &[none, reset("-9223372036854775808")], Some(0)),
            (
                200,
                &[none, reset("9223372036854775807")],
                Some(9_223_372_035_059_643_008),
            ),
            (429, &[], Some(60)),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let wait = rate_limit(status, &headers(given), now).map(|wait| wait.as_secs());
            assert_eq!(wait, expected, "{status} {given:?}");
        }
    }
}
