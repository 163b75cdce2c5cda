//! Listens, hands every request to `http`, stops gracefully.

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
    run::Runner,
    script::Aliases,
    sync::SyncToken,
};

/// Scripts a client knows under another name; about 200 bytes each.
const ALIASES: usize = 10_000;
/// What requests in flight get beyond their own deadline before they are cut.
const GRACE: Duration = Duration::from_secs(1);

/// A gateway that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    gateway: Arc<Gateway>,
    stopping: watch::Sender<bool>,
}

impl Server {
    /// Begins to listen and to connect to Redis, which need not be there yet.
    ///
    /// # Errors
    ///
    /// A sentence that names the variable which cannot be used.
    pub async fn bind(config: Config) -> Result<Self, String> {
        // The client library takes the default of the process for a MONITOR over TLS, and panics
        // without one. An error means that the process has chosen already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let unusable =
            |problem: io::Error| format!("LISTEN={} cannot be used: {problem}", config.listen);
        let listener = TcpListener::bind(&config.listen).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let patience = config.timeout();
        let backend = Backend::open(&config.redis_url, config.manner()).await?;
        let (stopping, stopped) = watch::channel(false);
        let gateway = Gateway {
            auth: Auth::new(&config.token, &config.readonly_token, config.query_token),
            runner: Runner {
                backend,
                aliases: Aliases::new(ALIASES),
                sync: SyncToken::new(),
                max_bytes: config.max_command_bytes,
            },
            events: Events::new(config.max_streams, stopped),
            max_body_bytes: config.max_body_bytes,
            max_commands: config.max_commands,
            patience,
        };
        Ok(Self {
            listener,
            address,
            gateway: Arc::new(gateway),
            stopping,
        })
    }

    /// The address it listens on, with the real port where 0 was asked for.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop`, then finishes what is in flight.
    ///
    /// # Errors
    ///
    /// Those of the listening socket.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let patience = self.gateway.patience;
        let stopping = self.stopping;
        let mut stopped = stopping.subscribe();
        let stop = async move {
            stop.await;
            stopping.send_replace(true);
        };
        let router = Router::new()
            .fallback(http::answer)
            .with_state(self.gateway);
        let listener = self.listener.tap_io(|connection| {
            // A small answer must not wait for the acknowledgement of the one before.
            let _ = connection.set_nodelay(true);
        });
        let serving = axum::serve(listener, router).with_graceful_shutdown(stop);
        let overdue = async move {
            // An error means that it never came to stopping: then nothing is overdue.
            if stopped.wait_for(|stopping| *stopping).await.is_err() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(patience + GRACE).await;
        };
        tokio::select! {
            ended = serving => ended,
            () = overdue => Ok(()),
        }
    }
}

/// Completes at SIGTERM or SIGINT; both are caught from the moment this returns.
///
/// # Errors
///
/// When the system does not let signals be caught.
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
