//! Byte transports to Redis: TCP, TLS and Unix sockets.

use std::{io, sync::Arc};

use redis::ConnectionAddr;
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
};
use tokio_rustls::TlsConnector;

/// A bidirectional byte stream to Redis.
pub(super) trait Transport: AsyncRead + AsyncWrite + Unpin + Send + Sync {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + Sync> Transport for S {}

/// Connects to `address`.
pub(super) async fn open(address: &ConnectionAddr) -> io::Result<Box<dyn Transport>> {
    match address {
        ConnectionAddr::Tcp(host, port) => Ok(Box::new(tcp(host, *port).await?)),
        ConnectionAddr::TcpTls {
            host,
            port,
            insecure: false,
            ..
        } => {
            let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
            let connector = TlsConnector::from(Arc::new(tls_config()?));
            Ok(Box::new(
                connector.connect(name, tcp(host, *port).await?).await?,
            ))
        }
        ConnectionAddr::Unix(path) => Ok(Box::new(UnixStream::connect(path).await?)),
        _ => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "TLS without verification is not supported",
        )),
    }
}

async fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    // Each write is a complete request, so Nagle's algorithm would only delay it.
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Returns a TLS configuration that trusts the certificates of the system.
fn tls_config() -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reason = found
            .errors
            .first()
            .map_or_else(|| "none found".to_owned(), ToString::to_string);
        return Err(io::Error::other(format!(
            "no trusted certificates: {reason}"
        )));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
