//! Options of a run, from environment variables.

use crate::contender::Contender;
use crate::load::Load;
use std::env;
use std::path::PathBuf;
use std::time::Duration;

/// The options of a comparison of contenders.
pub struct Options {
    /// The number of rounds of each contender under each load.
    pub rounds: usize,
    /// The duration of a round.
    pub seconds: Duration,
    /// The number of users.
    pub users: usize,
    /// The file for the figures.
    pub json: PathBuf,
    /// The contenders to measure.
    pub contenders: Vec<Contender>,
    /// The loads to measure.
    pub loads: Vec<Load>,
}

impl Options {
    /// Reads `ROUNDS`, `SECONDS`, `USERS`, `JSON`, and `ONLY`: names of contenders and loads, separated
    /// by commas. If it names no contender, all are measured; the same for loads.
    pub fn read() -> Result<Self, String> {
        let only = env::var("ONLY").unwrap_or_default();
        let only: Vec<&str> = only
            .split([',', ' '])
            .filter(|name| !name.is_empty())
            .collect();
        let (contenders, loads) = (
            Contender::ALL.map(Contender::name),
            Load::ALL.map(Load::name),
        );
        let is_known = |name: &&&str| contenders.contains(name) || loads.contains(name);
        if let Some(unknown) = only.iter().find(|name| !is_known(name)) {
            let (contenders, loads) = (contenders.join(", "), loads.join(", "));
            return Err(format!(
                "ONLY={unknown} is unknown: use {contenders}; {loads}"
            ));
        }
        let seconds: f64 = number("SECONDS", 2.0)?;
        Ok(Self {
            rounds: number("ROUNDS", 5)?,
            users: number("USERS", 5_000)?,
            json: file("JSON", "target/bench.json"),
            seconds: Duration::from_secs_f64(seconds),
            contenders: selected_contenders(&only)?,
            loads: selected(&Load::ALL, &only, Load::name),
        })
    }
}

/// Returns the contenders to measure. [`Contender::Before`] needs the variable `BEFORE`.
fn selected_contenders(only: &[&str]) -> Result<Vec<Contender>, String> {
    let mut contenders = selected(&Contender::ALL, only, Contender::name);
    if env::var_os("BEFORE").is_none_or(|folder| folder.is_empty()) {
        if only.contains(&Contender::Before.name()) {
            return Err("set BEFORE to the folder of another build of the Worker".to_owned());
        }
        contenders.retain(|contender| *contender != Contender::Before);
    }
    Ok(contenders)
}

fn selected<T: Copy>(all: &[T], only: &[&str], name: fn(T) -> &'static str) -> Vec<T> {
    let is_named = |item: &T| only.contains(&name(*item));
    match all.iter().any(is_named) {
        true => all.iter().copied().filter(is_named).collect(),
        false => all.to_vec(),
    }
}

/// Returns a path from an environment variable; the default is relative to the repository.
pub fn file(name: &str, default: &str) -> PathBuf {
    env::var_os(name).map_or_else(|| test_support::root().join(default), PathBuf::from)
}

/// Returns a number from an environment variable.
pub fn number<T: std::str::FromStr>(name: &str, default: T) -> Result<T, String> {
    match env::var(name) {
        Ok(text) if !text.is_empty() => text
            .parse()
            .map_err(|_| format!("{name}={text} is not a number")),
        _ => Ok(default),
    }
}
