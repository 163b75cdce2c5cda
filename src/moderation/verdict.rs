//! `/v1/users/{user}/moderation`: whether a user is hidden or frozen.

use super::{Flags, read_reason};
use crate::calendar::Instant;
use crate::config::Config;
use crate::error::{Error, Faults};
use crate::id;
use crate::ranking::User;
use crate::redis::{Command, Failure, Reply};
use crate::scripts;
use serde::Serialize;
use serde_json::Value;

/// What a moderator decides about a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    user: String,
    hidden: bool,
    frozen: bool,
    reason: String,
}

/// What is answered.
#[derive(Debug, Serialize)]
pub struct View {
    user: User,
    hidden: bool,
    frozen: bool,
}

impl View {
    /// What is held about a user: the profile and the flags.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the replies are none of these.
    pub fn stored(user: &str, profile: &Reply, flags: &Reply) -> Result<Self, Failure> {
        let Flags {
            hidden,
            self_hidden,
            frozen,
        } = Flags::stored(flags)?;
        Ok(Self {
            user: User::stored(user, profile)?.hiding(self_hidden),
            hidden,
            frozen,
        })
    }
}

impl Verdict {
    /// Whether it hides or freezes: one that does neither finds nothing to do where nothing is.
    #[must_use]
    pub fn restricts(&self) -> bool {
        self.hidden || self.frozen
    }

    /// Reads a verdict; the user comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] with every fault of the path and content.
    pub fn read(user: &str, value: &Value) -> Result<Self, Error> {
        let Value::Object(fields) = value else {
            return Err(Error::invalid("A verdict is a JSON object."));
        };
        let mut faults = Faults::default();
        faults.unknown(fields.keys(), &["hidden", "frozen", "reason"]);
        let user = faults.check("/user", id::checked(user));
        let flag = |name: &str| {
            let flag = fields.get(name).and_then(Value::as_bool);
            flag.ok_or_else(|| "must be true or false".to_owned())
        };
        let hidden = faults.check("/hidden", flag("hidden"));
        let frozen = faults.check("/frozen", flag("frozen"));
        let reason = faults.check("/reason", read_reason(fields.get("reason")));
        let read = || {
            Some(Self {
                user: user?,
                hidden: hidden?,
                frozen: frozen?,
                reason: reason?,
            })
        };
        faults.or(read())
    }

    /// The command that carries it out on these boards.
    #[must_use]
    pub fn command(&self, names: &[String], now: Instant, config: &Config) -> Command {
        let keys = config.keys_of(&self.user);
        let mut all = keys.of_everywhere();
        all.extend(names.iter().cloned());
        let flag = |set: bool| if set { "1" } else { "0" };
        Command::script(&scripts::MODERATE, &all)
            .arg(&config.stamp())
            .arg(&now.0.to_string())
            .arg(&self.user)
            .arg(flag(self.hidden))
            .arg(flag(self.frozen))
            .arg(&self.reason)
            .arg(config.bound.journals())
    }

    /// The answer once it is carried out.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is not one of this script.
    pub fn view(&self, reply: &Reply) -> Result<View, Failure> {
        View::stored(&self.user, reply.at(2)?, reply.at(3)?)
    }
}
