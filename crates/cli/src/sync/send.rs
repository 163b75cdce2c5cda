//! Sends profiles, targets and activities through the pipeline of `import`.

use std::io::{Seek, Write};
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use crate::args::SyncOptions;
use crate::client::Client;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::upload::Destination;
use crate::upload::item::ItemCheck;
use crate::upload::line::{LineParser, Outcome};
use crate::upload::pipeline::{self, Event};
use crate::upload::progress::UploadProgress;
use crate::upload::sender::BatchSender;
use crate::upload::source::Source;
use crate::upload::summary::Summary;

/// The result of an item: its outcome, or why it was refused; `None` if it was not sent.
pub type ItemResult = Option<Result<Outcome, Problem>>;

/// Sends arrays.
pub struct Sender<'a> {
    /// HTTP client.
    pub client: &'a Client,
    /// Concurrency, retries and limits.
    pub options: &'a SyncOptions,
}

impl Sender<'_> {
    /// Sends items in order, adds their results to the summary and returns them in the same order.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service gives no usable response. The summary then has what was sent before.
    pub async fn send(
        &self,
        destination: Destination,
        check: ItemCheck,
        items: &[Value],
        summary: &mut Summary,
    ) -> Result<Vec<ItemResult>, Failure> {
        let mut results = vec![None; items.len()];
        if items.is_empty() {
            return Ok(results);
        }
        let source = source(items)?;
        let parser = LineParser {
            check,
            time_shift: None,
            any_past: Arc::default(),
        };
        let sender = BatchSender {
            client: self.client.clone(),
            url: self.client.url(destination.path),
            destination,
            retries: self.options.retries,
            any_accepted: Arc::default(),
        };
        let mut progress = UploadProgress::new(source.size(), self.options.limit as u64);
        let start = Instant::now();
        let (concurrency, batch) = (self.options.concurrency, self.options.batch);
        let mut pipeline = pipeline::start(source, parser, sender, concurrency, batch);
        let mut sent = Ok(());
        while let Some(event) = pipeline.events.recv().await {
            match event {
                Event::Done(report) => {
                    summary.add(&report);
                    progress.advance(&report.lines, summary);
                    for line in report.lines {
                        let index = usize::try_from(line.index).unwrap_or(usize::MAX);
                        if let Some(result) = results.get_mut(index) {
                            *result = Some(line.result);
                        }
                    }
                }
                Event::Retrying { cause, delay } => progress.retrying(&cause, delay),
                Event::ReadFailed(failure) => sent = Err(failure),
                Event::SendFailed(error) => {
                    sent = Err(error.into());
                    break;
                }
            }
        }
        progress.finish();
        summary.seconds += start.elapsed().as_secs_f64();
        sent.map(|()| results)
    }
}

/// Writes items as lines to an unnamed temporary file.
fn source(items: &[Value]) -> Result<Source, Failure> {
    let write = || {
        let file = tempfile::tempfile()?;
        let mut buffer = std::io::BufWriter::new(&file);
        for item in items {
            writeln!(buffer, "{item}")?;
        }
        buffer.flush()?;
        drop(buffer);
        (&file).rewind()?;
        Ok(file)
    };
    let name = "temporary file";
    let file = write().map_err(|cause| Failure::File {
        name: name.to_owned(),
        cause,
    })?;
    Ok(Source::from_file(name, file))
}
