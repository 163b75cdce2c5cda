//! Mends differences by counting and undoing.
//!
//! An undo has the instant of the record's last change, so it is stale if the record changes meanwhile. A count has the
//! instant of the source, or that of a later change of the record. Undos precede counts. A target has one author, so a
//! target with another one is deleted in between, after its author has lost what the undos take back, and registered again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use activity_rank_core::calendar::Instant;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::board::Board;
use crate::compare::{Comparison, Difference};
use crate::facts::Key;
use crate::failure::Failure;
use crate::item::ItemKind;
use crate::request_error::RequestError;
use crate::session::{Session, Upload};

/// Receivers follow an undo within a second while the service runs, and otherwise by cron within a minute.
const POLL: Duration = Duration::from_millis(500);
const POLLS: u32 = 150;

/// The result of [`Session::heal`].
#[derive(Debug)]
pub struct Healed {
    /// The comparison afterwards.
    pub comparison: Comparison,
    /// The differences that are gone.
    pub mended: usize,
}

impl<U: Upload> Session<'_, U> {
    /// Mends differences, and compares again.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service gives no usable response.
    pub async fn heal(
        &self,
        comparison: &Comparison,
        board: &mut Board,
    ) -> Result<Healed, Failure> {
        let plan = Plan::new(comparison, self, board);
        let refused = plan.run(self, board).await?;
        self.update(board).await?;
        // Changes of this run are compared too.
        let latest = Instant(i64::MAX);
        let mut after = self.basis(board, self.rules()?, latest).compare();
        after.leave_changed(comparison);
        after.refuse_all(&refused);
        let found = comparison.differences.len();
        Ok(Healed {
            mended: found.saturating_sub(after.differences.len()),
            comparison: after,
        })
    }
}

/// The changes of a run of `--heal`.
#[derive(Debug, Default)]
pub struct Plan {
    /// Undos, as the API accepts them.
    pub undos: Vec<Value>,
    /// Targets that are deleted and registered again.
    pub deletions: Vec<String>,
    /// Activities to count, and their instants.
    pub counts: Vec<(Key, Option<Instant>)>,
    /// Receipts to wait for before the deletions, by target, action and instant of the record.
    receipts: HashMap<(String, String, i64), usize>,
}

impl Plan {
    /// Creates the plan that mends the differences.
    pub fn new<U: Upload>(
        comparison: &Comparison,
        session: &Session<'_, U>,
        board: &Board,
    ) -> Self {
        let mut plan = Self::default();
        for difference in &comparison.differences {
            match difference {
                Difference::Missing { key, changed } => plan.count(session, key, *changed),
                Difference::Excess {
                    key,
                    changed,
                    is_gone,
                } => {
                    plan.undo(key, &key.user, *changed, *is_gone);
                    plan.expect_receipt(key, &key.user, board);
                }
                Difference::Receiver {
                    key,
                    stored,
                    changed,
                } => {
                    plan.undo(key, stored, *changed, false);
                    plan.expect_receipt(key, stored, board);
                    plan.count(session, key, Some(*changed));
                }
                Difference::Author {
                    target,
                    found: Some(_),
                    ..
                } => plan.deletions.push(target.clone()),
                Difference::Author { found: None, .. } => {}
            }
        }
        let deleted: BTreeSet<&String> = plan.deletions.iter().collect();
        plan.receipts
            .retain(|(target, _, _), _| deleted.contains(target));
        plan
    }

    fn undo(&mut self, key: &Key, user: &str, changed: i64, is_gone: bool) {
        let at = Instant(changed).to_string();
        let (action, target) = (&key.action, &key.target);
        let mut undo =
            json!({"user": user, "action": action, "target": target, "undo": true, "at": at});
        if let (true, Value::Object(fields)) = (is_gone, &mut undo) {
            fields.insert("source_gone".to_owned(), true.into());
        }
        self.undos.push(undo);
    }

    fn expect_receipt(&mut self, key: &Key, user: &str, board: &Board) {
        let record = (user.to_owned(), key.action.clone(), key.target.clone());
        let active = board.records.get(&record);
        let active = active.and_then(|record| record.active.as_ref());
        if let Some(active) = active
            && let Some(receiver) = &active.receiver
            && !receiver.authorship.is_empty()
        {
            let target = receiver.on.as_ref().unwrap_or(&key.target).clone();
            let receipt = (target, key.action.clone(), active.at);
            *self.receipts.entry(receipt).or_default() += 1;
        }
    }

    fn count<U>(&mut self, session: &Session<'_, U>, key: &Key, changed: Option<i64>) {
        let fact = session.facts.activities.get(key);
        let at = fact.and_then(|fact| fact.at);
        let at = at.max(changed.map(Instant));
        self.counts.push((key.clone(), at));
    }

    /// Sends the plan. Returns what rules have refused, by reason.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service gives no usable response.
    pub async fn run<U: Upload>(
        &self,
        session: &Session<'_, U>,
        board: &mut Board,
    ) -> Result<BTreeMap<Key, String>, Failure> {
        let (kind, check) = (ItemKind::Activity, &session.check);
        session.upload.send(kind, check, &self.undos).await?;
        if !self.deletions.is_empty() {
            let awaited = self.wait_for_receipts(session, board).await?;
            self.delete(session, &awaited).await?;
            session.update(board).await?;
        }
        session.send_profiles(Some(board)).await?;
        let (refused, _) = session.send_all(&self.counts, Some(board)).await?;
        Ok(refused)
    }

