//! `activity-rank targets`: uploads the register of targets.

use std::process::ExitCode;

use reqwest::Method;

use crate::args::{ServiceArgs, TargetsArgs};
use crate::failure::Failure;
use crate::upload::{self, Destination, upload};
use activity_rank_sync::item::{ItemCheck, ItemKind};

/// Route that accepts an array of targets and returns each registered target.
pub const TARGETS: Destination = Destination {
    method: Method::PUT,
    path: &["v1", "targets"],
    kind: ItemKind::Target,
    default_outcome: Some("registered"),
};

/// Uploads the file and prints the summary.
///
/// # Errors
///
/// Returns [`Failure`] if the file cannot be read or the service gives no usable response.
pub async fn run(service: &ServiceArgs, args: &TargetsArgs) -> Result<ExitCode, Failure> {
    let source = upload::open(&args.file, &args.format, |field| {
        ItemCheck::Target.has_field(field)
    })?;
    upload(service, TARGETS, source, None, args.batch, &args.upload).await
}
