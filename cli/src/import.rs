//! `activity-rank import`: sends activity.

use std::process::ExitCode;

use reqwest::Method;

use crate::args::{ImportArgs, ServiceArgs};
use crate::failure::Failure;
use crate::upload::{Destination, Job, upload};

/// Where activity goes: an array of them, each answered with its outcome.
pub const ACTIVITY: Destination = Destination {
    method: Method::POST,
    path: &["v1", "activity"],
    owner: "user",
    done: None,
};

/// Sends the file and prints the summary.
///
/// # Errors
///
/// [`Failure`] if the file can't be read or the service gives no usable answer.
pub async fn run(service: &ServiceArgs, args: &ImportArgs) -> Result<ExitCode, Failure> {
    let ImportArgs {
        file,
        batch,
        shift_to_now,
        upload: options,
    } = args;
    let job = Job {
        destination: ACTIVITY,
        file,
        batch: *batch,
        shift_to_now: *shift_to_now,
        options,
    };
    upload(service, &job).await
}
