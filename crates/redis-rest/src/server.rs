//! The server: binds the listening socket, serves connections and shuts down gracefully.

use std::{future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, serve::ListenerExt};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::watch,
};

use crate::{
    auth::Auth,
    backend::Backend,
    config::Config,
    events::Events,
    http::{self, Gateway},
    runner::Runner,
    script::Aliases,
    sync_token::SyncToken,
};

/// Maximum number of script aliases, at about 200 bytes each.
const MAX_ALIASES: usize = 10_000;
/// Time that requests in flight get at shutdown, in addition to their timeout.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// A gateway that is bound to its address.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    gateway: Arc<Gateway>,
    stopping: watch::Sender<bool>,
}

impl Server {
    /// Binds the listening socket and starts to connect to Redis, which may still be unreachable.
    ///
    /// # Errors
    ///
    /// Returns a message that names the invalid variable.
    pub async fn bind(config: Config) -> Result<Self, String> {
        // For MONITOR over TLS, the client library uses the default provider of the process and
        // panics without one. An error means that the process already has a default.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let unusable =
            |error: io::Error| format!("LISTEN={} cannot be used: {error}", config.listen);
        let listener = TcpListener::bind(&config.listen).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let backend = Backend::open(&config.redis_url, config.node_options()).await?;
        let (stopping, stopping_receiver) = watch::channel(false);
        let gateway = Gateway {
            auth: Auth::new(&config.token, &config.readonly_token, config.query_token),
            runner: Runner {
                backend,
                aliases: Aliases::new(MAX_ALIASES),
                sync_token: SyncToken::new(),
                max_bytes: config.max_command_bytes,
            },
            events: Events::new(config.max_streams, stopping_receiver),
            max_body_bytes: config.max_body_bytes,
            max_commands: config.max_commands,
            body_timeout: config.timeout(),
        };
        Ok(Self {
            listener,
            address,
            gateway: Arc::new(gateway),
            stopping,
        })
    }

    /// Returns the address of the listening socket. The port is the actual one, also for `LISTEN` port 0.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves requests until `stop` completes, then waits for the requests in flight.
    ///
    /// # Errors
    ///
    /// Returns the errors of the listening socket.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let timeout = self.gateway.body_timeout;
        let stopping = self.stopping;
        let mut stopped = stopping.subscribe();
        let stop = async move {
            stop.await;
            stopping.send_replace(true);
        };
        let router = Router::new()
            .fallback(http::handle)
            .with_state(self.gateway);
        let listener = self.listener.tap_io(|connection| {
            // Nagle's algorithm would delay a small response until the previous one is acknowledged.
            let _ = connection.set_nodelay(true);
        });
        let serving = axum::serve(listener, router).with_graceful_shutdown(stop);
        let overdue = async move {
            // An error means that the server ended without a stop signal, so nothing is overdue.
            if stopped.wait_for(|stopping| *stopping).await.is_err() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(timeout + SHUTDOWN_GRACE).await;
        };
        tokio::select! {
            result = serving => result,
            () = overdue => Ok(()),
        }
    }
}

/// Returns a future that completes at SIGTERM or SIGINT. Both are caught once this returns.
///
/// # Errors
///
/// Fails if the signal handlers cannot be registered.
pub fn stop_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
