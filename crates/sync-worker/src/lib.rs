//! The wasm of `@activity-rank/sync`: one run of a scheduled Worker, which reads a source, compares it with the boards and
//! mends the differences. `sdk/sync` has its JavaScript: requests with their budget, the schedule and the report.

mod platform;
mod settings;
mod upload;

use std::sync::Arc;

use activity_rank_core::calendar::Instant;
use activity_rank_sync::Failure;
use activity_rank_sync::client::Client;
use activity_rank_sync::report;
use activity_rank_sync::request_error::RequestError;
use activity_rank_sync::session::Session;
use activity_rank_sync::sources::Adapter;
use activity_rank_sync::sources::api::Connection;
use activity_rank_sync::sources::discourse_api::DiscourseApi;
use activity_rank_sync::sources::ghost::GhostApi;
use activity_rank_sync::sources::github::Repositories;
use activity_rank_sync::sources::wordpress::Wordpress;
use http::HeaderValue;
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;

use platform::{Host, Messages};
use settings::{RETRIES, Settings, Source};
use upload::Uploader;

/// Runs once. `run` identifies the run for the platform, `settings` is `Settings` as JSON. Returns the result as the
/// deployment accepts it, or `{"state":"paused"}` if the budget is used up and the next run of the schedule goes on.
#[wasm_bindgen]
pub async fn sync(run: u32, settings: String) -> String {
    let result = match serde_json::from_str::<Settings>(&settings) {
        Ok(settings) => match read(run, settings).await {
            Ok(result) => result,
            Err(Failure::Service(RequestError::Paused)) => json!({"state": "paused"}),
            Err(failure) => report::failed(&failure.to_string()),
        },
        Err(error) => report::failed(&format!("the settings are invalid: {error}")),
    };
    result.to_string()
}

async fn read(run: u32, settings: Settings) -> Result<Value, Failure> {
    let connection = Connection {
        platform: Arc::new(Host { run }),
        url: settings.url.clone(),
        retries: RETRIES,
    };
    let connection = &connection;
    match &settings.source {
        Source::Discourse { key, username } => {
            let forum = DiscourseApi {
                connection,
                key,
                username,
            };
            compare(run, &settings, forum).await
        }
        Source::Ghost { key } => compare(run, &settings, GhostApi { connection, key }).await,
        Source::Github { token, names } => {
            let repositories = Repositories {
                connection,
                authorization: secret(&format!("Bearer {token}"))?,
                names,
            };
            compare(run, &settings, repositories).await
        }
        Source::Wordpress {
            credentials,
            types,
            site,
        } => {
            let site = Wordpress {
                connection,
                credentials: Some(credentials),
                types,
                site: *site,
            };
            compare(run, &settings, site).await
        }
    }
}

async fn compare<A: Adapter>(run: u32, settings: &Settings, adapter: A) -> Result<Value, Failure> {
    let authorization = secret(&format!("Bearer {}", settings.rank.key))?;
    let host = Arc::new(Host { run });
    let client = Client::new(host, settings.rank.url.clone(), Some(authorization));
    let uploader = Uploader(client.clone());
    let messages = Messages { run };
    let started = Instant(settings.started);
    let options = settings.options();
    let session = Session::read(client, adapter, options, started, &uploader, &messages).await?;
    if let Some(fault) = session.facts.faults.first() {
        let (unit, faults) = (session.facts.unit, session.facts.faults.len());
        return Err(Failure::Usage(format!(
            "the source has {faults} invalid rows, the first in {unit} {}: {}",
            fault.place, fault.detail
        )));
    }
    let mut board = session.read_board().await?;
    let mut comparison = session.compare(&board)?;
    let mut mended = 0;
    // Without differences, names and titles may differ.
    if settings.heal {
        session.check_loss(&comparison, &board)?;
        let healed = session.heal(&comparison, &mut board).await?;
        (comparison, mended) = (healed.comparison, healed.mended);
    }
    Ok(report::done(&comparison, mended))
}

/// Returns the header of a secret.
fn secret(text: &str) -> Result<HeaderValue, Failure> {
    let invalid = |_| Failure::Usage("a secret contains characters that are invalid".to_owned());
    let mut header = HeaderValue::from_str(text).map_err(invalid)?;
    header.set_sensitive(true);
    Ok(header)
}
