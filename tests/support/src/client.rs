//! The HTTP client of the harness.

/// A client that reaches this machine only, past any proxy.
///
/// No test needs TLS, but cargo builds reqwest once for all that is built together: next to the
/// command line it has TLS, and then refuses to make a client without a crypto provider.
pub(crate) fn client() -> reqwest::Client {
    // Refused when there is one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build();
    client.expect("a client without settings of its own always builds")
}
