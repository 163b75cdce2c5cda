//! An HTTP forwarder between Worker and gateway that counts, and fails on demand.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, HOST, LOCATION};
use hyper::http::request::Parts;
use hyper::http::response::Builder;
use hyper::{Request, Response, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::client::client;
use crate::fault::Fault;
use crate::part::{Cut, End, Part};
use crate::recorded::Recorded;

/// Decides about each request whether it fails.
type Plan = Box<dyn FnMut(&Recorded) -> Option<Fault> + Send>;

#[derive(Default)]
struct State {
    requests: Vec<Recorded>,
    plan: Option<Plan>,
    /// One for each request that was handed on and is not answered yet, and one more.
    under_way: Arc<()>,
}

/// A forwarder in this process, on a thread of its own; ends on drop.
pub struct Forwarder {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    /// Dropping it ends the thread.
    _stop: oneshot::Sender<Infallible>,
}

impl Forwarder {
    /// Starts one that hands everything on to the server at `target`.
    ///
    /// # Panics
    ///
    /// When no port is free.
    #[must_use]
    pub fn to(target: &str) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let (stop, stopped) = oneshot::channel();
        let (sender, address) = std::sync::mpsc::channel();
        let (target, shared) = (target.to_owned(), Arc::clone(&state));
        // Not a task of the test's runtime: that one stands still while the test itself computes
        // or waits for a process.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
                let listener = listener.expect("a free port");
                let _ = sender.send(listener.local_addr().expect("an address"));
                tokio::select! {
                    () = serve(listener, target, shared) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address: address.recv().expect("the forwarder's thread started"),
            state,
            _stop: stop,
        }
    }

    /// `http://127.0.0.1:<port>`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request since the start or the last [`reset`](Self::reset), failed ones included.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.state().requests.clone()
    }

    /// How many [`requests`](Self::requests) there were.
    #[must_use]
    pub fn count(&self) -> usize {
        self.state().requests.len()
    }

    /// How many requests were handed on and are not answered yet.
    #[must_use]
    pub fn under_way(&self) -> usize {
        Arc::strong_count(&self.state().under_way) - 1
    }

    /// Forgets the requests so far.
    pub fn reset(&self) {
        self.state().requests.clear();
    }

    /// From now on each request fails for which `plan` says so.
    pub fn fail(&self, plan: impl FnMut(&Recorded) -> Option<Fault> + Send + 'static) {
        self.state().plan = Some(Box::new(plan));
    }

    /// The next request fails, those after it don't.
    pub fn fail_next(&self, fault: Fault) {
        let mut fault = Some(fault);
        self.fail(move |_| fault.take());
    }

    /// The next request that runs a script fails, those before and after it don't.
    pub fn fail_next_script(&self, fault: Fault) {
        let mut fault = Some(fault);
        self.fail(move |request| {
            let commands = request.commands();
            let runs = commands.iter().any(|command| command[0] == "EVALSHA");
            runs.then(|| fault.take()).flatten()
        });
    }

    /// Nothing fails any more.
    pub fn heal(&self) {
        self.state().plan = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// A plan that panicked poisons the lock; the test should see its own failure, not this one.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

async fn serve(listener: TcpListener, target: String, state: Arc<Mutex<State>>) {
    let client = client();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let (client, target, state) = (client.clone(), target.clone(), Arc::clone(&state));
        let service = service_fn(move |request| {
            answer(client.clone(), target.clone(), Arc::clone(&state), request)
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service);
        // An error here is a connection that was cut, here on purpose or by the Worker.
        tokio::spawn(async move { connection.await.ok() });
    }
}

async fn answer(
    client: reqwest::Client,
    target: String,
    state: Arc<Mutex<State>>,
    request: Request<Incoming>,
) -> Result<Response<Part>, Cut> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Cut)?.to_bytes();
    let recorded = Recorded {
        path: head.uri.to_string(),
        body: body.clone(),
    };
    let (fault, under_way) = {
        let mut state = lock(&state);
        let fault = state.plan.as_mut().and_then(|plan| plan(&recorded));
        state.requests.push(recorded);
        (fault, Arc::clone(&state.under_way))
    };
    match &fault {
        Some(Fault::CutBefore) => return Err(Cut),
        Some(Fault::HangBefore) => return std::future::pending().await,
        Some(Fault::Answer(status, text)) => {
            let response = Response::builder().status(*status);
            return response
                .body(Part::whole(text.clone().into()))
                .map_err(|_| Cut);
        }
        Some(Fault::Redirect(url)) => {
            let response = Response::builder().status(307).header(LOCATION, url);
            return response.body(Part::whole(Bytes::new())).map_err(|_| Cut);
        }
        Some(Fault::CutAfter | Fault::HangAfter | Fault::HalfAnswer | Fault::HangInAnswer)
        | None => {}
    }
    let (response, body) = forward(client, &target, head, body).await?;
    drop(under_way);
    let part = match fault {
        Some(Fault::CutAfter) => return Err(Cut),
        Some(Fault::HangAfter) => return std::future::pending().await,
        Some(Fault::HalfAnswer) => Part::half(&body, End::Cut),
        Some(Fault::HangInAnswer) => Part::half(&body, End::Hang),
        Some(Fault::CutBefore | Fault::HangBefore | Fault::Answer(..) | Fault::Redirect(_))
        | None => Part::whole(body),
    };
    response.body(part).map_err(|_| Cut)
}

/// Hands a request on, and returns the whole answer: its head, then its body.
///
/// # Errors
///
/// When the target gives none: a gateway that is down is down for the Worker too.
async fn forward(
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
    let answer = request.send().await.map_err(|_| Cut)?;
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    let body = answer.bytes().await.map_err(|_| Cut)?;
    Ok((response, body))
}
