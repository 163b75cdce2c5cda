//! What wrangler logs: which messages of the queue are done with, and what must not be.

use std::time::Duration;

use crate::run::Run;

const EVERY: Duration = Duration::from_millis(100);

/// Follows the log for as long as it is awaited.
pub async fn follow(run: &Run) {
    loop {
        let news = run.service.news();
        news.lines().for_each(|line| one(run, line));
        // What went through it is not asked for, and would fill the memory.
        run.service.forwarder.reset();
        tokio::time::sleep(EVERY).await;
    }
}

fn one(run: &Run, line: &str) {
    if let Some(done) = line.strip_prefix("DONE ") {
        let done: Vec<String> = serde_json::from_str(done).unwrap_or_default();
        let Some((isolate, messages)) = done.split_first() else {
            return run.figures.wrong(line.to_owned());
        };
        for message in messages {
            run.ledger.done(isolate, message);
        }
    }
    let given_up = line.starts_with("DEAD ") || line.contains("\"cause\":\"dropped");
    if given_up || line.contains("panicked at") {
        run.figures.wrong(line.to_owned());
    }
}
