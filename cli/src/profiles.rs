//! `activity-rank profiles`: sends profiles.

use std::process::ExitCode;

use reqwest::Method;

use crate::args::{ProfilesArgs, ServiceArgs};
use crate::failure::Failure;
use crate::upload::{Destination, Job, upload};

/// Where profiles go: an array of them, each answered with the profile itself.
pub const PROFILES: Destination = Destination {
    method: Method::PUT,
    path: &["v1", "users"],
    owner: "id",
    done: Some("stored"),
};

/// Sends the file and prints the summary.
///
/// # Errors
///
/// [`Failure`] if the file can't be read or the service gives no usable answer.
pub async fn run(service: &ServiceArgs, args: &ProfilesArgs) -> Result<ExitCode, Failure> {
    let ProfilesArgs {
        file,
        batch,
        upload: options,
    } = args;
    let job = Job {
        destination: PROFILES,
        file,
        batch: *batch,
        shift_to_now: false,
        options,
    };
    upload(service, &job).await
}
