//! The server: binds the listening socket, limits and serves connections, and shuts down gracefully.

mod activity;
mod admission;
mod connection;
mod open_files;

use std::{
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    signal::unix::{SignalKind, signal},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};

pub use self::open_files::raise_open_file_limit;
use self::{activity::Timeouts, admission::Admission};

use crate::log;
use crate::{
    auth::Auth,
    backend::{Backend, ReplyLimits},
    config::Config,
    events::Events,
    http::Gateway,
    memory::SharedLimit,
    policy::Policy,
    runner::Runner,
    script::Aliases,
    sync_token::SyncToken,
};

/// Maximum number of script aliases, at about 200 bytes each.
const MAX_ALIASES: usize = 10_000;
/// Time that requests in flight get at shutdown, in addition to their timeout.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);
/// Maximum number of connections over the limit that get a response. Others are closed at once.
const MAX_REFUSALS: usize = 64;
/// Pause after the operating system could not accept a connection, such as without free file
/// descriptors. Without it the gateway would use a whole core for further attempts.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A gateway that is bound to its address.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    gateway: Arc<Gateway>,
    admission: Arc<Admission>,
    refusals: Arc<Semaphore>,
    timeouts: Timeouts,
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
        let policy = Arc::new(Policy::new(
            &config.allow_commands,
            config.readonly_scripts,
        )?);
        let unusable =
            |error: io::Error| format!("LISTEN={} cannot be used: {error}", config.listen);
        let listener = TcpListener::bind(&config.listen).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let backend = Backend::open(&config.redis_url, config.node_options(&policy)).await?;
        let (stopping, stopping_receiver) = watch::channel(false);
        let gateway = Gateway {
            auth: Auth::new(&config.token, &config.readonly_token, config.query_token),
            runner: Runner {
                backend,
                policy,
                aliases: Aliases::new(MAX_ALIASES),
                sync_token: SyncToken::new(),
                max_bytes: config.max_command_bytes,
            },
            events: Events::new(config.max_streams, stopping_receiver),
            reply_limits: ReplyLimits::new(
                config.max_command_bytes,
                config.max_reply_bytes,
                config.max_total_reply_bytes,
            ),
            max_body_bytes: config.max_body_bytes,
            bodies: SharedLimit::new(config.max_total_body_bytes),
            max_commands: config.max_commands,
            body_timeout: config.timeout(),
        };
        Ok(Self {
            listener,
            address,
            gateway: Arc::new(gateway),
            admission: Arc::new(admission(&config)),
            refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
            timeouts: Timeouts {
                head: Duration::from_millis(config.head_timeout_ms),
                idle: Duration::from_millis(config.idle_timeout_ms),
            },
            stopping,
        })
    }

    /// Returns the address of the listening socket. The port is the actual one, also for `LISTEN` port 0.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves requests until `stop` completes, then waits for the requests in flight.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) {
        let mut connections = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, peer)) => self.open(stream, peer.ip(), &mut connections),
                    // The client closed the connection before it was accepted.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(error) => {
                        log::line(&format!("a connection could not be accepted: {error}"));
                        sleep(ACCEPT_PAUSE).await;
                    }
                },
                // Frees the memory of ended connections.
                Some(_ended) = connections.join_next() => {}
                () = &mut stop => break,
            }
        }
        drop(self.listener);
        self.stopping.send_replace(true);
        let ended = async { while connections.join_next().await.is_some() {} };
        // An error means that a request is overdue. It ends with this process.
        let _ = timeout(self.gateway.body_timeout + SHUTDOWN_GRACE, ended).await;
    }

    /// Starts to serve a connection, or refuses it if a limit is reached.
    fn open(&self, stream: TcpStream, address: IpAddr, connections: &mut JoinSet<()>) {
        // Nagle's algorithm would delay a small response until the previous one is acknowledged.
        let _ = stream.set_nodelay(true);
        let gateway = Arc::clone(&self.gateway);
        match self.admission.try_acquire(address) {
            Ok(permit) => {
                let serving =
                    connection::serve(stream, gateway, self.timeouts, self.stopping.subscribe());
                connections.spawn(async move {
                    serving.await;
                    drop(permit);
                });
            }
            Err(error) => {
                // Without a permit, dropping the stream closes the connection.
                if let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() {
                    connections.spawn(async move {
                        connection::refuse(stream, gateway, error).await;
                        drop(permit);
                    });
                }
            }
        }
    }
}

/// Returns the limits of connections, and logs them.
fn admission(config: &Config) -> Admission {
    let configured = config.max_connections;
    let limit = open_files::max_connections(config).map_or(configured, |max| configured.min(max));
    let per_address = match config.max_connections_per_address {
        // One address leaves room for others.
        None => Some(limit.div_ceil(2)),
        Some(0) => None,
        Some(per_address) => Some(per_address.min(limit)),
    };
    let reason = if limit < configured {
        format!("; the limit of open files does not allow MAX_CONNECTIONS={configured}")
    } else {
        String::new()
    };
    let from_one = per_address.unwrap_or(limit);
    log::line(&format!(
        "at most {limit} connections, {from_one} from one address{reason}"
    ));
    Admission::new(limit, per_address)
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
