//! The queues: one holds back what the store did not take in time, one keeps what nobody can read.
//!
//! They are the bindings `HELD` and `DEAD`; without the first nothing is held back.

use super::call::Call;
use super::edge::{self, is_bound, perform};
use super::log;
use crate::activity::Activity;
use crate::calendar::Instant;
use crate::error::Error;
use crate::held::{Fate, backoff, messages, replay};
use crate::redis::Reply;
use serde_json::json;
use worker::Env;

/// One message, as the platform delivers it.
struct Message {
    id: String,
    tries: u32,
    /// Nothing where it is no text.
    text: Option<String>,
}

impl Message {
    /// Those of a batch.
    fn all(batch: &str) -> Option<Vec<Self>> {
        let batch = Reply::parse(batch)?;
        let read = |message: &Reply| {
            Some(Self {
                id: message.at(0).ok()?.text().ok()?.to_owned(),
                tries: u32::try_from(message.at(1).ok()?.unsigned().ok()?).ok()?,
                text: message.at(2).ok()?.text().ok().map(str::to_owned),
            })
        };
        batch.list().ok()?.iter().map(read).collect()
    }

    /// Has it tried again, after so many seconds.
    fn again(&self, cause: &str) -> String {
        self.tell(cause);
        backoff(self.tries).to_string()
    }

    fn tell(&self, cause: &str) {
        log::message(&self.id, self.tries, cause);
    }
}

/// The queues of a deployment.
pub struct Queues {
    held: bool,
    dead: bool,
}

impl Queues {
    /// Those that a deployment has.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        Self {
            held: is_bound(env, "HELD"),
            dead: is_bound(env, "DEAD"),
        }
    }

    /// Holds back activities that the store did not take because of an error, for whoever is to
    /// count them later.
    ///
    /// # Errors
    ///
    /// The same error, unless it passes and there is a queue that takes them.
    pub async fn hold(
        &self,
        call: &Call,
        error: Error,
        activities: &[&Activity],
    ) -> Result<(), Error> {
        let (Error::StoreUnavailable(cause), true) = (&error, self.held) else {
            return Err(error);
        };
        for text in messages(activities) {
            if let Err(failure) = perform("send", &["HELD", &text]).await {
                log::warning(call, &format!("HELD: {failure}"));
                return Err(error);
            }
        }
        log::warning(call, &format!("held back: {cause}"));
        Ok(())
    }

    /// Keeps a message that can never be counted; says whether it did.
    async fn bury(&self, text: &Option<String>, reason: &str) -> bool {
        let text = json!({"reason": reason, "message": text});
        let text = serde_json::to_string(&text).unwrap_or_default();
        self.dead && perform("send", &["DEAD", &text]).await.is_ok()
    }
}

/// Counts what was held back; each message is done with or tried again on its own: a line each, the
/// seconds after which it is tried again, if it is. A failure would have the whole batch delivered
/// again: there is none.
pub async fn count(batch: String) -> String {
    let deployment = super::Deployment::of();
    let messages = Message::all(&batch).unwrap_or_default();
    let mut fates = Vec::new();
    let site = match &deployment.site {
        Ok(site) => site,
        Err(error) => {
            let cause = error.cause().unwrap_or_default();
            fates.extend(messages.iter().map(|message| message.again(&cause)));
            return fates.join("\n");
        }
    };
    let texts: Vec<Option<String>> = messages.iter().map(|one| one.text.clone()).collect();
    let replayed = replay(site, &texts, Instant(edge::clock())).await;
    for (message, fate) in messages.iter().zip(replayed) {
        fates.push(match fate {
            Fate::Done(refused) => {
                for reason in refused {
                    message.tell(&format!("dropped: {reason}"));
                }
                String::new()
            }
            Fate::Again(cause) => message.again(&cause),
            Fate::Unreadable(reason) => {
                let reason = format!("unreadable: {reason}");
                if deployment.queues.bury(&message.text, &reason).await {
                    message.tell(&reason);
                    String::new()
                } else {
                    // In the end the platform puts it where it belongs, without the reason.
                    message.again(&reason)
                }
            }
        });
    }
    fates.join("\n")
}
