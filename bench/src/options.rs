//! What is asked of a run, by the environment.

use crate::contender::Contender;
use crate::load::Load;
use std::env;
use std::path::PathBuf;
use std::time::Duration;

/// What to measure, and for how long.
pub struct Options {
    /// How often each contender has its turn at each load.
    pub rounds: usize,
    /// How long a turn is.
    pub seconds: Duration,
    /// How many users there are.
    pub users: usize,
    /// Where the figures go.
    pub json: PathBuf,
    /// Who is measured.
    pub contenders: Vec<Contender>,
    /// Under which loads.
    pub loads: Vec<Load>,
}

impl Options {
    /// `ROUNDS`, `SECONDS`, `USERS`, `JSON`, and `ONLY`: names of contenders and loads, separated by commas. Where it
    /// names none of a kind, all of that kind are measured.
    pub fn read() -> Result<Self, String> {
        let only = env::var("ONLY").unwrap_or_default();
        let only: Vec<&str> = only
            .split([',', ' '])
            .filter(|name| !name.is_empty())
            .collect();
        let known = |name: &&str| {
            Contender::ALL.iter().any(|who| who.name() == *name)
                || Load::ALL.iter().any(|load| load.name() == *name)
        };
        if let Some(unknown) = only.iter().find(|name| !known(name)) {
            let who = Contender::ALL.map(Contender::name).join(", ");
            let loads = Load::ALL.map(Load::name).join(", ");
            return Err(format!("ONLY={unknown}: there are {who}; {loads}"));
        }
        let seconds: f64 = number("SECONDS", 2.0)?;
        Ok(Self {
            rounds: number("ROUNDS", 5)?,
            users: number("USERS", 5_000)?,
            json: env::var_os("JSON").map_or_else(default_json, PathBuf::from),
            seconds: Duration::from_secs_f64(seconds),
            contenders: chosen(&Contender::ALL, &only, Contender::name),
            loads: chosen(&Load::ALL, &only, Load::name),
        })
    }
}

fn default_json() -> PathBuf {
    test_support::root().join("target/bench.json")
}

fn chosen<T: Copy>(all: &[T], only: &[&str], name: fn(T) -> &'static str) -> Vec<T> {
    let named = |one: &T| only.contains(&name(*one));
    match all.iter().any(named) {
        true => all.iter().copied().filter(named).collect(),
        false => all.to_vec(),
    }
}

/// What a variable says, or else this.
pub fn number<T: std::str::FromStr>(name: &str, default: T) -> Result<T, String> {
    match env::var(name) {
        Ok(text) if !text.is_empty() => text
            .parse()
            .map_err(|_| format!("{name}={text} is not a number")),
        _ => Ok(default),
    }
}
