//! `activity-rank import`: uploads activity.

use std::process::ExitCode;

use activity_rank_core::calendar::Instant;
use jiff::Timestamp;
use reqwest::Method;

use crate::args::{ImportArgs, ServiceArgs};
use crate::failure::Failure;
use crate::upload::line::latest_time;
use crate::upload::time_shift::TimeShift;
use crate::upload::{self, Destination, upload};
use activity_rank_sync::item::{ItemCheck, ItemKind};

/// Route that accepts an array of activities and returns an outcome for each.
pub const ACTIVITY: Destination = Destination {
    method: Method::POST,
    path: &["v1", "activity"],
    kind: ItemKind::Activity,
    default_outcome: None,
};

/// Uploads the file and prints the summary.
///
/// # Errors
///
/// Returns [`Failure`] if the file cannot be read or the service gives no usable response.
pub async fn run(service: &ServiceArgs, args: &ImportArgs) -> Result<ExitCode, Failure> {
    if args.rebuild {
        return crate::rebuild::import::run(service, args).await;
    }
    let mut source = upload::open(&args.file, &args.format, |field| {
        ItemCheck::activities(None).has_field(field)
    })?;
    let time_shift = if args.shift_to_now {
        let latest = latest_time(&mut source)?;
        Some(TimeShift::between(
            latest,
            Instant(Timestamp::now().as_millisecond()),
        ))
    } else {
        None
    };
    upload(
        service,
        ACTIVITY,
        source,
        time_shift,
        args.batch,
        &args.upload,
    )
    .await
}
