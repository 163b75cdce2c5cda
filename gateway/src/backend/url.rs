//! `REDIS_URL` → where to connect to.

use redis::{ConnectionInfo, IntoConnectionInfo, ProtocolVersion};

/// What is behind the gateway.
#[derive(Debug)]
pub(super) enum Place {
    One(Box<ConnectionInfo>),
    /// Some nodes of a cluster; they know the others.
    Cluster(Vec<ConnectionInfo>),
}

/// A message never holds the URL itself: there may be a password in it.
pub(super) fn parse(url: &str) -> Result<Place, String> {
    for (prefix, scheme) in [
        ("redis+cluster://", "redis"),
        ("rediss+cluster://", "rediss"),
    ] {
        if let Some(rest) = url.strip_prefix(prefix) {
            return cluster(scheme, rest).map(Place::Cluster);
        }
    }
    one(url).map(|info| Place::One(Box::new(info)))
}

/// `[user:password@]host:port,host:port`: all nodes have the same user.
fn cluster(scheme: &str, rest: &str) -> Result<Vec<ConnectionInfo>, String> {
    let (user, hosts) = match rest.rsplit_once('@') {
        Some((user, hosts)) => (format!("{user}@"), hosts),
        None => (String::new(), rest),
    };
    if hosts.contains(['/', '?', '#']) {
        return Err(
            "REDIS_URL cannot be used: a cluster has one database and no options; \
             only host:port,host:port may follow"
                .to_owned(),
        );
    }
    hosts
        .split(',')
        .map(|host| one(&format!("{scheme}://{user}{host}")))
        .collect()
}

fn one(url: &str) -> Result<ConnectionInfo, String> {
    let info = url
        .into_connection_info()
        .map_err(|problem| format!("REDIS_URL cannot be used: {problem}"))?;
    let settings = info
        .redis_settings()
        .clone()
        .set_protocol(ProtocolVersion::RESP2);
    Ok(info.set_redis_settings(settings))
}

#[cfg(test)]
mod tests {
    use super::{Place, parse};

    /// Address, user and password of a node.
    type Seed = (String, Option<String>, Option<String>);

    fn cluster(url: &str) -> Result<Vec<Seed>, String> {
        match parse(url)? {
            Place::One(info) => Err(format!("one: {}", info.addr())),
            Place::Cluster(seeds) => Ok(seeds
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
    fn the_nodes_of_a_cluster_share_a_user() {
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
        assert_eq!(cluster("redis://a:1"), Err("one: a:1".to_owned()));
    }

    #[test]
    fn a_cluster_has_no_numbered_databases() {
        for url in ["redis+cluster://a:1/1", "redis+cluster://a:1?protocol=3"] {
            assert_eq!(
                cluster(url),
                Err("REDIS_URL cannot be used: a cluster has one database and no options; only host:port,host:port may follow".to_owned())
            );
        }
        assert!(cluster("redis+cluster://").is_err());
        assert!(cluster("redis+cluster://a:1,,b:2").is_err());
    }
}
