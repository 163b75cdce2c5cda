//! The configuration, store and bindings that the requests of an isolate share.

use crate::log;
use crate::platform::assets::Assets;
use crate::platform::bridge;
use crate::platform::budget::{Budget, Cost, MeteredTransport};
use crate::platform::clock;
use crate::platform::d1::Database;
use crate::platform::env::{is_bound, vars};
use crate::platform::live;
use crate::platform::queue::Producer;
use crate::platform::rate_limit::RateLimits;
use crate::platform::snapshots::Snapshots;
use crate::platform::time_zone;
use crate::request::Request;
use activity_rank_core::calendar::Date;
use activity_rank_core::config::{Bound, Config, Origins, Vars};
use activity_rank_core::error::Error;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::redis::Transport;
use activity_rank_store::redis::transport::Endpoint;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use worker::Env;

/// The application.
pub struct App {
    /// The origins of `ALLOWED_ORIGINS`: available even if another variable is invalid, so that a
    /// page can read which one.
    pub origins: Origins,
    /// The configuration and the store, or the error of the configuration.
    pub deployment: Result<Deployment, Error>,
    /// The same, with the deadline of jobs.
    job_deployment: OnceCell<Result<Deployment, Error>>,
    /// The optional bindings.
    pub bindings: Bindings,
    /// The rate limiters.
    pub rate_limits: RateLimits,
    /// The static files.
    pub assets: Assets,
    /// The environment, for bindings that are looked up by name.
    pub env: Env,
}

/// The optional bindings of a deployment.
pub struct Bindings {
    /// The archive of closed boards: a D1 database with the tables of `migrations/archive`.
    pub archive: Option<Database>,
    /// The journal: a D1 database with the table of `migrations/journal`.
    pub journal: Option<Database>,
    /// Snapshots of current boards: a KV namespace.
    pub snapshots: Option<Snapshots>,
    /// The queue for activity that the store does not accept.
    pub queue: Option<Producer>,
    /// The dead-letter queue for messages that cannot be parsed.
    pub dead_letters: Option<Producer>,
    /// Whether the Durable Object namespace of live boards is bound.
    pub live: bool,
}

/// The least deadline of a job's request to the store, in milliseconds.
const JOB_TIMEOUT_MS: u32 = 15_000;

thread_local! {
    /// Variables and bindings do not change while an isolate lives.
    static APP: OnceCell<Rc<App>> = const { OnceCell::new() };
}

impl App {
    /// Returns the application of this isolate.
    #[must_use]
    pub fn get() -> Rc<Self> {
        APP.with(|app| Rc::clone(app.get_or_init(|| Rc::new(Self::new(bridge::env())))))
    }

    fn new(env: Env) -> Self {
        let vars = vars(&env);
        Self {
            origins: Origins::parse(&vars).unwrap_or_default(),
            deployment: deployment(&vars, &env, 0),
            job_deployment: OnceCell::new(),
            bindings: Bindings {
                archive: Database::bound(&env, "ARCHIVE"),
                journal: Database::bound(&env, "JOURNAL"),
                snapshots: Snapshots::bound(&env),
                queue: Producer::bound(&env, "HELD"),
                dead_letters: Producer::bound(&env, "DEAD"),
                live: is_bound(&env, "LIVE"),
            },
            rate_limits: RateLimits::new(&env),
            assets: Assets::new(&env),
            env,
        }
    }

    /// Returns the configuration and the store.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`].
    pub fn deployment(&self) -> Result<&Deployment, Error> {
        self.deployment.as_ref().map_err(Error::clone)
    }

    /// Returns the configuration and the store for jobs, for which no visitor waits: a batch that
    /// takes longer than `STORE_TIMEOUT_MS` would otherwise never be processed.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`].
    pub fn job_deployment(&self) -> Result<&Deployment, Error> {
        let new = || {
            let mut jobs = deployment(&vars(&self.env), &self.env, JOB_TIMEOUT_MS)?;
            self.share_known(&mut jobs);
            Ok(jobs)
        };
        self.job_deployment
            .get_or_init(new)
            .as_ref()
            .map_err(Error::clone)
    }

    /// Returns the deployment and bindings of one run of cron, with a new budget. `recorded` is the number of
    /// requests that record the run and are not in the budget.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`].
    pub fn cron_run(&self, recorded: u32) -> Result<CronRun, Error> {
        let config = config(&vars(&self.env), &self.env, JOB_TIMEOUT_MS)?;
        let limit = config.cron_budget;
        let budget = Budget::new(Cost::new(limit - recorded, limit));
        let metered = |endpoint| -> Box<dyn Transport> {
            let transport = transport(endpoint);
            Box::new(MeteredTransport::new(transport, Rc::clone(&budget)))
        };
        let database = |name| Some(Database::bound(&self.env, name)?.with_budget(&budget));
        let mut deployment = deployment_over(config, metered)?;
        self.share_known(&mut deployment);
        Ok(CronRun {
            deployment,
            archive: database("ARCHIVE"),
            journal: database("JOURNAL"),
            budget,
            outcome: Cell::new(Outcome::Ok),
        })
    }

