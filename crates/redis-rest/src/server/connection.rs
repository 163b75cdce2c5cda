//! Serves one client connection.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use axum::{body::Body, extract::Request};
use futures_util::FutureExt;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    sync::watch,
    time::{sleep_until, timeout},
};

use super::activity::{Activity, ObservedStream, Timeouts};
use crate::{
    error::GatewayError,
    http::{self, Gateway},
};

/// Maximum size of a request head: a URL, which the HTTP library limits to 64 KiB, and its headers.
/// Without a token, a client cannot make the gateway store more than this.
const MAX_HEAD_BYTES: usize = 96 * 1024;
/// Time in which a client over the limit of connections has to send its request.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves the requests of a connection until the client closes it, a timeout elapses, or the gateway
/// stops.
pub(super) async fn serve(
    stream: TcpStream,
    gateway: Arc<Gateway>,
    timeouts: Timeouts,
    mut stopping: watch::Receiver<bool>,
) {
    let activity = Activity::new(timeouts);
    let service = service_fn(|request: Request<hyper::body::Incoming>| {
        let busy = activity.begin_request();
        let gateway = Arc::clone(&gateway);
        async move {
            let response = http::handle(gateway, request.map(Body::new)).await;
            Ok::<_, Infallible>(response.map(|body| busy.wrap(body)))
        }
    });
    let stream = ObservedStream {
        stream,
        activity: activity.clone(),
    };
    let mut connection = pin!(builder().serve_connection(TokioIo::new(stream), service));
    // An error means that the server has ended, which also stops the connection.
    let mut stopped = pin!(stopping.wait_for(|stopping| *stopping).map(|_| ()).fuse());
    let mut timer = pin!(sleep_until(tokio::time::Instant::now()));
    poll_fn(|cx| {
        if stopped.as_mut().poll(cx).is_ready() {
            if !activity.is_busy() {
                return Poll::Ready(());
            }
            connection.as_mut().graceful_shutdown();
        }
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let Some(deadline) = activity.deadline() else {
            return Poll::Pending;
        };
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx)
    })
    .await;
}

/// Answers the request of a connection over the limit with `error` and closes the connection.
///
/// The request is read first: a client that is still sending would see a broken connection instead of
/// the response.
pub(super) async fn refuse(stream: TcpStream, gateway: Arc<Gateway>, error: GatewayError) {
    let service = service_fn(|request: Request<hyper::body::Incoming>| {
        let (gateway, error) = (Arc::clone(&gateway), error.clone());
        async move { Ok::<_, Infallible>(http::refuse(&gateway, request.map(Body::new), &error).await) }
    });
    let connection = builder()
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // An error means that the client has closed the connection or took too long.
    let _ = timeout(REFUSAL_TIMEOUT, connection).await;
}

fn builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    // The library's own timeout for heads would include the time between requests.
    builder.header_read_timeout(None);
    builder.max_header_size(MAX_HEAD_BYTES);
    builder
}
