//! HTTP at the edge: route → caller → content → one pipeline → view. This folder alone knows the
//! platform, so the edge of the queue and cron are here too.

mod activity;
mod answer;
mod array;
mod cache;
mod call;
mod caller;
mod copies;
mod cors;
mod database;
pub mod edge;
mod files;
mod health;
mod journal;
mod kept;
mod keys;
mod limits;
mod live;
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
use edge::is_bound;
use files::Files;
use kept::Kept;
use limits::Limits;
use queue::Queues;
use route::Route;
use std::rc::Rc;
use worker::Env;

/// What the deployment's variables say.
struct Deployment {
    /// Known also where another variable is wrong, so that a page can read which.
    origins: Origins,
    limits: Rc<Limits>,
    files: Files,
    kept: Kept,
    queues: Queues,
    site: Result<Site, Error>,
}

thread_local! {
    /// Read once: variables are the same for as long as an isolate lives.
    static DEPLOYMENT: Rc<Deployment> = Rc::new(Deployment::read(&edge::env()));
}

/// Answers a request; what goes wrong is a problem document, never an error of the platform's.
pub async fn respond(request: String) -> String {
    let deployment = Deployment::of();
    let mut call = Call::read(request, Rc::clone(&deployment.limits));
    let cors = Cors::of(&deployment.origins, call.header("origin"));
    let answer = answer(&mut call, &deployment, &cors)
        .await
        .unwrap_or_else(|error| {
            log::failure(&call, &error);
            Answer::problem(&error)
        });
    cors.sign(sealed(answer, &call)).text_of_all()
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

async fn answer(call: &mut Call, deployment: &Deployment, cors: &Cors) -> Result<Answer, Error> {
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
        Route::Ranking(period) => ranking::board(site?, kept, call, &period).await,
        Route::Winners(period) => ranking::winners(site?, kept, call, &period).await,
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
pub async fn run_scheduled(cron: String) -> String {
    let deployment = Deployment::of();
    if let Ok(site) = &deployment.site {
        run_due(site, &deployment.kept, &cron).await;
    }
    String::new()
}

async fn run_due(site: &Site, kept: &Kept, cron: &str) {
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
    fn of() -> Rc<Self> {
        DEPLOYMENT.with(Rc::clone)
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

fn read_site(vars: &Vars, env: &Env) -> Result<Site, Error> {
    let bound = Bound {
        queue: is_bound(env, "HELD"),
        archive: is_bound(env, "ARCHIVE"),
        journal: is_bound(env, "JOURNAL"),
        snapshots: is_bound(env, "SNAPSHOTS"),
        live: is_bound(env, "LIVE"),
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
