//! The store refuses writes in the middle of a script, which Redis does not roll back.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use activity_rank_core::calendar::{Instant, Utc};
use activity_rank_core::config::{Bound, Config, Vars};
use activity_rank_core::error::Error;
use activity_rank_core::moderation::ModerationState;
use activity_rank_core::profile::{NamedProfile, Profile};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::deployment::pending;
use activity_rank_store::redis::Transport;
use activity_rank_store::redis::transport::{Endpoint, HttpResponse, PostFuture, ReqwestTransport};
use activity_rank_store::scripts::{ERASE, FIRST_PROFILE, MODERATE, PROFILES, SETTLE, Script};
use activity_rank_store::{erasure, moderation, profiles};
use serde_json::{Value, json};
use test_support::{Api, TOKEN, gateway};

use crate::store::Store;

const NOW: Instant = Instant(1_795_132_800_000);

/// The writes of the next script that the store refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    None,
    /// The nth one.
    Only(u32),
    /// The nth one and all later ones.
    From(u32),
}

/// A transport that sends scripts as text, preceded by code that refuses writes.
struct RefusingTransport {
    transport: ReqwestTransport,
    refusal: Rc<Cell<Refusal>>,
}

const REFUSING: &str = "local store, writes = redis, 0
local reads = { GET = 1, HGET = 1, HLEN = 1, XLEN = 1, ZCARD = 1, XREVRANGE = 1, XRANGE = 1, EXISTS = 1,
  HEXISTS = 1, ZSCORE = 1, ZRANK = 1, ZRANGE = 1, ZCOUNT = 1, ZMSCORE = 1, TIME = 1 }
local redis = setmetatable({ call = function(name, ...)
  if not reads[name] then
    writes = writes + 1
    if writes == REFUSED or writes > REFUSED and LATER then
      return store.call('ZADD', 'refused', 'not a number', 'x')
    end
  end
  return store.call(name, ...)
end }, { __index = store })
";

impl RefusingTransport {
    fn rewrite(&self, body: &str) -> String {
        let (nth, later) = match self.refusal.get() {
            Refusal::None => return body.to_owned(),
            Refusal::Only(nth) => (nth, "false"),
            Refusal::From(nth) => (nth, "true"),
        };
        let mut commands: Vec<Vec<Value>> = serde_json::from_str(body).unwrap();
        let refusing = REFUSING.replace("REFUSED", &nth.to_string());
        let refusing = refusing.replace("LATER", later);
        for command in &mut commands {
            let sha = command[1].as_str().unwrap_or_default().to_owned();
            let all: [&Script; 5] = [&ERASE, &FIRST_PROFILE, &MODERATE, &PROFILES, &SETTLE];
            if let Some(script) = all.into_iter().find(|script| script.sha == sha) {
                command[0] = json!("EVAL");
                command[1] = json!(format!("{refusing}{}", script.text()));
            }
        }
        json!(commands).to_string()
    }
}

impl Transport for RefusingTransport {
    fn post(&self, body: String) -> PostFuture<'_> {
        let body = self.rewrite(&body);
        Box::pin(async move {
            let response: Result<HttpResponse, String> = self.transport.post(body).await;
            response
        })
    }
}

/// One deployment, and a switch for refused writes.
struct App {
    deployment: Deployment,
    refusal: Rc<Cell<Refusal>>,
    store: Store,
}

impl App {
    fn start() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        drop(Api::new(""));
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("refused-{}-{number}", std::process::id());
        let vars = json!({"UPSTASH_REDIS_REST_URL": gateway().url(), "PREFIX": prefix,
            "UPSTASH_REDIS_REST_TOKEN": TOKEN});
        let mut config = Config::parse(&Vars::new(vars.as_object().unwrap().clone())).unwrap();
        config.bound = Bound {
            journal: true,
            ..Bound::default()
        };
        let endpoint = Endpoint::new(&gateway().url(), TOKEN, 20_000);
        let refusal = Rc::new(Cell::new(Refusal::None));
        let transport = RefusingTransport {
            transport: ReqwestTransport::new(endpoint),
            refusal: Rc::clone(&refusal),
        };
        let store = Store::shared(&prefix);
        Self {
            deployment: Deployment::new(config, Box::new(Utc), Box::new(transport), || 0),
            refusal,
            store,
        }
    }

    /// Writes a board with the users a and b, and their data.
    fn fill(&mut self) {
        let key = |rest: &str| self.store.key_on(0, rest);
        let (index, board, profiles) = (key("i"), key("ba:all"), key("p"));
        let (records, fingerprint) = (key("m:b"), key("s"));
        let settings = activity_rank_store::fingerprint::fingerprint(&self.deployment.config);
        let run = |store: &mut Store, command: &str, arguments: &[&str]| {
            store.run::<redis::Value>(command, arguments);
        };
        run(&mut self.store, "SET", &[&fingerprint, &settings]);
        run(
            &mut self.store,
            "ZADD",
            &[&index, "inf", &board, "1800000000", "679"],
        );
        run(
            &mut self.store,
            "ZADD",
            &[&board, "2", "#", "1073741824", "a", "2147483648", "b"],
        );
        run(
            &mut self.store,
            "HSET",
            &[&profiles, "b", "{\"name\":\"Bea\"}"],
        );
        run(&mut self.store, "HSET", &[&records, "Lp", "200"]);
    }

    fn score(&mut self) -> f64 {
        let board = self.store.key_on(0, "ba:all");
        let score: Option<f64> = self.store.run("ZSCORE", &[&board, "b"]);
        score.unwrap_or_default()
    }

    fn flags(&mut self) -> String {
        let flags = self.store.key_on(0, "f");
        let flags: Option<String> = self.store.run("HGET", &[&flags, "b"]);
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
        let key = self.store.key_on(0, "s");
        let stored: String = self.store.run("GET", &[&key]);
        stored.lines().skip(1).count()
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
                moderation::moderate(deployment, &state, NOW)
                    .await
                    .map(|_| ())
            }
            Self::OptOut => {
                let profile = profile(Some(true));
                profiles::write(deployment, &[profile], false, NOW)
                    .await
                    .map(|_| ())
            }
            Self::Rename => {
                let profile = profile(None);
                profiles::write(deployment, &[profile], false, NOW)
                    .await
                    .map(|_| ())
            }
            Self::Erase => erasure::erase(deployment, "b", NOW).await,
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
        for refusal in [Refusal::Only as fn(u32) -> Refusal, Refusal::From] {
            let (mut made, mut unmade) = (0, 0);
            for nth in 1.. {
                assert!(nth < 60, "{change:?}");
                let mut app = App::start();
                app.fill();
                app.refusal.set(refusal(nth));
                let refused = change.send(&app).await.is_err();
                app.refusal.set(Refusal::None);
                assert_eq!(pending::advance(&app.deployment, 9).await.ok(), Some(true));
                let at = format!("{change:?} {:?}", refusal(nth));
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
