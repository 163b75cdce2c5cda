//! The recount of an event: the journal is replayed with another definition of the event, which holds for all entries
//! before the recount.

use std::fs;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args::{RecountArgs, ServiceArgs};
use crate::board::parse_body;
use crate::client::client;
use crate::failure::Failure;

/// The definition of an event from the swap on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecount {
    /// The event.
    pub event: String,
    /// Its definition as JSON, as the store has it.
    pub definition: String,
    /// The same as the counting script reads it.
    pub line: String,
}

/// The answer of `POST /v1/events/{event}/recount`.
#[derive(Deserialize)]
struct Answer {
    definition: String,
    line: String,
}

impl EventRecount {
    /// Has the service check the definition of a file, or the stored one.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the file cannot be read, or the service refuses the definition or does not respond.
    pub async fn read(
        service: &ServiceArgs,
        args: &RecountArgs,
        event: &str,
    ) -> Result<Self, Failure> {
        let body = match &args.definition {
            Some(file) => fs::read_to_string(file).map_err(|cause| Failure::File {
                name: file.clone(),
                cause,
            })?,
            None => "{}".to_owned(),
        };
        let client = client(service)?;
        let url = client.url(&["v1", "events", event, "recount"]);
        let send = || client.send(Method::POST, &url, body.clone());
        let answer = client
            .with_backoff(args.replay.retries, |_, _| (), send)
            .await?;
        let Answer { definition, line } = parse_body(&url, &answer)?;
        Ok(Self {
            event: event.to_owned(),
            definition,
            line,
        })
    }

    /// Returns the text that [`Self::begun`] parses.
    #[must_use]
    pub fn stored(&self) -> String {
        let parts = [&self.event, &self.definition, &self.line];
        serde_json::to_string(&parts).unwrap_or_default()
    }

    /// Returns the recount that an interrupted run has stored, if it has the same definition. It became final when that run
    /// began, not this one.
    #[must_use]
    pub fn begun(&self, stored: &str) -> Option<Self> {
        let [event, definition, line]: [String; 3] = serde_json::from_str(stored).ok()?;
        let counted = |definition: &str| {
            let mut fields: Map<String, Value> = serde_json::from_str(definition).ok()?;
            fields.remove("final_at");
            Some(fields)
        };
        let is_same = event == self.event && counted(&definition) == counted(&self.definition);
        is_same.then_some(Self {
            event,
            definition,
            line,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_recount_is_that_of_the_same_definition() {
        let recount = |title: &str, final_at: u32| EventRecount {
            event: "hackathon".to_owned(),
            definition: format!(r#"{{"title":"{title}","final_at":"{final_at}"}}"#),
            line: format!("hackathon 1 2 {final_at} 4 - -"),
        };
        let (first, again) = (recount("Quiz", 3), recount("Quiz", 5));
        assert_eq!(again.begun(&first.stored()), Some(first.clone()));
        assert_eq!(recount("Other", 3).begun(&first.stored()), None);
        for other in [
            "",
            "preview",
            "{}",
            "[]",
            r#"["quiz","{}","quiz 1 2 3 4 - -"]"#,
        ] {
            assert_eq!(again.begun(other), None, "{other}");
        }
    }
}
