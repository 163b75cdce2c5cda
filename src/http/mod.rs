//! HTTP at the edge: route → caller → content → one pipeline → view. Besides the entry point
//! this folder alone names `worker::`.

mod activity;
mod answer;
mod array;
mod cache;
mod call;
mod caller;
mod cors;
mod health;
mod keys;
mod ranking;
pub mod route;
mod signature;
mod users;
mod zone;

use crate::config::{Config, Origins, Vars};
use crate::error::Error;
use crate::site::Site;
use answer::Answer;
use call::Call;
use cors::Cors;
use route::Route;
use std::cell::OnceCell;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use worker::{Context, Env, Request, Response, Result};

const OPENAPI: &str = include_str!("../../web/openapi.json");
const PAGE: &str = include_str!("../../web/index.html");

/// What the deployment's variables say.
struct Deployment {
    /// Known also where another variable is wrong, so that a page can read which.
    origins: Origins,
    site: std::result::Result<Site, Error>,
}

thread_local! {
    /// Read once: variables are the same for as long as an isolate lives.
    static DEPLOYMENT: OnceCell<Rc<Deployment>> = const { OnceCell::new() };
}

/// Answers a request; what goes wrong is a problem document, never an error of the platform's.
pub async fn respond(request: Request, env: &Env, context: &Context) -> Result<Response> {
    let deployment =
        DEPLOYMENT.with(|known| Rc::clone(known.get_or_init(|| Rc::new(Deployment::read(env)))));
    let origin = || request.headers().get("origin").ok().flatten();
    let cors = Cors::of(&deployment.origins, origin);
    let answer = match Call::read(request) {
        Ok(mut call) => answer(&mut call, &deployment, &cors, context)
            .await
            .unwrap_or_else(|error| {
                log(&call, &error);
                Answer::problem(&error)
            }),
        Err(error) => Answer::problem(&error),
    };
    cors.sign(answer).into_response()
}

async fn answer(
    call: &mut Call,
    deployment: &Deployment,
    cors: &Cors,
    context: &Context,
) -> std::result::Result<Answer, Error> {
    let route = Route::of(&call.path)?;
    if cors::is_preflight(&call.method, |name| call.header(name).is_some()) {
        return Ok(cors.preflight(route.allow()));
    }
    route.check(&call.method)?;
    let site = deployment.site.as_ref().map_err(Error::clone);
    match route {
        Route::Activity => activity::post(site?, call).await,
        Route::Ranking(period) => ranking::board(site?, call, context, &period).await,
        Route::Comparison(period) => ranking::comparison(site?, call, &period).await,
        Route::Standing(period, user) => ranking::standing(site?, call, &period, &user).await,
        Route::Profiles => users::put_all(site?, call).await,
        Route::Profile(user) => users::profile(site?, call, &user).await,
        Route::History(user) => users::history(site?, call, &user).await,
        Route::Health => Ok(health::answer(site, call).await),
        Route::OpenApi => site.and_then(|_| fixed("application/json", OPENAPI, call)),
        Route::Page => site.and_then(|_| fixed("text/html; charset=utf-8", PAGE, call)),
    }
}

/// A file of the bundle.
fn fixed(media_type: &str, body: &'static str, call: &Call) -> std::result::Result<Answer, Error> {
    call.no_parameters()?;
    let answer = Answer::text(media_type, body).with("cache-control", "public, max-age=300");
    let known = call.header("if-none-match");
    Ok(answer.tagged().unless_known(known.as_deref()))
}

impl Deployment {
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
            site: read_site(&vars),
        }
    }
}

fn read_site(vars: &Vars) -> std::result::Result<Site, Error> {
    let config = Config::read(vars)?;
    let zone = zone::named(&config.timezone)?;
    Ok(Site::new(config, zone))
}

/// A variable as JSON: the platform hands over tables of wrangler.toml as objects.
fn read_var(env: &Env, name: &str) -> Option<serde_json::Value> {
    let value = js_sys::Reflect::get(env, &JsValue::from_str(name)).ok()?;
    if let Some(text) = value.as_string() {
        return Some(text.into());
    }
    let json = js_sys::JSON::stringify(&value).ok()?.as_string()?;
    serde_json::from_str(&json).ok()
}

/// Failures that are not the caller's, one JSON line each.
fn log(call: &Call, error: &Error) {
    let cause = match error {
        Error::StoreUnavailable(cause) | Error::KeysUnavailable(cause) => cause.clone(),
        Error::Misconfigured(variable, way_out) => format!("{variable}: {way_out}"),
        Error::InvalidRequest(..)
        | Error::Unauthenticated(_)
        | Error::InvalidToken(_)
        | Error::Forbidden(_)
        | Error::NotFound(_)
        | Error::MethodNotAllowed(_)
        | Error::TooLarge(_)
        | Error::UnsupportedMediaType
        | Error::UnknownAction(_)
        | Error::NotUndoable(_)
        | Error::ScoreOverflow(_) => return,
    };
    let line = serde_json::json!({
        "level": "error",
        "status": error.status(),
        "method": call.method,
        "path": call.path,
        "cause": cause,
    });
    worker::console_error!("{line}");
}
