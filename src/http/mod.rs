//! HTTP at the edge: route → caller → content → one pipeline → view. Besides the entry points
//! this folder alone names `worker::`, so the edge of the queue is here too.

mod activity;
mod answer;
mod array;
mod cache;
mod call;
mod caller;
mod copies;
mod cors;
mod database;
mod edge;
mod files;
mod health;
mod journal;
mod kept;
mod keys;
mod limits;
pub mod live;
mod log;
mod moderation;
pub mod queue;
mod ranking;
pub mod route;
mod scheduled;
mod signature;
mod snapshots;
mod users;
mod zone;

use crate::config::{Bound, Config, Origins, Vars};
use crate::error::Error;
use crate::json;
use crate::site::Site;
use answer::Answer;
use call::Call;
use cors::Cors;
use files::Files;
use kept::Kept;
use limits::Limits;
use queue::Queues;
use route::Route;
use std::cell::OnceCell;
use std::rc::Rc;
use worker::web_sys::{Request, Response};
use worker::{Context, Env, Result};

/// What the deployment's variables say.
struct Deployment {
    /// Known also where another variable is wrong, so that a page can read which.
    origins: Origins,
    limits: Rc<Limits>,
    files: Files,
    kept: Kept,
    queues: Queues,
    site: std::result::Result<Site, Error>,
}

thread_local! {
    /// Read once: variables are the same for as long as an isolate lives.
    static DEPLOYMENT: OnceCell<Rc<Deployment>> = const { OnceCell::new() };
}

/// Answers a request; what goes wrong is a problem document, never an error of the platform's.
pub async fn respond(request: Request, env: &Env, context: &Context) -> Result<Response> {
    let deployment = Deployment::of(env);
    let mut call = Call::read(request, Rc::clone(&deployment.limits));
    let cors = Cors::of(&deployment.origins, call.header("origin"));
    let answer = answer(&mut call, &deployment, &cors, context)
        .await
        .unwrap_or_else(|error| {
            log::failure(&call, &error);
            Answer::problem(&error)
        });
    cors.sign(sealed(answer, &call)).into_response()
}

/// An answer of any kind with what all of them say.
fn sealed(answer: Answer, call: &Call) -> Answer {
    let answer = answer
        .with("x-request-id", call.id.as_str())
        .with("x-content-type-options", "nosniff");
    if call.is_secure() {
        // Of this host alone: others of the same domain are not ours.
        answer.with("strict-transport-security", "max-age=31536000")
    } else {
        answer
    }
}

async fn answer(
    call: &mut Call,
    deployment: &Deployment,
    cors: &Cors,
    context: &Context,
) -> std::result::Result<Answer, Error> {
    let route = Route::of(&call.path)?;
    call.route = route.pattern();
    if cors::is_preflight(&call.method, |name| call.header(name).is_some()) {
        return Ok(cors.preflight(route.allow()));
    }
    route.check(&call.method)?;
    let site = deployment.site.as_ref().map_err(Error::clone);
    let kept = &deployment.kept;
    if route.is_public() && call.is_read() {
        let config = site.as_ref().ok().map(|site| &site.config);
        caller::count_reader(call, config).await?;
    }
    match route {
        Route::Activity => activity::post(site?, call, &deployment.queues).await,
        Route::Ranking(period) => ranking::board(site?, kept, call, context, &period).await,
        Route::Winners(period) => ranking::winners(site?, kept, call, context, &period).await,
        Route::Live(period) => live::open(site?, kept, call, &period).await,
        Route::Comparison(period) => ranking::comparison(site?, kept, call, &period).await,
        Route::Standing(period, user) => ranking::standing(site?, kept, call, &period, &user).await,
        Route::Profiles => users::put_all(site?, kept, call).await,
        Route::Profile(user) => users::profile(site?, kept, call, &user).await,
        Route::History(user) => users::history(site?, call, &user).await,
        Route::Verdict(user) => moderation::verdict(site?, kept, call, &user).await,
        Route::Adjustments(user) => moderation::adjustment(site?, call, &user).await,
        Route::Audit => moderation::audit(site?, call).await,
        Route::Journal => journal::get(site?, kept, call).await,
        Route::Health => Ok(health::answer(site, call).await),
        Route::OpenApi => {
            site?;
            deployment.files.openapi(call).await
        }
        Route::Page => {
            site?;
            deployment.files.page(call, "index.html").await
        }
        Route::Docs => {
            site?;
            deployment.files.page(call, "docs.html").await
        }
    }
}

/// When only the journal is due.
const EACH_MINUTE: &str = "* * * * *";

/// Does what is due from time to time: each part that fails is logged, and due again.
pub async fn run_scheduled(env: &Env, cron: &str) {
    let deployment = Deployment::of(env);
    let (Ok(site), kept) = (&deployment.site, &deployment.kept) else {
        return;
    };
    if let Some(journal) = &kept.journal
        && let Err(error) = journal::drain(site, journal).await
    {
        log::run(&error);
    }
    if cron == EACH_MINUTE {
        return;
    }
    if let Some(archive) = &kept.archive
        && let Err(error) = scheduled::archive(site, archive).await
    {
        log::run(&error);
    }
    if let Some(snapshots) = &kept.snapshots
        && let Err(error) = scheduled::snapshot(site, snapshots).await
    {
        log::run(&error);
    }
}

impl Deployment {
    fn of(env: &Env) -> Rc<Self> {
        DEPLOYMENT.with(|known| Rc::clone(known.get_or_init(|| Rc::new(Self::read(env)))))
    }

    fn read(env: &Env) -> Self {
        let mut vars = serde_json::Map::new();
        for name in Vars::NAMES {
            if let Some(value) = read_var(env, name) {
                vars.insert(name.to_owned(), value);
            }
        }
        let vars = Vars::new(vars);
        Self {
            origins: Origins::read(&vars).unwrap_or_default(),
            limits: Rc::new(Limits::of(env)),
            files: Files::of(env),
            kept: Kept::of(env),
            queues: Queues::of(env),
            site: read_site(&vars, env),
        }
    }
}

fn read_site(vars: &Vars, env: &Env) -> std::result::Result<Site, Error> {
    let is_bound = |name| edge::binding(env, name).is_some();
    let bound = Bound {
        queue: is_bound("HELD"),
        archive: is_bound("ARCHIVE"),
        journal: is_bound("JOURNAL"),
        snapshots: is_bound("SNAPSHOTS"),
        live: is_bound("LIVE"),
    };
    let config = Config {
        bound,
        ..Config::read(vars)?
    };
    let zone = zone::named(&config.timezone)?;
    Ok(Site::new(config, zone, edge::clock))
}

/// A variable as JSON: the platform hands over tables of wrangler.toml as objects.
fn read_var(env: &Env, name: &str) -> Option<serde_json::Value> {
    let value = edge::binding(env, name)?;
    if let Some(text) = value.as_string() {
        return Some(text.into());
    }
    let json = js_sys::JSON::stringify(&value).ok()?.as_string()?;
    json::read(json.as_bytes()).ok()
}
