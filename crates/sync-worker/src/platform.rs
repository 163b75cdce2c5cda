//! The functions of a Worker: `sdk/sync/platform.js`.

use std::time::Duration;

use activity_rank_sync::platform::{Pending, Platform, Progress, Request, Response, SendError};
use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use send_wrapper::SendWrapper;
use serde::Deserialize;
use serde_json::json;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "platform/platform.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    async fn send(run: u32, request: String) -> Result<JsValue, JsValue>;
    async fn sleep(run: u32, milliseconds: f64);
    fn show(run: u32, message: &str);
}

/// The Worker of a run.
#[derive(Debug)]
pub struct Host {
    /// The run, for JavaScript.
    pub run: u32,
}

/// The messages of a run.
pub struct Messages {
    /// The run, for JavaScript.
    pub run: u32,
}

/// The answer of `send`.
#[derive(Deserialize)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Platform for Host {
    fn send(&self, request: Request) -> Pending<'_, Result<Response, SendError>> {
        let headers = request.headers.iter();
        let headers: Vec<(&str, &str)> = headers
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
            .collect();
        let request = json!({
            "method": request.method.as_str(), "url": request.url, "headers": headers, "body": request.body,
        });
        let sent = send(self.run, request.to_string());
        Box::pin(SendWrapper::new(async {
            let answer = sent.await.map_err(|error| {
                let cause = error.as_string().unwrap_or_default();
                SendError::NoResponse(cause)
            })?;
            let answer = answer.as_string().ok_or(SendError::Paused)?;
            response(&answer).ok_or_else(|| SendError::NoResponse("invalid answer".to_owned()))
        }))
    }

    fn sleep(&self, wait: Duration) -> Pending<'_, ()> {
        Box::pin(SendWrapper::new(sleep(
            self.run,
            wait.as_secs_f64() * 1000.0,
        )))
    }
}

fn response(answer: &str) -> Option<Response> {
    let Answer {
        status,
        headers,
        body,
    } = serde_json::from_str(answer).ok()?;
    let headers = headers.iter().filter_map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_str(value).ok()?))
    });
    Some(Response {
        status: StatusCode::from_u16(status).ok()?,
        headers: headers.collect::<HeaderMap>(),
        body: body.into_bytes(),
    })
}

impl Progress for Messages {
    fn advance(&self, _: u64, message: String) {
        show(self.run, &message);
    }

    fn retrying(&self, cause: &str, _: Duration) {
        show(self.run, cause);
    }

    fn print(&self, line: &str) {
        show(self.run, line);
    }
}
