//! A client that holds every answer against the OpenAPI document.

use test_support::{Answer, Api, Method, Value};

use crate::document::document;

/// Calls a running service as [`Api`] does.
#[derive(Clone)]
pub struct Client(Api);

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

impl Client {
    /// A client of the same service, with the same key.
    pub fn new(api: Api) -> Self {
        Self(api)
    }

    /// The same without any key.
    pub fn without_key(&self) -> Self {
        Self(self.0.without_key())
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "", &[]).await
    }

    pub async fn head(&self, path: &str) -> Answer {
        self.send(Method::HEAD, path, "", &[]).await
    }

    /// `GET` with `If-None-Match`.
    pub async fn get_unless(&self, path: &str, tag: &str) -> Answer {
        self.send(Method::GET, path, "", &[("if-none-match", tag)])
            .await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, body.to_string(), JSON).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PUT, path, body.to_string(), JSON).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, "", &[]).await
    }

    /// Any request.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Vec<u8>>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let body = body.into();
        let answer = self
            .0
            .send(method.clone(), path, body.clone(), headers)
            .await;
        document().check(&method, path, &body, &answer);
        answer
    }
}
