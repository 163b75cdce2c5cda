//! An HTTP forwarder between Worker and gateway that counts, and fails on demand.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::{Request, Response, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::fault::Fault;
use crate::recorded::Recorded;

/// Decides about each request whether it fails.
type Plan = Box<dyn FnMut(&Recorded) -> Option<Fault> + Send>;

#[derive(Default)]
struct State {
    requests: Vec<Recorded>,
    plan: Option<Plan>,
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
    let client = reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client");
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

/// Makes hyper close the connection where it is.
#[derive(Debug)]
struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the connection is cut on purpose")
    }
}

impl std::error::Error for Cut {}

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
    let fault = {
        let mut state = lock(&state);
        let fault = state.plan.as_mut().and_then(|plan| plan(&recorded));
        state.requests.push(recorded);
        fault
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
        Some(Fault::CutAfter | Fault::HangAfter | Fault::HalfAnswer | Fault::HangInAnswer)
        | None => {}
    }
    let mut headers = head.headers;
    // The client sets both itself.
    headers.remove(hyper::header::HOST);
    headers.remove(hyper::header::CONTENT_LENGTH);
    let forwarded = client
        .request(head.method, format!("{target}{}", head.uri))
        .headers(headers)
        .body(body);
    // A gateway that is down is down for the Worker too.
    let received = forwarded.send().await.map_err(|_| Cut)?;
    let mut response = Response::builder().status(received.status());
    for (name, value) in received.headers() {
        response = response.header(name, value);
    }
    let body = received.bytes().await.map_err(|_| Cut)?;
    let part = match fault {
        Some(Fault::CutAfter) => return Err(Cut),
        Some(Fault::HangAfter) => return std::future::pending().await,
        Some(Fault::HalfAnswer) => Part::half(&body, End::Cut),
        Some(Fault::HangInAnswer) => Part::half(&body, End::Hang),
        Some(Fault::CutBefore | Fault::HangBefore | Fault::Answer(..)) | None => Part::whole(body),
    };
    response.body(part).map_err(|_| Cut)
}

/// The body of an answer, whole or not.
struct Part {
    bytes: Option<Bytes>,
    end: End,
}

/// What follows the bytes.
#[derive(Clone, Copy)]
enum End {
    Regular,
    Cut,
    Hang,
}

impl Part {
    fn whole(bytes: Bytes) -> Self {
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

impl Body for Part {
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
            // Nobody wakes it: it hangs until the other side gives up.
            (None, End::Hang) => Poll::Pending,
        }
    }
}
