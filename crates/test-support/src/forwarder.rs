//! A recording HTTP forwarder between Worker and gateway that injects faults on demand.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{CONTENT_LENGTH, HOST, LOCATION};
use hyper::http::request::Parts;
use hyper::http::response::Builder;
use hyper::{HeaderMap, Request, Response, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};

use crate::api::http_client;
use crate::listener::serve_on_thread;
use crate::replica::{Replica, Route};

/// A fault that the [`Forwarder`] injects into one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Closes the connection before the store receives the request.
    CutBefore,
    /// Closes the connection after the store has executed the request.
    CutAfter,
    /// Forwards the request after this time.
    Delay(Duration),
    /// Forwards the request after [`Forwarder::heal`].
    Hold,
    /// Closes the connection after [`Forwarder::heal`]; the store does not receive the request.
    HoldThenCut,
    /// Forwards the request, and sends the response after [`Forwarder::heal`].
    HoldResponse,
    /// Never responds; the store does not receive the request.
    HangBefore,
    /// Never responds, although the store has executed the request.
    HangAfter,
    /// Never responds; the store has executed the first command of the request alone.
    HangAfterFirst,
    /// Sends half of the store's response, then closes the connection.
    PartialResponse,
    /// Sends half of the store's response, then hangs.
    HangInResponse,
    /// Responds with this status and body; the store does not receive the request.
    Respond(u16, String),
    /// Redirects to this URL; the store does not receive the request.
    Redirect(String),
    /// The store refuses writes in the middle of each script of the request.
    RefuseWrites(Refusal),
    /// The replica serves the request if it consists of reads and the replica has the writes before
    /// its `Upstash-Sync-Token`; requires [`Forwarder::with_replica`].
    ReadReplica,
}

/// The writes of a script that the store refuses, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// This write alone.
    Only(usize),
    /// This write and all later ones.
    From(usize),
    /// These two writes.
    Both(usize, usize),
}

/// Wraps `redis.call` and `redis.pcall` so that some writes fail as in a store without memory.
const REFUSE_WRITES: &str = include_str!("refuse_writes.lua");

/// Returns the body with scripts whose writes fail. Scripts by digest become unknown ones, so that
/// the client sends their text.
fn refuse_writes(body: &Bytes, refusal: Refusal) -> Bytes {
    let condition = match refusal {
        Refusal::Only(number) => format!("writes == {number}"),
        Refusal::From(number) => format!("writes >= {number}"),
        Refusal::Both(first, second) => format!("writes == {first} or writes == {second}"),
    };
    let prelude = REFUSE_WRITES.replace("REFUSED", &condition);
    let Ok(mut commands) = serde_json::from_slice::<Vec<Vec<Value>>>(body) else {
        return body.clone();
    };
    for command in &mut commands {
        let name = command.first().and_then(Value::as_str);
        let by_text = match name {
            Some("EVAL") => true,
            Some("EVALSHA") => false,
            _ => continue,
        };
        let Some(script) = command.get_mut(1) else {
            continue;
        };
        *script = if by_text {
            let text = script.as_str().unwrap_or_default();
            // The flags of a script are its first line.
            let flags = text.starts_with("#!").then(|| text.find('\n')).flatten();
            let (flags, rest) = text.split_at(flags.map_or(0, |end| end + 1));
            format!("{flags}{prelude}{rest}").into()
        } else {
            "0".repeat(40).into()
        };
    }
    serde_json::to_vec(&commands).expect("JSON").into()
}

const SYNC_TOKEN: &str = "upstash-sync-token";

/// One request that the Worker sent to its store.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The path, such as `/pipeline`.
    pub path: String,
    /// The body as sent.
    pub body: Bytes,
    /// The headers.
    pub headers: HeaderMap,
    /// The header `Upstash-Sync-Token`.
    pub sync_token: Option<String>,
}

impl Recorded {
    /// Returns the commands of a `/pipeline` or `/multi-exec`, each an array of arguments.
    ///
    /// # Panics
    ///
    /// Panics when the body is not an array of arrays.
    pub fn commands(&self) -> Vec<Vec<Value>> {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{} with {:?}: {error}", self.path, self.body))
    }

    /// Returns whether one of the commands has this name, such as `EVALSHA`.
    ///
    /// # Panics
    ///
    /// Panics as [`commands`](Self::commands) does.
    pub fn runs(&self, name: &str) -> bool {
        self.commands().iter().any(|command| command[0] == name)
    }
}

/// Chooses the fault of each request.
type Plan = Box<dyn FnMut(&Recorded) -> Option<Fault> + Send>;

/// Holds requests until it is closed.
struct Gate(Semaphore);

