//! What is asked of a board, whose users may lie on several shards, and answered as one would.
//!
//! Order between shards: higher scores first, and equal ones, points and order number alike, by
//! shard. Each shard tells how many of its own rank above a score, so every rank is exact. What is
//! asked in one request is of one moment on each shard; a second request may see a later one.

mod above;
mod compare;
mod order;
mod page;
mod standing;
mod top;

pub use above::{Ranked, rank_among_all};
pub use order::{Columns, merged};

use super::Which;
use crate::archive::Lookup;
use crate::config::Config;
use crate::error::Error;
use crate::redis::{Command, Failure, Reply};
use crate::scripts::{self, Script};
use crate::site::Site;

/// Asks for what a lookup says, and returns it in the words of the script of one shard; and
/// whether every shard has the board.
///
/// # Errors
///
/// As [`Site::ask`].
pub async fn read(site: &Site, which: &Which, lookup: &Lookup<'_>) -> Result<(Reply, bool), Error> {
    if site.config.shards == 1 {
        let reply = site.ask(command(&site.config, which, lookup, 0)).await?;
        let whole = reply.at(1)?.some().is_some();
        return Ok((reply, whole));
    }
    let config = &site.config;
    let asked = Asked { config, which };
    let mut step = asked.first(lookup);
    let mut begun = None;
    loop {
        match step {
            Step::Ask(commands, then) => {
                let replies = site.ask_each(commands).await?;
                if begun.is_none() {
                    begun = Some(total(&replies)?);
                }
                step = asked.next(then, replies)?;
            }
            Step::Told(values) => {
                let (total, whole) = begun.unwrap_or((Reply::Nil, false));
                let told = [Reply::Nil, total].into_iter().chain(values);
                return Ok((Reply::List(told.collect()), whole));
            }
        }
    }
}

/// The command that answers a lookup as far as one shard knows.
#[must_use]
pub fn command(config: &Config, which: &Which, lookup: &Lookup<'_>, shard: u32) -> Command {
    let on = |script| on_board(config, which, shard, script);
    match *lookup {
        Lookup::Top(offset, limit) => stretch(on(&scripts::TOP), offset, limit),
        Lookup::Standing(user, around) => on(&scripts::STANDING).arg(user).arg(&around.to_string()),
        Lookup::Compare(users) => {
            let command = on(&scripts::COMPARE);
            users
                .iter()
                .fold(command, |command, user| command.arg(user))
        }
    }
}

/// A reading script on the board of a shard, without its own arguments.
fn on_board(config: &Config, which: &Which, shard: u32, script: &'static Script) -> Command {
    let keys = config.keys(shard);
    let board = keys.board_named(&which.name());
    Command::script(script, &[keys.stamp(), board, keys.profiles()])
}

fn stretch(command: Command, first: u32, count: u32) -> Command {
    command.arg(&first.to_string()).arg(&count.to_string())
}

/// A board on several shards.
struct Asked<'a> {
    config: &'a Config,
    which: &'a Which,
}

/// What is to be done.
enum Step<'a> {
    /// To ask each shard, and go on by the replies.
    Ask(Vec<Command>, Then<'a>),
    /// To tell these values, behind the total.
    Told(Vec<Reply>),
}

/// What the replies are.
enum Then<'a> {
    /// Rows, of which some first are left out: how many, and how many to tell.
    Rows(u32, u32),
    /// Scores that lie so near to where a page may be: offset and limit.
    Scores(u32, u32, u32),
    /// The standing on the own shard, with so many around.
    Own(u32, u32),
    /// Who is around on the others; and what the own shard replied.
    Around(u32, u32, Reply),
    /// Scores of users on their shards.
    Scored(&'a [String]),
    /// How many on other shards are above those who are ranked; and the rows of all.
    Above(Vec<Ranked>, [Reply; 3]),
}

impl<'a> Asked<'_> {
    fn first(&self, lookup: &Lookup<'a>) -> Step<'a> {
        match *lookup {
            Lookup::Top(offset, limit) => self.top(offset, limit),
            Lookup::Standing(user, around) => self.standing(user, around),
            Lookup::Compare(users) => self.compare(users),
        }
    }

    fn next(&self, then: Then<'a>, replies: Vec<Reply>) -> Result<Step<'a>, Failure> {
        match then {
            Then::Rows(skip, limit) => top::rows(&replies, skip, limit),
            Then::Scores(spread, offset, limit) => self.page(&replies, spread, offset, limit),
            Then::Own(own, around) => self.near(replies, own, around),
            Then::Around(own, around, known) => standing::placed(&known, replies, own, around),
            Then::Scored(users) => self.above(&replies, users),
            Then::Above(ranked, rows) => self.ranked(ranked, rows, &replies),
        }
    }

    /// Asks for the same of each shard.
    fn each(&self, command: &dyn Fn(u32) -> Command) -> Vec<Command> {
        (0..self.config.shards).map(command).collect()
    }

    fn command(&self, lookup: &Lookup<'_>, shard: u32) -> Command {
        command(self.config, self.which, lookup, shard)
    }

    fn on_board(&self, shard: u32, script: &'static Script) -> Command {
        on_board(self.config, self.which, shard, script)
    }
}

/// How many there are on all shards, from replies that have it behind the stamp; nothing where no
/// shard has the board. And whether all have it.
fn total(replies: &[Reply]) -> Result<(Reply, bool), Failure> {
    let (mut total, mut whole) = (None, true);
    for reply in replies {
        match reply.at(1)?.some() {
            Some(held) => total = Some(total.unwrap_or(0) + held.integer()?),
            None => whole = false,
        }
    }
    Ok((total.map_or(Reply::Nil, Reply::Integer), whole))
}

/// The columns of what each shard replied, from a place on.
fn columns(replies: &[Reply], from: usize) -> Result<Vec<Columns<'_>>, Failure> {
    let mut columns = Vec::new();
    for reply in replies {
        match reply.list()?.get(from..from + 3) {
            Some([first, second, third]) => columns.push([first, second, third]),
            Some(_) | None => {
                let what = "unexpected reply: too short".to_owned();
                return Err(Failure::Unavailable(what));
            }
        }
    }
    Ok(columns)
}

/// How many, as a reply says; none where there is nothing.
fn count(reply: &Reply) -> Result<usize, Failure> {
    let count = reply.some().map_or(Ok(0), Reply::unsigned)?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

fn number(number: usize) -> Reply {
    Reply::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}
