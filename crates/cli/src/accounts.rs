//! `activity-rank accounts`: several users who count as one member.

use std::collections::{HashMap, HashSet};
use std::process::ExitCode;

use activity_rank_core::account::JoinRequest;
use activity_rank_core::error::Error;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::{AccountsArgs, AccountsCommand, ImportAccountsArgs, ServiceArgs};
use crate::board::{RETRIES, User, parse_body, print_body};
use crate::client::{Client, client};
use crate::count::count;
use crate::failure::{Failure, LINES_REFUSED, are};
use crate::printable::printable;
use crate::progress::Progress;
use crate::request_error::RequestError;
use crate::screen::Screen;
use crate::upload::line::read_value;
use crate::upload::open;

/// The most accounts of a member, as `account.lua` has it.
const MAX_ACCOUNTS: usize = 20;

/// The accounts of a user.
#[derive(Debug, Deserialize)]
struct Accounts {
    user: User,
    account_of: Option<String>,
    accounts: Vec<String>,
    past: Option<String>,
}

/// Runs a command of `accounts`.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response, the file cannot be read or stdout fails.
pub async fn run(service: &ServiceArgs, args: &AccountsArgs) -> Result<ExitCode, Failure> {
    let client = client(service)?;
    match &args.command {
        AccountsCommand::Show { user, json } => {
            let url = client.url(&["v1", "users", user, "account"]);
            let body = client
                .with_backoff(RETRIES, |_, _| (), || client.get_with_key(&url))
                .await?;
            print_body(&url, &body, *json, describe)
        }
        AccountsCommand::Join { user, member, json } => {
            let body = send(&client, Method::PUT, user, &json!({"of": member})).await?;
            print_body(&client.url(&[]), &body, *json, describe)
        }
        AccountsCommand::Detach { user, json } => {
            send(&client, Method::DELETE, user, &Value::Null).await?;
            Screen::print(&match json {
                true => json!({"user": user, "account_of": null}).to_string(),
                false => format!("{}: no account", printable(user)),
            })?;
            Ok(ExitCode::SUCCESS)
        }
        AccountsCommand::Import(args) => import(&client, args).await,
    }
}

/// Makes the users of a file accounts. A file with an invalid line changes nothing.
async fn import(client: &Client, args: &ImportAccountsArgs) -> Result<ExitCode, Failure> {
    let (mut joins, mut invalid, mut file) = (Vec::new(), 0, Joins::default());
    let is_field = |field: &str| ["user", "of"].contains(&field);
    open(&args.file, &args.format, is_field)?.read(|raw| {
        let number = raw.number;
        let read = || match read_value(raw).map_err(|problem| problem.to_string())? {
            None => Ok(()),
            Some((_, value)) => {
                let join = parse(&value)?;
                file.add(number, &join)?;
                joins.push((number, join));
                Ok::<(), String>(())
            }
        };
        if let Err(error) = read() {
            invalid += 1;
            Screen::print_error(&format!("line {number}: {}", printable(&error)));
        }
        true
    })?;
    if invalid > 0 {
        return Err(Failure::InvalidAccounts(invalid));
    }
    let lines = joins.len() as u64;
    if args.dry_run {
        let refused = check(client, &joins, &file).await?;
        let joined = count(lines - refused, "account");
        let text = match refused {
            0 => format!("{joined} would be joined"),
            _ => format!("{joined} would be joined, {refused} refused"),
        };
        return finish(
            args,
            &json!({"lines": lines, "refused": refused}),
            &text,
            refused,
        );
    }
    let (progress, mut joined, mut refused) = (Progress::new(Some(lines)), 0, 0);
    for (number, JoinRequest { user, of, .. }) in joins {
        match send(client, Method::PUT, &user, &json!({"of": of})).await {
            Ok(_) => joined += 1,
            Err(RequestError::Refused { problem, .. })
                if problem.status == StatusCode::CONFLICT =>
            {
                refused += 1;
                progress.print(&format!("line {number}: {user}: {problem}"));
            }
            Err(error) => {
                progress.finish();
                Screen::print_error(&format!(
                    "{joined} of {lines} accounts are joined: run it again to continue"
                ));
                return Err(error.into());
            }
        }
        progress.advance(1, format!("joined {joined} of {lines}"));
    }
    progress.finish();
    let summary = json!({"lines": lines, "joined": joined, "refused": refused});
    let text = format!("{} joined, {refused} refused", are(joined, "account"));
    finish(args, &summary, &text, refused)
}

/// The joins of the lines of a file.
#[derive(Default)]
struct Joins {
    /// The line and the member of each account.
    members: HashMap<String, (u64, String)>,
    /// The first line and the accounts of each member.
    accounts: HashMap<String, (u64, HashSet<String>)>,
}

impl Joins {
    /// Adds a line, unless it contradicts an earlier one. A repeated line is none.
    fn add(&mut self, number: u64, join: &JoinRequest) -> Result<(), String> {
        let JoinRequest { user, of, .. } = join;
        let other = |line: &u64, member: &str| format!("is an account of {member} in line {line}");
        if let Some((line, member)) = self.members.get(user).filter(|(_, member)| member != of) {
            return Err(format!("user: {}", other(line, member)));
        } else if let Some((line, member)) = self.members.get(of) {
            return Err(format!("of: {}", other(line, member)));
        } else if let Some((line, _)) = self.accounts.get(user) {
            return Err(format!("user: has accounts by line {line}"));
        }
        let accounts = self.accounts.entry(of.clone());
        let (_, accounts) = accounts.or_insert_with(|| (number, HashSet::new()));
        accounts.insert(user.clone());
        if accounts.len() > MAX_ACCOUNTS {
            return Err(format!("of: {of} has more than {MAX_ACCOUNTS} accounts"));
        }
        self.members.insert(user.clone(), (number, of.clone()));
        Ok(())
    }
}

