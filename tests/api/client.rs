//! A client that validates every response against the OpenAPI document.

use test_support::{Answer, Api, Method, Value, json};

use crate::bodies::{activity, moderation};
use crate::document::document;

/// A client of a running service, like [`Api`].
#[derive(Clone)]
pub struct Client(Api);

/// The headers of a request with a JSON body.
pub const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

impl Client {
    /// Wraps a client, keeping its URL and key.
    pub fn new(api: Api) -> Self {
        Self(api)
    }

    /// Returns a client with another service key or a user token.
    pub fn with_key(&self, key: &str) -> Self {
        Self(self.0.with_key(key))
    }

    /// Returns a client without a key.
    pub fn without_key(&self) -> Self {
        Self(self.0.without_key())
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "", &[]).await
    }

    /// Sends a `GET`, asserts status 200 and returns the body.
    pub async fn read(&self, path: &str) -> Value {
        self.get(path).await.assert_status(200).body.clone()
    }

    /// Sends a `GET` and asserts status 200 and the body.
    pub async fn assert_get(&self, path: &str, body: Value) {
        self.get(path).await.assert(200, body);
    }

    /// Runs the cron job of every minute.
    pub async fn minute(&self) {
        self.0.minute().await;
    }

    pub async fn head(&self, path: &str) -> Answer {
        self.send(Method::HEAD, path, "", &[]).await
    }

    /// Sends a `GET` with `If-None-Match`.
    pub async fn get_if_none_match(&self, path: &str, tag: &str) -> Answer {
        self.send(Method::GET, path, "", &[("if-none-match", tag)])
            .await
    }

    /// Sends a `GET` with a header.
    pub async fn get_with(&self, path: &str, name: &str, value: &str) -> Answer {
        self.send(Method::GET, path, "", &[(name, value)]).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, body.to_string(), JSON).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PUT, path, body.to_string(), JSON).await
    }

    /// Sends a `PUT` and asserts status 200.
    pub async fn write(&self, path: &str, body: &Value) {
        self.put(path, body).await.assert_status(200);
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, "", &[]).await
    }

    /// Sends a request and validates its response.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Vec<u8>>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let body = body.into();
        let response = self
            .0
            .send(method.clone(), path, body.clone(), headers)
            .await;
        document().check(&method, path, &body, &response);
        response
    }

    /// Sends one activity, or an array of them.
    pub async fn send_activity(&self, activity: Value) -> Answer {
        self.post("/v1/activity", &activity).await
    }

    /// Sends one activity, or an array of them, and asserts status 200 and the body.
    pub async fn assert_activity(&self, activity: Value, body: Value) {
        self.send_activity(activity).await.assert(200, body);
    }

    /// Sends one activity and asserts its outcome; returns the body of the response.
    #[track_caller]
    pub fn outcome(&self, activity: Value, outcome: &str) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            let response = self.send_activity(activity.clone()).await;
            let text = &response.text;
            assert_eq!(
                response.body["outcome"], outcome,
                "{caller}: {activity}: {text}"
            );
            response.body
        }
    }

    /// Sends an activity that counts; returns the body of the response.
    #[track_caller]
    pub fn counted(&self, activity: Value) -> impl Future<Output = Value> {
        self.outcome(activity, "counted")
    }

    /// Sends an activity and asserts that it is counted.
    pub async fn count(&self, user: &str, action: &str, target: &str) {
        self.counted(activity(user, action, target)).await;
    }

    /// Replaces the profile of a user.
    pub async fn put_profile(&self, user: &str, profile: Value) {
        let response = self.put(&format!("/v1/users/{user}"), &profile).await;
        response.assert_status(200);
    }

    /// Replaces the profile of a user by one with only a name.
    pub async fn set_name(&self, user: &str, name: &str) {
        self.put_profile(user, json!({"name": name})).await;
    }

    /// Sets whether a user is hidden and frozen, and asserts status 200.
    pub async fn moderate(&self, user: &str, hidden: bool, frozen: bool) -> Answer {
        let path = format!("/v1/users/{user}/moderation");
        let response = self.put(&path, &moderation(hidden, frozen)).await;
        response.assert_status(200);
        response
    }

    /// Adjusts the points of a user.
    pub async fn adjust(&self, user: &str, adjustment: &Value) -> Answer {
        let path = format!("/v1/users/{user}/adjustments");
        self.post(&path, adjustment).await
    }

    /// Hides or shows a target, whose id is encoded.
    pub async fn moderate_target(&self, target: &str, hidden: bool) {
        let path = format!("/v1/targets/{target}/moderation");
        let body = json!({"hidden": hidden, "reason": "A test"});
        self.write(&path, &body).await;
    }

    /// Reads all pages of a list, and returns the entries. `parameter` names the position of the next page.
    pub async fn pages(&self, path: &str, parameter: &str, limit: usize) -> Vec<Value> {
        let (mut entries, mut position) = (Vec::new(), String::new());
        loop {
            let separator = if path.contains('?') { '&' } else { '?' };
            let page = self
                .read(&format!("{path}{separator}limit={limit}{position}"))
                .await;
            let found = page["entries"].as_array().expect("entries");
            assert!(found.len() <= limit, "{path}: {page}");
            entries.extend_from_slice(found);
            match page["next"].as_str() {
                Some(next) => position = format!("&{parameter}={}", next.replace('#', "%23")),
                None => return entries,
            }
        }
    }

    /// Erases a user.
    pub async fn erase(&self, user: &str) {
        let response = self.delete(&format!("/v1/users/{user}")).await;
        response.assert_status(204);
    }
}
