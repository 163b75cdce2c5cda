//! The client: Redis over the Upstash REST protocol, one HTTP request for each pipeline.
//!
//! A [`Pipeline`] of [`Command`]s goes to the store through a [`Transport`]; each command yields
//! one [`Reply`]. This module does not know what commands mean.

mod circuit_breaker;
mod client;
mod pipeline;
mod reply;
pub mod transport;

pub use circuit_breaker::CircuitState;
pub use client::Client;
pub use pipeline::{Command, Pipeline};
pub use reply::Reply;
pub use transport::Transport;

use activity_rank_core::error::Error;

/// Maximum length of the text of an error, in characters.
const MAX_MESSAGE: usize = 300;

/// Why the store gave no usable reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// It did not respond, not in time, or not in this protocol: the cause.
    Unavailable(String),
    /// It rejected the token.
    Unauthorized,
    /// It refused a command, and would refuse it again: the text of its error.
    Refused(String),
}

impl StoreError {
    /// Classifies an error reply of Redis.
    ///
    /// A wrong type, a missing permission or an unknown command is permanent. Every other error
    /// (loading, busy, out of memory, read-only, cluster down) is temporary.
    #[must_use]
    pub fn from_reply(error: String) -> Self {
        const PERMANENT: [&str; 4] = ["WRONGTYPE", "NOPERM", "ERR unknown command", "ERR Command"];
        let code = error.trim_start();
        if code.starts_with("WRONGPASS") || code.starts_with("NOAUTH") {
            Self::Unauthorized
        } else if PERMANENT.iter().any(|known| code.contains(known)) {
            Self::Refused(message(&error).to_owned())
        } else {
            Self::Unavailable(message(&error).to_owned())
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(cause) => Self::StoreUnavailable(cause),
            StoreError::Unauthorized => {
                let remedy = "the store rejects this token".to_owned();
                Self::Misconfigured("UPSTASH_REDIS_REST_TOKEN", remedy)
            }
            StoreError::Refused(message) => {
                let remedy = format!(
                    "the store rejects commands on keys with this prefix ({message}); choose a PREFIX that \
                     is not in use and that the store's user may access"
                );
                Self::Misconfigured("PREFIX", remedy)
            }
        }
    }
}

/// Returns an error message without the parts that Redis appends: the script and the stack, which do
/// not help an operator, and the arguments, which do not belong in a log. At most
/// [`MAX_MESSAGE`] characters.
fn message(error: &str) -> &str {
    const APPENDED: [&str; 4] = [
        ", with args beginning with",
        " stack traceback:",
        "\n",
        "\r",
    ];
    let error = error.trim_start();
    let ends = APPENDED.iter().filter_map(|appended| error.find(appended));
    // `script: <SHA-1>, on @user_script:7.` ends a message of Redis. Upstash begins its own with
    // `ERR Error running script: @user_script:7: `, and the cause follows.
    let script = error.rfind(" script: ").filter(|start| {
        let rest = error.get(start + " script: ".len()..);
        rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_hexdigit()))
    });
    let longest = error.char_indices().nth(MAX_MESSAGE).map(|(end, _)| end);
    let end = ends.chain(script).chain(longest).min();
    error.get(..end.unwrap_or(error.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::StoreError;

    #[test]
    fn error_omits_script_and_arguments() {
        let unknown = "ERR unknown command 'GETDEL', with args beginning with: 'ar:0:marks:42' ";
        let wrong = "WRONGTYPE Operation against a key script: 1a2b, on @user_script:7.";
        let busy = "LOADING Redis is loading the dataset in memory";
        let refused = |text: &str| StoreError::Refused(text.to_owned());
        let unavailable = |text: &str| StoreError::Unavailable(text.to_owned());
        let running = "ERR Error running script: @user_script:2: ";
        let compiling =
            "ERR Error compiling script (new function): user_script:1: '=' expected near 'x'";
        let size = format!("{running}ERR max request size exceeded");
        let kind = format!("{running}WRONGTYPE Operation against a key");
        for (error, expected) in [
            (unknown, refused("ERR unknown command 'GETDEL'")),
            (wrong, refused("WRONGTYPE Operation against a key")),
            (
                &format!("{size}\nstack traceback:\n\t[G]: in function 'call'"),
                unavailable(&size),
            ),
            (
                &format!("{kind} stack traceback: [G]: in function 'call'"),
                refused(&kind),
            ),
            (compiling, unavailable(compiling)),
            (busy, unavailable(busy)),
            (
                &format!("ERR {}", "é".repeat(1000)),
                unavailable(&format!("ERR {}", "é".repeat(296))),
            ),
            ("", unavailable("")),
        ] {
            assert_eq!(StoreError::from_reply(error.to_owned()), expected);
        }
    }
}
