//! Sends profiles, targets and activities through the pipeline of `import`.

use std::cell::{Ref, RefCell};
use std::io::{Seek, Write};
use std::sync::Arc;

use activity_rank_sync::item::{ItemCheck, ItemKind};
use activity_rank_sync::session::{Sent, Upload};
use serde_json::Value;
use tokio::time::Instant;

use crate::args::SyncOptions;
use crate::client::Client;
use crate::failure::Failure;
use crate::import::ACTIVITY;
use crate::profiles::PROFILES;
use crate::targets::TARGETS;
use crate::upload::Destination;
use crate::upload::line::LineParser;
use crate::upload::pipeline::{self, Event};
use crate::upload::progress::UploadProgress;
use crate::upload::sender::BatchSender;
use crate::upload::source::Source;
use crate::upload::summary::Summary;

/// Sends through the pipeline of `import`.
pub struct Uploader<'a> {
    client: &'a Client,
    /// Concurrency, retries and limits.
    options: &'a SyncOptions,
    /// The totals of activities.
    summary: RefCell<Summary>,
}

impl<'a> Uploader<'a> {
    /// Creates one that has sent nothing.
    pub fn new(client: &'a Client, options: &'a SyncOptions) -> Self {
        Self {
            client,
            options,
            summary: RefCell::default(),
        }
    }

    /// Returns the totals of the activities that were sent.
    pub fn summary(&self) -> Ref<'_, Summary> {
        self.summary.borrow()
    }

    async fn send_items(
        &self,
        destination: Destination,
        check: ItemCheck,
        items: &[Value],
    ) -> Result<Vec<Sent>, Failure> {
        let mut results = vec![None; items.len()];
        if items.is_empty() {
            return Ok(results);
        }
        let is_activity = destination.kind == ItemKind::Activity;
        let mut summary = match is_activity {
            true => self.summary.take(),
            false => Summary::default(),
        };
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
        while let Some(event) = pipeline.next().await {
            match event {
                Event::Done(report) => {
                    summary.add(&report);
                    progress.advance(&report.lines, &summary);
                    for line in report.lines {
                        let index = usize::try_from(line.index).unwrap_or(usize::MAX);
                        if let Some(result) = results.get_mut(index) {
                            *result = Some(line.result.map(|outcome| outcome.reason));
                        }
                    }
                }
                Event::Retrying { cause, delay } => progress.retrying(&cause, delay),
                Event::ReadFailed(failure) => sent = Err(failure),
                Event::SendFailed(failure) => {
                    sent = Err(failure);
                    break;
                }
            }
        }
        progress.finish();
        summary.seconds += start.elapsed().as_secs_f64();
        if is_activity {
            self.summary.replace(summary);
        }
        sent.map(|()| results)
    }
}

impl Upload for Uploader<'_> {
    async fn send(
        &self,
        kind: ItemKind,
        check: &ItemCheck,
        items: &[Value],
    ) -> Result<Vec<Sent>, activity_rank_sync::Failure> {
        let destination = match kind {
            ItemKind::Activity => ACTIVITY,
            ItemKind::Profile => PROFILES,
            ItemKind::Target => TARGETS,
        };
        let sent = self.send_items(destination, check.clone(), items);
        Ok(sent.await?)
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
