//! A client of the service.

use bytes::Bytes;
use reqwest::{Client, Method};
use serde_json::Value;

use crate::answer::Answer;
use crate::client::client;
use crate::stream::Stream;

/// Calls one running service. A path may carry a query: `get("/v1/ranking/day?limit=3")`.
#[derive(Clone, Debug)]
pub struct Api {
    client: Client,
    url: String,
    key: Option<String>,
}

impl Api {
    /// A client without a key, for what is public.
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self {
            // One per test: its connections belong to the test's runtime.
            client: client(),
            url: url.to_owned(),
            key: None,
        }
    }

    /// The same with `Authorization: Bearer <key>`.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self {
            key: Some(key.to_owned()),
            ..self.clone()
        }
    }

    /// The same without any key.
    #[must_use]
    pub fn without_key(&self) -> Self {
        Self {
            key: None,
            ..self.clone()
        }
    }

    /// `GET path`
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "", &[]).await
    }

    /// `GET path` with these headers, of an answer that goes on.
    ///
    /// # Panics
    ///
    /// When there is no answer.
    pub async fn stream(&self, path: &str, headers: &[(&str, &str)]) -> Stream {
        let mut builder = self.client.get(format!("{}{path}", self.url));
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        let response = builder.send().await;
        Stream::of(response.unwrap_or_else(|error| panic!("GET {path}: {error:?}")))
    }

    /// `POST path` with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_raw(path, body.to_string(), JSON).await
    }

    /// `POST path` with these bytes and headers, and no others.
    pub async fn post_raw(
        &self,
        path: &str,
        body: impl Into<Bytes>,
        headers: &[(&str, &str)],
    ) -> Answer {
        self.send(Method::POST, path, body, headers).await
    }

    /// `PUT path` with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PUT, path, body.to_string(), JSON).await
    }

    /// `DELETE path`
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, "", &[]).await
    }

    /// Any request.
    ///
    /// # Panics
    ///
    /// When there is no answer; [`try_send`](Self::try_send) tells it instead.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let answer = self.try_send(method.clone(), path, body, headers).await;
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error:?}"))
    }

    /// Any request, for tests in which a server may be killed meanwhile.
    ///
    /// # Errors
    ///
    /// When no whole answer comes.
    pub async fn try_send(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
        headers: &[(&str, &str)],
    ) -> reqwest::Result<Answer> {
        let request = format!("{method} {path}");
        let body = body.into();
        let mut builder = self.client.request(method, format!("{}{path}", self.url));
        if !body.is_empty() {
            builder = builder.body(body);
        }
        if let Some(key) = &self.key {
            builder = builder.bearer_auth(key);
        }
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        let response = builder.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = String::from_utf8_lossy(&response.bytes().await?).into_owned();
        Ok(Answer {
            request,
            status,
            headers,
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
        })
    }
}

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];
