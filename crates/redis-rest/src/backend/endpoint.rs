//! Parses `REDIS_URL`.

use redis::{ConnectionInfo, IntoConnectionInfo, ProtocolVersion};

/// The address of one Redis server or of a cluster.
#[derive(Debug)]
pub(super) enum Endpoint {
    Single(Box<ConnectionInfo>),
    /// The seed nodes of a cluster. They list the other nodes.
    Cluster(Vec<ConnectionInfo>),
}

/// Parses a URL, or returns a message that never contains the URL, because it may hold a password.
pub(super) fn parse(url: &str) -> Result<Endpoint, String> {
    for (prefix, scheme) in [
        ("redis+cluster://", "redis"),
        ("rediss+cluster://", "rediss"),
    ] {
        if let Some(rest) = url.strip_prefix(prefix) {
            return cluster(scheme, rest).map(Endpoint::Cluster);
        }
    }
    single(url).map(|info| Endpoint::Single(Box::new(info)))
}

/// Parses `[user:password@]host:port,host:port`. All nodes share the credentials.
fn cluster(scheme: &str, rest: &str) -> Result<Vec<ConnectionInfo>, String> {
    let (credentials, hosts) = match rest.rsplit_once('@') {
        Some((credentials, hosts)) => (format!("{credentials}@"), hosts),
        None => (String::new(), rest),
    };
    if hosts.contains(['/', '?', '#']) {
        return Err(
            "REDIS_URL cannot be used: the URL of a cluster takes no database and no options, \
             only host:port,host:port"
                .to_owned(),
        );
    }
    hosts
        .split(',')
        .map(|host| single(&format!("{scheme}://{credentials}{host}")))
        .collect()
}

/// Parses the URL of one server and selects RESP2.
fn single(url: &str) -> Result<ConnectionInfo, String> {
    let info = url
        .into_connection_info()
        .map_err(|error| format!("REDIS_URL cannot be used: {error}"))?;
    let settings = info
        .redis_settings()
        .clone()
        .set_protocol(ProtocolVersion::RESP2);
    Ok(info.set_redis_settings(settings))
}

#[cfg(test)]
mod tests {
    use super::{Endpoint, parse};

    /// The address, user name and password of a node.
    type Seed = (String, Option<String>, Option<String>);

    fn cluster(url: &str) -> Result<Vec<Seed>, String> {
        match parse(url)? {
            Endpoint::Single(info) => Err(format!("single: {}", info.addr())),
            Endpoint::Cluster(seeds) => Ok(seeds
                .iter()
                .map(|seed| {
                    let settings = seed.redis_settings();
                    (
                        seed.addr().to_string(),
                        settings.username().map(str::to_owned),
                        settings.password().map(str::to_owned),
                    )
                })
                .collect()),
        }
    }

    #[test]
    fn cluster_nodes_share_credentials() {
        let me = || Some("me".to_owned());
        let secret = || Some("se,c@ret".to_owned());
        assert_eq!(
            cluster("redis+cluster://a:1,b:2"),
            Ok(vec![
                ("a:1".to_owned(), None, None),
                ("b:2".to_owned(), None, None)
            ])
        );
        assert_eq!(
            cluster("rediss+cluster://me:se%2Cc%40ret@a:1,[::1]:2"),
            Ok(vec![
                ("a:1".to_owned(), me(), secret()),
                ("::1:2".to_owned(), me(), secret())
            ])
        );
        assert_eq!(cluster("redis://a:1"), Err("single: a:1".to_owned()));
    }

    #[test]
    fn cluster_url_with_database_is_rejected() {
        for url in ["redis+cluster://a:1/1", "redis+cluster://a:1?protocol=3"] {
            assert_eq!(
                cluster(url),
                Err("REDIS_URL cannot be used: the URL of a cluster takes no database and no options, only host:port,host:port".to_owned())
            );
        }
        assert!(cluster("redis+cluster://").is_err());
        assert!(cluster("redis+cluster://a:1,,b:2").is_err());
    }
}
