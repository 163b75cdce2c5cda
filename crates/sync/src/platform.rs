//! The machine that a run needs: requests, waiting, and a place to show progress.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use http::header::HeaderMap;
use http::{Method, StatusCode};
use url::Url;

/// A result that is awaited.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Address.
    pub url: Url,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Option<String>,
}

/// A response with any status.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The complete body.
    pub body: Vec<u8>,
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendError {
    /// None came, or an incomplete one, with the cause.
    NoResponse(String),
    /// A response that cannot be used, with the reason.
    Unusable(String),
    /// The platform's budget of requests or time is used up: a later run goes on.
    Paused,
}

/// A host or a Worker.
pub trait Platform: fmt::Debug + Send + Sync {
    /// Sends a request, follows no redirect, and reads the whole response.
    fn send(&self, request: Request) -> Pending<'_, Result<Response, SendError>>;

    /// Waits.
    fn sleep(&self, wait: Duration) -> Pending<'_, ()>;
}

/// Where a run shows how far it is.
pub trait Progress {
    /// Advances by `units` of the work, if their number is known, and shows a message.
    fn advance(&self, units: u64, message: String);

    /// Shows the cause of a retry and the wait before it.
    fn retrying(&self, cause: &str, wait: Duration);

    /// Prints a line that stays.
    fn print(&self, line: &str);
}
