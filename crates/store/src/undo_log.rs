//! Undo logs: what `recover.lua` takes back of a call that the store refused in the middle.

use crate::keys::Keys;
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::RECOVER;

/// Lines of an undo log for each change.
const LOG_LINES: usize = 4;

/// Changes of an earlier call that it could not undo, because the store refused the writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoLog {
    /// The user; for a target a tab and its member.
    pub user: String,
    /// The log as it is stored; `restore.lua` describes its lines.
    pub text: String,
}

impl UndoLog {
    /// Decodes a list of participants and logs.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for any other reply.
    pub fn decode_all(logs: &Reply) -> Result<Vec<Self>, StoreError> {
        let log = |pair: &Reply| {
            let (user, text) = (pair.at(0)?.text()?, pair.at(1)?.text()?);
            let (user, text) = (user.to_owned(), text.to_owned());
            Ok(Self { user, text })
        };
        logs.list()?.iter().map(log).collect()
    }

    /// Returns the call that undoes the changes and deletes the log.
    #[must_use]
    pub fn recovery(&self, keys: &Keys, fingerprint: &str) -> Command {
        let mut all = vec![keys.users()];
        let lines: Vec<&str> = self.text.split('\n').skip(1).collect();
        for change in lines.chunks_exact(LOG_LINES) {
            let [kind, key, second_key, _] = change else {
                continue;
            };
            // Only a change of the audit log has two keys.
            let keys = [Some(key), (*kind == "a").then_some(second_key)];
            for key in keys.into_iter().flatten() {
                if !all.iter().any(|known| known == *key) {
                    all.push((*key).to_owned());
                }
            }
        }
        let call = Command::script(&RECOVER, &all).arg(fingerprint);
        call.arg(&self.user).arg(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::Pipeline;

    #[test]
    fn recovery_declares_every_key_of_the_log() {
        let text = "1795132800000\nz\n{ar:0}ba:all\n{42}\n\nh\n{ar:0}m:{42}\nLpost-7\n\n\
                    h\n{ar:0}m:{42}\nLpost-8\n\na\n{ar:0}l\n{ar:0}w\ncase-17\n";
        let log = UndoLog {
            user: "{42}".to_owned(),
            text: text.to_owned(),
        };
        let call = log.recovery(&Keys::new("ar", 0), "v3");
        let body = Pipeline::new(vec![call]).body();
        let keys =
            r#","5","{ar:0}p","{ar:0}ba:all","{ar:0}m:{42}","{ar:0}l","{ar:0}w","v3","{42}","#;
        assert!(body.contains(keys), "{body}");
    }
}
