//! What is answered while the store is away: what was known, saying of when it is.

use super::answer::Answer;
use super::call::Call;
use super::log;
use crate::error::Error;
use crate::ranking::Copy;

/// What is known in spite of an error, which must be that the store did not answer.
///
/// # Errors
///
/// That error, where nothing is known; anything else that looking for it met is logged.
pub async fn in_spite_of(
    call: &Call,
    error: Error,
    look: impl Future<Output = Result<Option<Copy>, Error>>,
) -> Result<Answer, Error> {
    let Error::StoreUnavailable(cause) = &error else {
        return Err(error);
    };
    let known = look.await.unwrap_or_else(|other| {
        log::failure(call, &other);
        None
    });
    let Some(copy) = known else {
        return Err(error);
    };
    log::warning(call, &format!("answered with a copy: {cause}"));
    let age = copy.age(call.now).to_string();
    Ok(Answer::text("application/json", copy.stale()).with("age", age))
}