    /// Returns a configuration of one's own.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`].
    pub fn parse_config(&self) -> Result<Config, Error> {
        config(&vars(&self.env), &self.env, JOB_TIMEOUT_MS)
    }

    /// Lets another deployment of the isolate know what requests have found in the store.
    fn share_known(&self, other: &mut Deployment) {
        if let Ok(deployment) = &self.deployment {
            other.known = Rc::clone(&deployment.known);
        }
    }
}

/// One run of cron: a store and bindings whose requests count against one budget.
pub struct CronRun {
    /// The configuration and the store, with the deadline of jobs.
    pub deployment: Deployment,
    /// The archive.
    pub archive: Option<Database>,
    /// The journal.
    pub journal: Option<Database>,
    /// The remaining subrequests and queries of the run.
    pub budget: Rc<Budget>,
    outcome: Cell<Outcome>,
}

/// How a run of cron went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No job failed.
    Ok,
    /// A job failed.
    Failed,
    /// The store holds the data of another deployment.
    Misconfigured,
}

impl Outcome {
    /// Returns the name in data points.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Misconfigured => "misconfigured",
        }
    }
}

impl CronRun {
    /// Logs the failure of a job, and remembers that there was one.
    pub fn log_failure(&self, result: Result<(), Error>) {
        let Err(error) = result else { return };
        log::job(&error);
        self.outcome.set(match (&error, self.outcome.get()) {
            (Error::Misconfigured(..), _) | (_, Outcome::Misconfigured) => Outcome::Misconfigured,
            (_, Outcome::Ok | Outcome::Failed) => Outcome::Failed,
        });
    }

    /// Returns how the run went so far.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome.get()
    }
}

/// A request to a configured deployment.
#[derive(Clone, Copy)]
pub struct RequestContext<'a> {
    /// The application.
    pub app: &'a App,
    /// The configuration and the store.
    pub deployment: &'a Deployment,
    /// The request.
    pub request: &'a Request,
    /// The account by which the path names a member; empty if it names the member.
    pub account: &'a str,
}

impl<'a> RequestContext<'a> {
    /// Returns the context of a request.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`].
    pub fn new(app: &'a App, request: &'a Request) -> Result<Self, Error> {
        Ok(Self {
            app,
            deployment: app.deployment()?,
            request,
            account: "",
        })
    }

    /// Returns the date of the request in the time zone of the deployment.
    #[must_use]
    pub fn today(&self) -> Date {
        self.deployment.calendar.date_at(self.request.now)
    }
}

/// Returns the deployment of an environment. A request to its store has at least this deadline, in
/// milliseconds.
fn deployment(vars: &Vars, env: &Env, min_timeout: u32) -> Result<Deployment, Error> {
    deployment_over(config(vars, env, min_timeout)?, transport)
}

fn config(vars: &Vars, env: &Env, min_timeout: u32) -> Result<Config, Error> {
    let mut config = Config {
        bound: Bound {
            queue: is_bound(env, "HELD"),
            archive: is_bound(env, "ARCHIVE"),
            journal: is_bound(env, "JOURNAL"),
            snapshots: is_bound(env, "SNAPSHOTS"),
            live: is_bound(env, "LIVE"),
            analytics: is_bound(env, "ANALYTICS"),
        },
        ..Config::parse(vars, time_zone::named)?
    };
    config.check_journal()?;
    config.achievements.check_journal(config.bound.journal)?;
    config.store_timeout = config.store_timeout.max(min_timeout);
    Ok(config)
}

/// Returns a deployment over the transport that `transport` makes.
fn deployment_over(
    config: Config,
    transport: impl FnOnce(Endpoint) -> Box<dyn Transport>,
) -> Result<Deployment, Error> {
    let zone = time_zone::named(&config.timezone)?;
    let (url, token) = (&config.store_url, &config.store_token);
    let endpoint = Endpoint::new(url, token, config.store_timeout);
    let is_live = config.bound.live;
    let mut deployment = Deployment::new(config, zone, transport(endpoint), clock::millis);
    deployment.wait = clock::wait;
    deployment.on_change = match is_live {
        true => live::wake,
        false => live::wake_without_objects,
    };
    Ok(deployment)
}

#[cfg(not(feature = "reqwest"))]
fn transport(endpoint: Endpoint) -> Box<dyn Transport> {
    Box::new(crate::platform::store::FetchTransport::new(endpoint))
}

#[cfg(feature = "reqwest")]
fn transport(endpoint: Endpoint) -> Box<dyn Transport> {
    use activity_rank_store::redis::transport::ReqwestTransport;
    Box::new(ReqwestTransport::new(endpoint))
}
