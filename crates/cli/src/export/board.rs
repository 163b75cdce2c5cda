//! A board as CSV or JSON lines.

use serde::Deserialize;
use serde_json::Number;
use serde_json::value::RawValue;

use super::output::Output;
use crate::args::{ExportArgs, Format, ServiceArgs};
use crate::client::client;
use crate::count::count;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::rebuild::preview::PreviewedBoard;
use crate::request_error::RequestError;

/// Rows of a request, and the last row from which the service reads.
const PAGE: u32 = 100;
const LAST: u32 = 100_000;

/// The columns of CSV.
const COLUMNS: [&str; 4] = ["rank", "score", "id", "name"];

/// Response of the service.
#[derive(Deserialize)]
struct Page {
    entries: Vec<Box<RawValue>>,
}

/// A row: of a member or an author, or of a target.
#[derive(Deserialize)]
struct Entry {
    rank: u64,
    score: Number,
    user: Option<Subject>,
    target: Option<Subject>,
}

#[derive(Default, Deserialize)]
struct Subject {
    id: String,
    name: Option<String>,
    title: Option<String>,
}

/// Writes the rows of a board, at most 100,100. The rows of an open board may move between requests.
pub async fn write(
    service: &ServiceArgs,
    args: &ExportArgs,
    name: &str,
    output: &mut Output,
    progress: &Progress,
) -> Result<(), Failure> {
    let (client, board) = (client(service)?, PreviewedBoard::parse(name)?);
    let format = args.format.unwrap_or_else(|| {
        let file = args.output.as_deref();
        Format::of(file.unwrap_or_default())
    });
    if format == Format::Csv {
        output.write(&COLUMNS.join(","))?;
    }
    for offset in (0..=LAST).step_by(PAGE as usize) {
        let mut url = client.url(&board.path());
        url.query_pairs_mut()
            .append_pair("limit", &PAGE.to_string())
            .append_pair("offset", &offset.to_string())
            .extend_pairs(board.parameters());
        let notify = |error: &RequestError, wait| progress.retrying(&error.to_string(), wait);
        let response = client
            .with_backoff(args.retries, notify, || client.get_with_key(&url))
            .await?;
        let page: Page = serde_json::from_slice(&response).map_err(|error| {
            let (url, what) = (url.to_string(), error.to_string());
            Failure::Service(RequestError::UnexpectedResponse { url, what })
        })?;
        for entry in &page.entries {
            output.write(&match format {
                Format::Json => entry.get().to_owned(),
                Format::Csv => row(entry)?,
            })?;
        }
        progress.advance(0, count(output.lines, "line"));
        if page.entries.len() < PAGE as usize {
            break;
        }
    }
    Ok(())
}

/// Returns an entry as a row of CSV.
fn row(entry: &RawValue) -> Result<String, Failure> {
    let invalid = |error: serde_json::Error| Failure::Data(error.to_string());
    let entry: Entry = serde_json::from_str(entry.get()).map_err(invalid)?;
    let subject = entry.user.or(entry.target).unwrap_or_default();
    let name = subject.name.or(subject.title).unwrap_or_default();
    let (rank, score) = (entry.rank, entry.score);
    Ok(format!(
        "{rank},{score},{},{}",
        cell(&subject.id),
        cell(&name)
    ))
}

/// Returns a text as a cell. A spreadsheet would run one that begins like a formula: an apostrophe makes it a text.
fn cell(text: &str) -> String {
    let is_formula = text
        .trim_start()
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let text = match is_formula {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
