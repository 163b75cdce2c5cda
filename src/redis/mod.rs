//! Redis over the Upstash REST protocol: one request carries a pipeline of commands.
//!
//! Knows commands and replies, and nothing of what they mean here.

mod breaker;
mod pipeline;
mod reply;
mod store;
mod wire;

pub use pipeline::{Command, Pipeline};
pub use reply::Reply;
pub use store::Store;

/// Why the store gave no answer that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No answer, not in time, or not one of this protocol: what happened.
    Unavailable(String),
    /// The store does not take the token.
    Unauthorized,
    /// The store refused a command for good: its own words.
    Refused(String),
}

impl Failure {
    /// What an error reply of Redis means for the request.
    ///
    /// A wrong type, a missing permission or an unknown command comes again with every try; what
    /// else Redis says (loading, busy, out of memory, read-only, cluster down) passes.
    #[must_use]
    pub fn of(error: String) -> Self {
        const FOR_GOOD: [&str; 4] = ["WRONGTYPE", "NOPERM", "ERR unknown command", "ERR Command"];
        let code = error.trim_start();
        if code.starts_with("WRONGPASS") || code.starts_with("NOAUTH") {
            Self::Unauthorized
        } else if FOR_GOOD.iter().any(|known| code.contains(known)) {
            Self::Refused(words(&error).to_owned())
        } else {
            Self::Unavailable(words(&error).to_owned())
        }
    }
}

/// What an error of the store says, but for what it adds: about the script, which is of no use to
/// whoever has to act on it, and what it was sent, which is not for the log.
fn words(error: &str) -> &str {
    const ADDED: [&str; 2] = [" script: ", ", with args beginning with"];
    let ends = ADDED.iter().filter_map(|added| error.find(added));
    error
        .get(..ends.min().unwrap_or(error.len()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Failure;

    #[test]
    fn what_the_store_adds_to_an_error_is_left_out() {
        let unknown = "ERR unknown command 'GETDEL', with args beginning with: 'ar:0:marks:42' ";
        let wrong = "WRONGTYPE Operation against a key script: 1a2b, on @user_script:7.";
        let busy = "LOADING Redis is loading the dataset in memory";
        for (error, told) in [
            (
                unknown,
                Failure::Refused("ERR unknown command 'GETDEL'".to_owned()),
            ),
            (
                wrong,
                Failure::Refused("WRONGTYPE Operation against a key".to_owned()),
            ),
            (busy, Failure::Unavailable(busy.to_owned())),
            ("", Failure::Unavailable(String::new())),
        ] {
            assert_eq!(Failure::of(error.to_owned()), told);
        }
    }
}
