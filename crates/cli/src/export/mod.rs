//! `activity-rank export`: writes the journal, or a board, to a file.

mod activity;
mod board;
mod output;

use std::process::ExitCode;

use serde_json::json;

use crate::args::{ExportArgs, ServiceArgs};
use crate::count::count;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::screen::Screen;
use output::Output;

pub use activity::activity_of;

/// Writes the file and prints the number of its lines.
///
/// # Errors
///
/// [`Failure`] if the service does not respond, there is no such board, or the file cannot be written.
pub async fn run(service: &ServiceArgs, args: &ExportArgs) -> Result<ExitCode, Failure> {
    let mut output = Output::open(args.output.as_deref(), args.force)?;
    let progress = Progress::new(None);
    match &args.board {
        Some(name) => board::write(service, args, name, &mut output, &progress).await?,
        None => activity::write(service, args, &mut output, &progress).await?,
    }
    progress.finish();
    let (lines, to_stdout) = (output.lines, output.is_stdout());
    output.finish()?;
    let message = match args.json {
        true => json!({"lines": lines}).to_string(),
        false => format!("exported {}", count(lines, "line")),
    };
    match to_stdout {
        true => Screen::print_error(&message),
        false => Screen::print(&message)?,
    }
    Ok(ExitCode::SUCCESS)
}