    /// Waits until authors have lost what the undos take back: without its registration, a target has no author who does.
    /// Returns the targets whose authors have not.
    async fn wait_for_receipts<U: Upload>(
        &self,
        session: &Session<'_, U>,
        board: &mut Board,
    ) -> Result<BTreeSet<&str>, Failure> {
        let number = |board: &Board, receipt| board.taken_back.get(receipt).copied().unwrap_or(0);
        let expected = self.receipts.iter();
        let mut expected: Vec<_> = expected
            .map(|(receipt, undos)| (receipt, number(board, receipt) + undos))
            .collect();
        for _ in 0..POLLS {
            session.update(board).await?;
            expected.retain(|(receipt, expected)| number(board, receipt) < *expected);
            if expected.is_empty() {
                break;
            }
            let message = "waiting until authors have received".to_owned();
            session.progress.advance(0, message);
            session.client.sleep(POLL).await;
        }
        let awaited = expected.iter();
        Ok(awaited.map(|((target, ..), _)| target.as_str()).collect())
    }

    /// Deletes the targets, except the awaited ones: their authors still differ in the next run.
    async fn delete<U>(
        &self,
        session: &Session<'_, U>,
        awaited: &BTreeSet<&str>,
    ) -> Result<(), Failure> {
        let deletions = self.deletions.iter();
        for target in deletions.filter(|target| !awaited.contains(target.as_str())) {
            let url = session.client.url(&["v1", "targets", target]);
            let delete = || session.client.send(Method::DELETE, &url, String::new());
            let notify =
                |error: &RequestError, wait| session.progress.retrying(&error.to_string(), wait);
            let deleted = session.client.with_backoff(session.retries, notify, delete);
            let deleted = deleted.await;
            match deleted {
                Ok(_) => {}
                Err(RequestError::Refused { problem, .. })
                    if problem.status == StatusCode::NOT_FOUND => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::pin::pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Waker};

    use http::header::HeaderMap;
    use url::Url;

    use super::*;
    use crate::client::Client;
    use crate::facts::Options;
    use crate::item::ItemCheck;
    use crate::platform::{Pending, Platform, Progress, Request, Response, SendError};
    use crate::session::Sent;
    use crate::sources::{Adapter, Collector};

    /// A service whose journal stays empty: no author receives anything. Has the paths of deletions.
    #[derive(Debug, Default)]
    struct Service(Mutex<Vec<String>>);

    impl Platform for Service {
        fn send(&self, request: Request) -> Pending<'_, Result<Response, SendError>> {
            if request.method == Method::DELETE {
                let path = request.url.path().to_owned();
                self.0.lock().unwrap().push(path);
            }
            let page = json!({"prefix": "ar", "stamp": "v4 shards=1 decimals=0 timezone=UTC",
                "keep": {"boards": {}, "histories": 1, "marks": 1}, "entries": [], "next": null});
            Box::pin(ready(Ok(Response {
                status: StatusCode::OK,
                headers: HeaderMap::new(),
                body: page.to_string().into_bytes(),
            })))
        }

        fn sleep(&self, _: Duration) -> Pending<'_, ()> {
            Box::pin(ready(()))
        }
    }

    /// A source without content.
    struct Empty;

    impl Adapter for Empty {
        const ID_PREFIX: &'static str = "";
        const TYPES: &'static [(&'static str, &'static str)] = &[];
        const UNIT: &'static str = "row";

        async fn read(self, _: &mut Collector<'_>, _: &dyn Progress) -> Result<(), Failure> {
            Ok(())
        }
    }

    impl Upload for Empty {
        async fn send(
            &self,
            _: ItemKind,
            _: &ItemCheck,
            _: &[Value],
        ) -> Result<Vec<Sent>, Failure> {
            Ok(Vec::new())
        }
    }

    impl Progress for Empty {
        fn advance(&self, _: u64, _: String) {}

        fn retrying(&self, _: &str, _: Duration) {}

        fn print(&self, _: &str) {}
    }

    #[test]
    fn target_without_receipts_stays() {
        let service = Arc::new(Service::default());
        let url = Url::parse("https://rank.example").unwrap();
        let client = Client::new(service.clone(), url, None);
        let receipt = ("post-8".to_owned(), "like".to_owned(), 1_795_132_800_000);
        let plan = Plan {
            deletions: ["post-7", "post-8"].map(str::to_owned).into(),
            receipts: HashMap::from([(receipt, 1)]),
            ..Plan::default()
        };
        let heal = pin!(async {
            let (options, started) = (Options::default(), Instant(1_795_132_900_000));
            let session = Session::read(client, Empty, options, started, &Empty, &Empty);
            let session = session.await.unwrap();
            plan.run(&session, &mut Board::default()).await.unwrap();
        });
        // Nothing in it waits.
        let healed = heal.poll(&mut Context::from_waker(Waker::noop()));
        assert!(healed.is_ready());
        assert_eq!(*service.0.lock().unwrap(), ["/v1/targets/post-7"]);
    }
}
