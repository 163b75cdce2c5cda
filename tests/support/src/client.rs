//! The HTTP client of the harness.

use std::time::Duration;

/// How long a connection is kept for the next request: not as long as by workerd, which closes one
/// after 15 seconds. A test that reads Redis meanwhile sees no connection close.
const IDLE: Duration = Duration::from_secs(10);

/// A client that reaches this machine only, past any proxy.
///
/// No test needs TLS, but cargo builds reqwest once for all that is built together: next to the
/// command line it has TLS, and then refuses to make a client without a crypto provider.
pub(crate) fn client() -> reqwest::Client {
    // Refused when there is one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy();
    let client = client.pool_idle_timeout(IDLE).build();
    client.expect("a client with no more settings than these always builds")
}