impl Default for Gate {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

impl Gate {
    async fn wait(&self) {
        // It has no permits: the only result is that it was closed.
        let _ = self.0.acquire().await;
    }
}

#[derive(Default)]
struct State {
    requests: Vec<Recorded>,
    plan: Option<Plan>,
    /// Closed by the next [`Forwarder::heal`], which lets the requests that wait for it go on.
    gate: Arc<Gate>,
    /// Its reference count is the number of forwarded requests without a response, plus one.
    in_flight: Arc<()>,
}

/// A forwarder on its own thread of this process; ends on drop.
#[must_use]
pub struct Forwarder {
    port: u16,
    state: Arc<Mutex<State>>,
    /// Dropping it ends the thread.
    _stop: oneshot::Sender<Infallible>,
}

impl Forwarder {
    /// Starts a forwarder to the server at `target`.
    ///
    /// # Panics
    ///
    /// Panics when no port is free.
    pub fn to(target: &str) -> Self {
        Self::start(target, None)
    }

    /// Starts a forwarder to a gateway whose Redis has a replica. The `Upstash-Sync-Token` of each
    /// response names the writes that the server had which served it.
    ///
    /// # Panics
    ///
    /// Panics as [`to`](Self::to) does.
    pub fn with_replica(target: &str, replica: &Replica) -> Self {
        Self::start(target, Some(replica.route()))
    }

    fn start(target: &str, replica: Option<Route>) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let (target, shared) = (target.to_owned(), Arc::clone(&state));
        let (port, stop) =
            serve_on_thread(move |listener| serve(listener, (target, replica), shared));
        Self {
            port,
            state,
            _stop: stop,
        }
    }

    /// Returns `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns all requests since the start or the last [`reset`](Self::reset), failed ones
    /// included.
    pub fn requests(&self) -> Vec<Recorded> {
        self.state().requests.clone()
    }

    /// Returns the number of [`requests`](Self::requests).
    pub fn count(&self) -> usize {
        self.state().requests.len()
    }

    /// Returns the number of forwarded requests that have no response yet.
    pub fn under_way(&self) -> usize {
        Arc::strong_count(&self.state().in_flight) - 1
    }

    /// Clears the recorded requests.
    pub fn reset(&self) {
        self.state().requests.clear();
    }

    /// Injects the fault that `plan` returns for each request from now on.
    pub fn fail(&self, plan: impl FnMut(&Recorded) -> Option<Fault> + Send + 'static) {
        self.state().plan = Some(Box::new(plan));
    }

    /// Injects a fault into the next request only.
    pub fn fail_next(&self, fault: Fault) {
        let mut fault = Some(fault);
        self.fail(move |_| fault.take());
    }

    /// Injects a fault into the next request that runs a script, and only into that one.
    pub fn fail_next_script(&self, fault: Fault) {
        let mut fault = Some(fault);
        self.fail(move |request| request.runs("EVALSHA").then(|| fault.take()).flatten());
    }

