//! One deployment: its configuration, calendar and store, and how it asks the store.

use crate::calendar::{Calendar, Zone};
use crate::config::Config;
use crate::error::Error;
use crate::redis::{Command, Failure, Pipeline, Reply, Store};

/// How often a script is called that needs to know more; never seen to take more than two.
pub const MOST_CALLS: usize = 4;

/// What requests share within an isolate.
pub struct Site {
    /// The settings.
    pub config: Config,
    /// The days of the site's time zone.
    pub calendar: Calendar,
    /// Where counts and boards are kept.
    pub store: Store,
}

impl Site {
    /// A deployment with these settings in this time zone, and a clock that tells milliseconds.
    #[must_use]
    pub fn new(config: Config, zone: Box<dyn Zone>, clock: fn() -> i64) -> Self {
        let calendar = Calendar::new(&config.timezone, zone);
        let (url, token) = (&config.store_url, &config.store_token);
        let store = Store::new(url, token, config.store_timeout, clock);
        Self {
            config,
            calendar,
            store,
        }
    }

    /// Runs one script, whose reply begins with the stamp, and returns that reply.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] where the store does not answer, [`Error::Misconfigured`]
    /// where it refuses or holds another site's data.
    pub async fn ask(&self, command: Command) -> Result<Reply, Error> {
        let replies = self.ask_all(&Pipeline::new(vec![command])).await?;
        replies.into_iter().next().ok_or_else(|| no_reply().into())
    }

    /// Runs one command that is no script, behind the stamp, and returns its reply.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn ask_plainly(&self, command: Command) -> Result<Reply, Error> {
        let stamp = Command::new("GET").arg(&self.config.keys().stamp());
        let mut replies = self.ask_all(&Pipeline::new(vec![stamp, command])).await?;
        Ok(replies.pop().unwrap_or(Reply::Nil))
    }

    /// Runs a pipeline whose first reply is the stamp, or begins with it.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn ask_all(&self, pipeline: &Pipeline) -> Result<Vec<Reply>, Error> {
        let replies = self.store.run(pipeline).await?;
        let stamp = match replies.first() {
            Some(Reply::List(values)) => values.first(),
            other => other,
        };
        self.check_stamp(stamp.unwrap_or(&Reply::Nil))?;
        Ok(replies)
    }

    /// Runs a script that has to know every name of the index, and returns its last reply.
    ///
    /// The first call names none. A script that needs them changes nothing and replies with all
    /// there are, second in its reply; so do those that came into being between two calls.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn ask_everywhere(
        &self,
        command: impl Fn(&[String]) -> Command,
    ) -> Result<Reply, Error> {
        let mut names = Vec::new();
        for _ in 0..MOST_CALLS {
            let reply = self.ask(command(&names)).await?;
            let all = reply.at(1)?.list()?;
            if all.is_empty() {
                return Ok(reply);
            }
            names.clear();
            for name in all {
                names.push(name.text()?.to_owned());
            }
        }
        Err(Error::StoreUnavailable(
            "boards came into being between every two calls".to_owned(),
        ))
    }

    /// Compares the stamp held with what these settings would stamp.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] where they differ.
    pub fn check_stamp(&self, held: &Reply) -> Result<(), Error> {
        match held.some() {
            None => Ok(()),
            Some(held) => match held.text()? {
                held if held == self.config.stamp() => Ok(()),
                held => Err(self.config.other_stamp(held)),
            },
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unavailable(cause) => Self::StoreUnavailable(cause),
            Failure::Unauthorized => {
                let way_out = "the store does not take this token".to_owned();
                Self::Misconfigured("UPSTASH_REDIS_REST_TOKEN", way_out)
            }
            Failure::Refused(words) => {
                let way_out = format!(
                    "the store refuses what is under this prefix ({words}); choose a PREFIX that \
                     nothing else uses and the store's user may access"
                );
                Self::Misconfigured("PREFIX", way_out)
            }
        }
    }
}

fn no_reply() -> Failure {
    Failure::Unavailable("no reply".to_owned())
}
