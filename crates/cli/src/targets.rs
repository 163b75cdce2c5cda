//! `activity-rank targets`: uploads the register of targets.

use std::process::ExitCode;

use reqwest::Method;

use crate::args::{Format, ServiceArgs, TargetsArgs};
use crate::failure::Failure;
use crate::upload::source::Source;
use crate::upload::{Destination, upload};

/// Route that accepts an array of targets and returns each registered target.
pub const TARGETS: Destination = Destination {
    method: Method::PUT,
    path: &["v1", "targets"],
    user_field: "id",
    default_outcome: Some("registered"),
};

/// Uploads the file and prints the summary.
///
/// # Errors
///
/// Returns [`Failure`] if the file cannot be read or the service gives no usable response.
pub async fn run(service: &ServiceArgs, args: &TargetsArgs) -> Result<ExitCode, Failure> {
    let source = match args.format.unwrap_or_else(|| Format::of(&args.file)) {
        Format::Json => Source::open(&args.file)?,
        Format::Csv => Source::open(&args.file)?.with_csv(),
    };
    upload(service, TARGETS, source, None, args.batch, &args.upload).await
}