/// Compares lines with the accounts of the service. Prints the lines that it would refuse, and returns their number.
async fn check(
    client: &Client,
    joins: &[(u64, JoinRequest)],
    file: &Joins,
) -> Result<u64, Failure> {
    let (mut known, mut refused) = (HashMap::new(), 0);
    let progress = Progress::new(Some(joins.len() as u64));
    for (number, JoinRequest { user, of, .. }) in joins {
        for name in [user, of] {
            if !known.contains_key(name) {
                let url = client.url(&["v1", "users", name, "account"]);
                let get = || client.get_with_key(&url);
                let body = client.with_backoff(RETRIES, |_, _| (), get).await?;
                known.insert(name.clone(), parse_body::<Accounts>(&url, &body)?);
            }
        }
        let reason = match (known.get(user), known.get(of)) {
            (Some(account), Some(member)) => refusal(account, member, of, file),
            _ => None,
        };
        if let Some(reason) = reason {
            refused += 1;
            progress.print(&format!("line {number}: {}", printable(&reason)));
        }
        progress.advance(1, format!("checked {}", count(joins.len() as u64, "line")));
    }
    progress.finish();
    Ok(refused)
}

/// Returns why the service would refuse to make a user an account of a member.
fn refusal(account: &Accounts, member: &Accounts, of: &str, file: &Joins) -> Option<String> {
    let user = &account.user;
    if let Some(other) = account.account_of.as_ref().filter(|other| *other != of) {
        return Some(format!("{user} is an account of {other}"));
    } else if !account.accounts.is_empty() {
        return Some(format!("{user} has accounts"));
    } else if let Some(other) = &member.account_of {
        return Some(format!("{of} is an account of {other}"));
    }
    let mut all: HashSet<&String> = member.accounts.iter().collect();
    all.extend(
        file.accounts
            .get(of)
            .iter()
            .flat_map(|(_, accounts)| accounts),
    );
    (all.len() > MAX_ACCOUNTS).then(|| format!("{of} would have more than {MAX_ACCOUNTS} accounts"))
}

fn finish(
    args: &ImportAccountsArgs,
    summary: &Value,
    text: &str,
    refused: u64,
) -> Result<ExitCode, Failure> {
    Screen::print(&match args.json {
        true => summary.to_string(),
        false => text.to_owned(),
    })?;
    Ok(match refused {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(LINES_REFUSED),
    })
}

/// Parses a line: the account, and the member whose account it is.
fn parse(line: &Value) -> Result<JoinRequest, String> {
    let message = |error: Error| error.problem().detail;
    let Value::Object(fields) = line else {
        return Err("must be a JSON object such as {\"user\":\"42\",\"of\":\"9\"}".to_owned());
    };
    let mut body = fields.clone();
    let user = body.remove("user").unwrap_or_default();
    let user = activity_rank_core::id::user(&user);
    let user = user.ok_or_else(|| format!("user: {}", activity_rank_core::id::ID))?;
    JoinRequest::parse(&user, &Value::Object(body)).map_err(message)
}

fn describe(found: &Accounts) -> String {
    let user = &found.user;
    let past = match found.past.as_deref() {
        Some("pending") => "; recount --accounts will add what came before",
        Some("left-out") => "; without a journal, what came before is left out",
        Some(_) | None => "",
    };
    match (&found.account_of, found.accounts.as_slice()) {
        (Some(member), _) => format!("{user}: an account of {}{past}", printable(member)),
        (None, []) => format!("{user}: no account, and no accounts"),
        (None, accounts) => format!("{user}: {}{past}", printable(&accounts.join(", "))),
    }
}

async fn send(
    client: &Client,
    method: Method,
    user: &str,
    body: &Value,
) -> Result<Vec<u8>, RequestError> {
    let url = client.url(&["v1", "users", user, "account"]);
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let attempt = || client.send(method.clone(), &url, body.clone());
    client.with_backoff(RETRIES, |_, _| (), attempt).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradicting_lines_are_refused() {
        let mut file = Joins::default();
        let mut add = |number, user: &str, of: &str| {
            let join = parse(&json!({"user": user, "of": of})).unwrap();
            file.add(number, &join)
        };
        for number in 1..=20 {
            assert_eq!(add(number, &format!("a{number}"), "9"), Ok(()));
        }
        assert_eq!(add(21, "a1", "9"), Ok(()));
        for (user, of, expected) in [
            ("a2", "8", "user: is an account of 9 in line 2"),
            ("8", "a3", "of: is an account of 9 in line 3"),
            ("9", "8", "user: has accounts by line 1"),
            ("a21", "9", "of: 9 has more than 20 accounts"),
        ] {
            assert_eq!(add(22, user, of), Err(expected.to_owned()));
        }
    }

    #[test]
    fn lines_are_checked_as_the_service_does() {
        let join = parse(&json!({"user": 42, "of": "9"})).unwrap();
        assert_eq!((join.user.as_str(), join.of.as_str()), ("42", "9"));
        for (line, expected) in [
            (json!({"of": "9"}), "user: must be 1 to 64"),
            (json!({"user": "42"}), "of: is missing"),
            (
                json!({"user": "9", "of": "9"}),
                "of: must be another user than the account",
            ),
            (
                json!({"user": "42", "of": "9", "name": "x"}),
                "name: is unknown",
            ),
            (json!([]), "must be a JSON object"),
        ] {
            let error = parse(&line).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
