//! The store refuses writes in the middle of a script, which Redis does not roll back.

use std::sync::atomic::{AtomicU32, Ordering};

use activity_rank_core::calendar::{Instant, Utc};
use activity_rank_core::config::{Bound, Config, Vars};
use activity_rank_core::error::Error;
use activity_rank_core::moderation::ModerationState;
use activity_rank_core::profile::{NamedProfile, Profile};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::deployment::pending;
use activity_rank_store::redis::transport::{Endpoint, ReqwestTransport};
use activity_rank_store::{erasure, moderation, profiles};
use serde_json::json;
use test_support::{Api, Fault, Forwarder, Refusal, TOKEN, gateway};

use crate::store::{FINGERPRINT, Store};

const NOW: Instant = Instant(1_795_132_800_000);

/// One deployment, and the forwarder to its store.
struct App {
    deployment: Deployment,
    forwarder: Forwarder,
    store: Store,
}

impl App {
    fn start() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        drop(Api::new(""));
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("refused-{}-{number}", std::process::id());
        let forwarder = Forwarder::to(&gateway().url());
        let vars = json!({"UPSTASH_REDIS_REST_URL": forwarder.url(), "PREFIX": prefix,
            "UPSTASH_REDIS_REST_TOKEN": TOKEN});
        let mut config =
            Config::parse(&Vars::new(vars.as_object().unwrap().clone()), Utc::named).unwrap();
        config.bound = Bound {
            journal: true,
            ..Bound::default()
        };
        let endpoint = Endpoint::new(&forwarder.url(), TOKEN, 20_000);
        let transport = ReqwestTransport::new(endpoint);
        let store = Store::shared(&prefix);
        Self {
            deployment: Deployment::new(config, Box::new(Utc), Box::new(transport), || 0),
            forwarder,
            store,
        }
    }

    /// Writes a board with the users a and b, and their data.
    fn fill(&mut self) {
        let key = |rest: &str| self.store.key_on(0, rest);
        let (index, board, users) = (key("i"), key("ba:all"), key("p"));
        let records = key("m:b");
        let settings = activity_rank_store::fingerprint::fingerprint(&self.deployment.config, 1);
        let run = |store: &mut Store, command: &str, arguments: &[&str]| {
            store.run::<redis::Value>(command, arguments);
        };
        run(
            &mut self.store,
            "ZADD",
            &[&index, "inf", "a:all", "1800000000", "679"],
        );
        run(
            &mut self.store,
            "ZADD",
            &[&board, "2", "#", "1073741824", "a", "2147483648", "b"],
        );
        run(
            &mut self.store,
            "HSET",
            &[&users, FINGERPRINT, &settings, "b", "{\"name\":\"Bea\"}"],
        );
        run(&mut self.store, "HSET", &[&records, "Lp", "200"]);
    }

    fn score(&mut self) -> f64 {
        let board = self.store.key_on(0, "ba:all");
        let score: Option<f64> = self.store.run("ZSCORE", &[&board, "b"]);
        score.unwrap_or_default()
    }

    fn flags(&mut self) -> String {
        let users = self.store.key_on(0, "p");
        let flags: Option<String> = self.store.run("HGET", &[&users, "!b"]);
        let flags = flags.unwrap_or_default();
        flags.split(',').next().unwrap_or_default().to_owned()
    }

    fn profile(&mut self) -> Option<String> {
        let profiles = self.store.key_on(0, "p");
        self.store.run("HGET", &[&profiles, "b"])
    }

    fn entries(&mut self, log: &str) -> u64 {
        let log = self.store.key_on(0, log);
        self.store.run("XLEN", &[&log])
    }

    fn lines(&mut self) -> usize {
        self.store.pending_changes("b")
    }
}

/// A change, and the state of the user b after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Hide,
    OptOut,
    Rename,
    Erase,
}

impl Change {
    async fn send(self, app: &App) -> Result<(), Error> {
        let deployment = &app.deployment;
        let profile = |hidden| NamedProfile {
            id: "b".to_owned(),
            profile: Profile::from_json("{\"name\":\"Bo\"}").unwrap(),
            hidden,
        };
        match self {
            Self::Hide => {
                let state = json!({"hidden": true, "frozen": true, "reason": "spam"});
                let state = ModerationState::parse("b", &state).unwrap();
                moderation::moderate(deployment, &state, None, NOW)
                    .await
                    .map(|_| ())
            }
            Self::OptOut => {
                let profile = profile(Some(true));
                profiles::write(deployment, &[profile], None, NOW)
                    .await
                    .map(|_| ())
            }
            Self::Rename => {
                let profile = profile(None);
                profiles::write(deployment, &[profile], None, NOW)
                    .await
                    .map(|_| ())
            }
            Self::Erase => erasure::erase(deployment, "b", None, NOW).await.map(|_| ()),
        }
    }

    /// Returns whether the change is complete, and panics if it is partial.
    fn is_made(self, app: &mut App) -> bool {
        let state = (app.score() > 0.0, app.flags(), app.profile());
        let named = |name: &str| Some(format!("{{\"name\":\"{name}\"}}"));
        let before = (true, String::new(), named("Bea"));
        let after = match self {
            Self::Hide => (false, "hf".to_owned(), named("Bea")),
            Self::OptOut => (false, "s".to_owned(), named("Bo")),
            Self::Rename => (true, String::new(), named("Bo")),
            Self::Erase => (false, String::new(), None),
        };
        assert!(state == before || state == after, "{self:?}: {state:?}");
        assert_eq!(app.lines(), 0, "{self:?}");
        state == after
    }
}

/// For every write of every script: cron leaves the state before or after the change, and the same
/// request again makes it exactly once.
#[tokio::test]
async fn refused_write_leaves_no_partial_change() {
    for change in [Change::Hide, Change::OptOut, Change::Rename, Change::Erase] {
        for refuse in [Refusal::Only as fn(usize) -> Refusal, Refusal::From] {
            let (mut made, mut unmade) = (0, 0);
            for nth in 1.. {
                assert!(nth < 60, "{change:?}");
                let mut app = App::start();
                app.fill();
                let refusal = refuse(nth);
                app.forwarder
                    .fail(move |_| Some(Fault::RefuseWrites(refusal)));
                let refused = change.send(&app).await.is_err();
                app.forwarder.heal();
                assert_eq!(pending::advance(&app.deployment, 9).await.ok(), Some(true));
                let at = format!("{change:?} {refusal:?}");
                let journal = app.entries("o");
                if change.is_made(&mut app) {
                    assert_eq!(journal, 1, "{at}");
                    made += 1;
                } else {
                    unmade += 1;
                }
                change
                    .send(&app)
                    .await
                    .unwrap_or_else(|error| panic!("{at}: {error:?}"));
                assert!(change.is_made(&mut app), "{at}");
                let (logged, opt_outs) = match change {
                    Change::Hide => (2, 0),
                    Change::OptOut => (0, 1),
                    Change::Rename => (0, 0),
                    Change::Erase => (1, 0),
                };
                assert_eq!(app.entries("n"), opt_outs, "{at}");
                if change == Change::Erase {
                    assert_eq!(app.store.traces("b"), [""; 0], "{at}");
                } else {
                    assert_eq!(app.entries("l"), logged, "{at}");
                }
                let complete = !refused;
                app.store.clear();
                if complete {
                    break;
                }
            }
            assert!(unmade > 0 && made > 0, "{change:?}: {unmade} {made}");
        }
    }
}
