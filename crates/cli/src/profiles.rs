//! `activity-rank profiles`: uploads profiles.

use std::process::ExitCode;

use reqwest::Method;

use crate::args::{ProfilesArgs, ServiceArgs};
use crate::failure::Failure;
use crate::upload::{self, Destination, upload};
use activity_rank_sync::item::{ItemCheck, ItemKind};

/// Route that accepts an array of profiles and returns each stored profile.
pub const PROFILES: Destination = Destination {
    method: Method::PUT,
    path: &["v1", "users"],
    kind: ItemKind::Profile,
    default_outcome: Some("stored"),
};

/// Uploads the file and prints the summary.
///
/// # Errors
///
/// Returns [`Failure`] if the file cannot be read or the service gives no usable response.
pub async fn run(service: &ServiceArgs, args: &ProfilesArgs) -> Result<ExitCode, Failure> {
    let source = upload::open(&args.file, &args.format, |field| {
        ItemCheck::Profile.has_field(field)
    })?;
    upload(service, PROFILES, source, None, args.batch, &args.upload).await
}
