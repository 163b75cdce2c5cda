//! One deployment: its configuration, calendar and store, and how it asks the store.

use crate::calendar::{Calendar, Zone};
use crate::config::Config;
use crate::error::Error;
use crate::keys::Keys;
use crate::redis::{Command, Failure, Pipeline, Reply, Store};
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// Whether all shards are known to have this site's stamp.
    agreed: AtomicBool,
}

impl Site {
    /// A deployment with these settings in this time zone, and a clock that tells milliseconds.
    #[must_use]
    pub fn new(config: Config, zone: Box<dyn Zone>, clock: fn() -> i64) -> Self {
        let calendar = Calendar::new(&config.timezone, zone);
        let (url, token) = (&config.store_url, &config.store_token);
        let store = Store::new(url, token, config.store_timeout, clock);
        // A single shard is stamped by the script that writes it, and told by each reply.
        let agreed = AtomicBool::new(config.shards == 1);
        Self {
            config,
            calendar,
            store,
            agreed,
        }
    }

    /// Runs one script, whose reply begins with the stamp, and returns that reply.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] where the store does not answer, [`Error::Misconfigured`]
    /// where it refuses or holds another site's data.
    pub async fn ask(&self, command: Command) -> Result<Reply, Error> {
        let replies = self.ask_each(vec![command]).await?;
        replies.into_iter().next().ok_or_else(|| no_reply().into())
    }

    /// Runs scripts whose replies each begin with the stamp, and returns those replies.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn ask_each(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        self.agree().await?;
        let replies = self.store.run(&Pipeline::new(commands)).await?;
        for reply in &replies {
            self.check_stamp(reply.at(0)?)?;
        }
        Ok(replies)
    }

    /// Runs one command that is no script, behind the stamp of its shard, and returns its reply.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn ask_plainly(&self, keys: &Keys, command: Command) -> Result<Reply, Error> {
        let mut replies = self.ask_all(keys, vec![command]).await?;
        Ok(replies.pop().unwrap_or(Reply::Nil))
    }

    /// Runs commands that are no scripts, behind the stamp of a shard, and returns their replies.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn ask_all(&self, keys: &Keys, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        self.agree().await?;
        let stamp = Command::new("GET").arg(&keys.stamp());
        let commands = [stamp].into_iter().chain(commands).collect();
        let mut replies = self.store.run(&Pipeline::new(commands)).await?.into_iter();
        self.check_stamp(&replies.next().unwrap_or(Reply::Nil))?;
        Ok(replies.collect())
    }

    /// Runs commands as [`Site::ask_all`] does, also while a rebuild holds their shard.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn ask_even_held(
        &self,
        keys: &Keys,
        commands: Vec<Command>,
    ) -> Result<Vec<Reply>, Error> {
        let stamp = Command::new("GET").arg(&keys.stamp());
        let commands = [stamp].into_iter().chain(commands).collect();
        let mut replies = self.store.run(&Pipeline::new(commands)).await?.into_iter();
        match replies.next() {
            Some(Reply::Text(held)) if self.config.is_held(&held) => {}
            stamp => self.check_stamp(&stamp.unwrap_or(Reply::Nil))?,
        }
        Ok(replies.collect())
    }

    /// Makes sure that every shard has the stamp before one of them is written: data that lies on
    /// some shards alone would not be seen with fewer of them.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn claim(&self) -> Result<(), Error> {
        if self.agree().await? {
            return Ok(());
        }
        let stamp = self.config.stamp();
        let claims = self.of_stamps("SET", &[&stamp, "NX"]);
        self.store.run(&claims).await?;
        // Whoever came first has it.
        self.agree().await.map(|_| ())
    }

    /// Makes sure that no shard was written with other settings, and says whether all have been
    /// written with these: a user who is looked for on a shard that is empty would begin anew there.
    async fn agree(&self) -> Result<bool, Error> {
        if self.agreed.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let mut agreed = true;
        for held in self.store.run(&self.of_stamps("GET", &[])).await? {
            self.check_stamp(&held)?;
            agreed = agreed && held != Reply::Nil;
        }
        self.agreed.store(agreed, Ordering::Relaxed);
        Ok(agreed)
    }

    /// A command on the stamp of each shard.
    fn of_stamps(&self, name: &'static str, arguments: &[&str]) -> Pipeline {
        let mut commands = Vec::new();
        for shard in 0..self.config.shards {
            let mut command = Command::new(name).arg(&self.config.keys(shard).stamp());
            for argument in arguments {
                command = command.arg(argument);
            }
            commands.push(command);
        }
        Pipeline::new(commands)
    }

    /// Runs on each of some shards a script that has to know every name of the shard's index, and
    /// returns their last replies.
    ///
    /// The first call names none. A script that needs them changes nothing and replies with all
    /// there are, second in its reply; so do those that came into being between two calls.
    ///
    /// # Errors
    ///
    /// As [`Site::ask`].
    pub async fn ask_everywhere(
        &self,
        shards: &[u32],
        command: &dyn Fn(u32, &[String]) -> Command,
    ) -> Result<Vec<Reply>, Error> {
        let mut asked = Vec::new();
        for shard in shards {
            asked.push(Asked::of(*shard));
        }
        for _ in 0..MOST_CALLS {
            let mut commands = Vec::new();
            for asked in asked.iter().filter(|asked| asked.reply.is_none()) {
                commands.push(command(asked.shard, &asked.names));
            }
            if commands.is_empty() {
                break;
            }
            let mut replies = self.ask_each(commands).await?.into_iter();
            for asked in asked.iter_mut().filter(|asked| asked.reply.is_none()) {
                asked.take(replies.next().unwrap_or(Reply::Nil))?;
            }
        }
        let replies: Option<Vec<Reply>> = asked.into_iter().map(|asked| asked.reply).collect();
        replies.ok_or_else(|| {
            Error::StoreUnavailable("boards came into being between every two calls".to_owned())
        })
    }

    /// Compares the stamp held with what these settings would stamp.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] where they differ, [`Error::StoreUnavailable`] while a rebuild
    /// holds the site.
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

/// A shard on which a script is asked that has to know all names.
struct Asked {
    shard: u32,
    names: Vec<String>,
    reply: Option<Reply>,
}

impl Asked {
    fn of(shard: u32) -> Self {
        Self {
            shard,
            names: Vec::new(),
            reply: None,
        }
    }

    fn take(&mut self, reply: Reply) -> Result<(), Failure> {
        self.names.clear();
        for name in reply.at(1)?.list()? {
            self.names.push(name.text()?.to_owned());
        }
        if self.names.is_empty() {
            self.reply = Some(reply);
        }
        Ok(())
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