    /// Injects a fault into the next request that runs this script, known by one of its digests, and only into that one:
    /// what others receive is given by scripts in the background.
    pub fn fail_script(&self, digests: [&'static str; 2], fault: Fault) {
        let mut fault = Some(fault);
        self.fail(move |request| {
            let commands = request.commands();
            let is_run = |command: &Vec<Value>| {
                command[0] == "EVALSHA" && digests.iter().any(|digest| command[1] == *digest)
            };
            commands.iter().any(is_run).then(|| fault.take()).flatten()
        });
    }

    /// Stops injecting faults, and lets the requests go on that [`Fault::Hold`] and its like hold.
    pub fn heal(&self) {
        let mut state = self.state();
        state.plan = None;
        std::mem::take(&mut state.gate).0.close();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Ignores poisoning: after a panic in a plan the test should report that panic, not this one.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

async fn serve(
    listener: TcpListener,
    (target, replica): (String, Option<Route>),
    state: Arc<Mutex<State>>,
) {
    let client = http_client();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let (client, state) = (client.clone(), Arc::clone(&state));
        let targets = (target.clone(), replica.clone());
        let service = service_fn(move |request| {
            respond(client.clone(), targets.clone(), Arc::clone(&state), request)
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service);
        // Errors are connections closed by an injected fault or by the Worker.
        tokio::spawn(async move { connection.await.ok() });
    }
}

async fn respond(
    client: reqwest::Client,
    (mut target, replica): (String, Option<Route>),
    state: Arc<Mutex<State>>,
    request: Request<Incoming>,
) -> Result<Response<FaultyBody>, Cut> {
    let (head, body) = request.into_parts();
    let mut body = body.collect().await.map_err(|_| Cut)?.to_bytes();
    let recorded = Recorded {
        path: head.uri.to_string(),
        body: body.clone(),
        headers: head.headers.clone(),
        sync_token: head.headers.get(SYNC_TOKEN).map(|token| {
            let token = token.to_str();
            token.expect("a token in ASCII").to_owned()
        }),
    };
    let (fault, gate, in_flight) = {
        let mut state = lock(&state);
        let fault = state.plan.as_mut().and_then(|plan| plan(&recorded));
        state.requests.push(recorded.clone());
        (fault, Arc::clone(&state.gate), Arc::clone(&state.in_flight))
    };
    let mut by_replica = false;
    match &fault {
        Some(Fault::ReadReplica) => {
            let route = replica.as_ref().ok_or(Cut)?;
            let commands = recorded.commands();
            let names = commands.iter().map(|command| command[0].as_str());
            let names = names.map(Option::unwrap_or_default);
            let token = recorded.sync_token.as_deref().unwrap_or_default();
            by_replica = route.accepts(names, token).await;
            if by_replica {
                target.clone_from(&route.url);
            }
        }
        Some(Fault::CutBefore) => return Err(Cut),
        Some(Fault::Delay(time)) => tokio::time::sleep(*time).await,
        Some(Fault::Hold) => gate.wait().await,
        Some(Fault::HoldThenCut) => {
            gate.wait().await;
            return Err(Cut);
        }
        Some(Fault::HangBefore) => return std::future::pending().await,
        Some(Fault::Respond(status, text)) => {
            let body = FaultyBody::complete(text.clone().into());
            return Response::builder()
                .status(*status)
                .body(body)
                .map_err(|_| Cut);
        }
        Some(Fault::Redirect(url)) => {
            let response = Response::builder().status(307).header(LOCATION, url);
            let body = FaultyBody::complete(Bytes::new());
            return response.body(body).map_err(|_| Cut);
        }
        Some(Fault::RefuseWrites(refusal)) => body = refuse_writes(&body, *refusal),
        Some(Fault::HangAfterFirst) => {
            let mut commands = recorded.commands();
            commands.truncate(1);
            body = serde_json::to_vec(&commands).expect("JSON").into();
        }
        Some(
            Fault::CutAfter
            | Fault::HoldResponse
            | Fault::HangAfter
            | Fault::PartialResponse
            | Fault::HangInResponse,
        )
        | None => {}
    }
    let (mut response, body) = forward(client, &target, head, body).await?;
    if let Some(route) = &replica {
        let token = route.token(by_replica).await.ok_or(Cut)?;
        let headers = response.headers_mut().ok_or(Cut)?;
        headers.insert(SYNC_TOKEN, token.parse().map_err(|_| Cut)?);
    }
    drop(in_flight);
    let body = match fault {
        Some(Fault::CutAfter) => return Err(Cut),
        Some(Fault::HoldResponse) => {
            gate.wait().await;
            FaultyBody::complete(body)
        }
        Some(Fault::HangAfter | Fault::HangAfterFirst) => return std::future::pending().await,
        Some(Fault::PartialResponse) => FaultyBody::half(&body, End::Cut),
        Some(Fault::HangInResponse) => FaultyBody::half(&body, End::Hang),
        Some(
            Fault::CutBefore
            | Fault::Delay(_)
            | Fault::Hold
            | Fault::HoldThenCut
            | Fault::HangBefore
            | Fault::Respond(..)
            | Fault::Redirect(_)
            | Fault::RefuseWrites(_)
            | Fault::ReadReplica,
        )
        | None => FaultyBody::complete(body),
    };
    response.body(body).map_err(|_| Cut)
}

/// Forwards a request and returns the head and the body of the complete response.
///
/// # Errors
///
/// Returns [`Cut`] without a response: a gateway that is down must look so to the Worker too.
pub(crate) async fn forward(
    client: reqwest::Client,
    target: &str,
    mut head: Parts,
    body: Bytes,
) -> Result<(Builder, Bytes), Cut> {
    // The client sets both itself.
    head.headers.remove(HOST);
    head.headers.remove(CONTENT_LENGTH);
    let request = client
        .request(head.method, format!("{target}{}", head.uri))
        .headers(head.headers)
        .body(body);
    let received = request.send().await.map_err(|_| Cut)?;
    let mut response = Response::builder().status(received.status());
    for (name, value) in received.headers() {
        response = response.header(name, value);
    }
    let body = received.bytes().await.map_err(|_| Cut)?;
    Ok((response, body))
}

/// An error that makes hyper close the connection immediately.
#[derive(Debug)]
pub(crate) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("injected fault: the connection is closed")
    }
}

impl std::error::Error for Cut {}

/// A response body that can end in an injected fault.
struct FaultyBody {
    bytes: Option<Bytes>,
    end: End,
}

#[derive(Clone, Copy)]
enum End {
    Regular,
    Cut,
    Hang,
}

impl FaultyBody {
    fn complete(bytes: Bytes) -> Self {
        Self {
            bytes: Some(bytes),
            end: End::Regular,
        }
    }

    fn half(bytes: &Bytes, end: End) -> Self {
        Self {
            bytes: Some(bytes.slice(..bytes.len() / 2)),
            end,
        }
    }
}

impl Body for FaultyBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match (self.bytes.take(), self.end) {
            (Some(bytes), _) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            (None, End::Regular) => Poll::Ready(None),
            (None, End::Cut) => Poll::Ready(Some(Err(Cut))),
            // No waker is stored: the body hangs until the client gives up.
            (None, End::Hang) => Poll::Pending,
        }
    }
}
