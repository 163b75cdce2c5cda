//! `ALLOWED_ORIGINS`: the origins of the pages and apps that may call the API.

use super::Vars;
use crate::error::Error;
use serde::Serialize;

const NAME: &str = "ALLOWED_ORIGINS";

/// The hosts of which every port may be allowed: a development server chooses its port.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Origins as browsers send them: `https://example.com`, `http://localhost:8080`, and `capacitor://localhost` of a hybrid
/// app. `http://localhost:*` is every port of a loopback host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Origins(Vec<String>);

impl Origins {
    /// Parses the variable.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if an entry is not an origin, because it could never match.
    pub fn parse(vars: &Vars) -> Result<Self, Error> {
        let words = vars.words(NAME)?.unwrap_or_default();
        let origin = |word: &String| {
            normal_form(word).ok_or_else(|| {
                let remedy = format!(
                    "'{word}' is not an origin such as https://example.com, \
                     http://localhost:8080 or capacitor://localhost: scheme, host and port alone, no / at the end, and no * \
                     but for the port of localhost, 127.0.0.1 or [::1]"
                );
                Error::Misconfigured(NAME, remedy)
            })
        };
        words.iter().map(origin).collect::<Result<_, _>>().map(Self)
    }

    /// Returns whether no origin is allowed: only pages of the deployment may call the API.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether an origin is allowed.
    #[must_use]
    pub fn allow(&self, origin: &str) -> bool {
        self.0
            .iter()
            .any(|allowed| match allowed.strip_suffix(":*") {
                Some(host) => origin.strip_prefix(host).is_some_and(is_port),
                None => allowed == origin,
            })
    }
}

/// Returns an origin as browsers send it: in lower case, without the default port.
pub(super) fn normal_form(origin: &str) -> Option<String> {
    let origin = origin.to_ascii_lowercase();
    let (scheme, authority) = origin.split_once("://")?;
    // Apps and extensions choose a scheme of their own, which has no default port.
    let default_port = match scheme {
        "https" => Some(443),
        "http" => Some(80),
        scheme if is_scheme(scheme) => None,
        _ => return None,
    };
    // An IPv6 address has colons inside its brackets.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        Some(_) | None => (authority, None),
    };
    if !is_host(host) {
        return None;
    }
    let port = match port {
        Some("*") if LOOPBACK_HOSTS.contains(&host) => return Some(origin),
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            Some(digits.parse::<u16>().ok()?)
        }
        Some(_) => return None,
        None => None,
    };
    Some(match port.filter(|_| port != default_port) {
        None => format!("{scheme}://{host}"),
        Some(port) => format!("{scheme}://{host}:{port}"),
    })
}

/// Returns whether a text in lower case is the scheme of a URL.
fn is_scheme(text: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_alphanumeric() || b"+-.".contains(&c);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(allowed)
}

/// Returns whether the end of an origin is a port, or nothing: the default port.
fn is_port(end: &str) -> bool {
    end.strip_prefix(':').map_or(end.is_empty(), |digits| {
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// Returns whether a text is an ASCII host name, an IPv4 address, or an IPv6 address in brackets.
///
/// Browsers send internationalized host names as `xn--…`.
fn is_host(host: &str) -> bool {
    let address = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match address {
        Some(address) => address
            .bytes()
            .all(|c| c.is_ascii_hexdigit() || b":.".contains(&c)),
        None => {
            let allowed = |c: u8| c.is_ascii_alphanumeric() || b"-_.".contains(&c);
            !host.is_empty() && host.bytes().all(allowed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LOOPBACK_HOSTS, NAME, Origins, Vars};
    use crate::error::Error;
    use serde_json::{Value, json};

    fn parse(value: Value) -> Result<Origins, Error> {
        let vars = json!({ NAME: value });
        Origins::parse(&Vars::new(vars.as_object().unwrap().clone()))
    }

    #[test]
    fn unset_variable_allows_no_origin() {
        for value in [json!(null), json!(""), json!(" , "), json!([])] {
            let origins = parse(value).unwrap();
            assert!(origins.is_empty());
            assert!(!origins.allow("https://example.com") && !origins.allow(""));
        }
    }

    #[test]
    fn origins_are_normalized_as_browsers_send_them() {
        let cases = [
            ("https://example.com", "https://example.com"),
            ("HTTPS://Example.COM", "https://example.com"),
            ("https://example.com:443", "https://example.com"),
            ("http://example.com:80", "http://example.com"),
            ("http://example.com:443", "http://example.com:443"),
            ("https://example.com:0444", "https://example.com:444"),
            ("http://localhost:8080", "http://localhost:8080"),
            ("http://127.0.0.1", "http://127.0.0.1"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("http://[::1]", "http://[::1]"),
            (
                "https://xn--bcher-kva.example",
                "https://xn--bcher-kva.example",
            ),
            ("https://a_b.example", "https://a_b.example"),
            ("capacitor://localhost", "capacitor://localhost"),
            ("Tauri://localhost", "tauri://localhost"),
            ("app://com.example:80", "app://com.example:80"),
            ("chrome-extension://abcd", "chrome-extension://abcd"),
        ];
        for (set, sent) in cases {
            let origins = parse(json!(set)).unwrap();
            assert_eq!(origins, Origins(vec![sent.to_owned()]), "{set}");
            assert!(origins.allow(sent) && !origins.is_empty(), "{set}");
        }
    }

    #[test]
    fn origins_are_a_list_or_comma_separated() {
        let several = json!(["https://a.example", "http://b.example:8080"]);
        let origins = parse(json!("https://a.example , http://b.example:8080,")).unwrap();
        assert_eq!(origins, parse(several).unwrap());
        assert!(origins.allow("https://a.example") && origins.allow("http://b.example:8080"));
    }

    #[test]
    fn only_exact_origin_is_allowed() {
        let origins = parse(json!("https://example.com")).unwrap();
        let refused = [
            "http://example.com",
            "https://example.com:8443",
            "https://example.com/",
            "https://www.example.com",
            "https://example.com.evil.example",
            "https://evilexample.com",
            "https://EXAMPLE.com",
            "https://example.com,https://example.com",
            "*",
            "null",
            "",
        ];
        for origin in refused {
            assert!(!origins.allow(origin), "{origin}");
        }
    }

    #[test]
    fn every_port_of_a_loopback_host_is_allowed() {
        let origins = parse(json!(
            "http://localhost:*,HTTP://127.0.0.1:*,http://[::1]:*"
        ))
        .unwrap();
        for host in LOOPBACK_HOSTS {
            for port in ["", ":1", ":4321", ":65535"] {
                assert!(
                    origins.allow(&format!("http://{host}{port}")),
                    "{host}{port}"
                );
            }
        }
        let refused = [
            "https://localhost",
            "http://localhost:",
            "http://localhost:*",
            "http://localhost:80.evil.example",
            "http://localhost.evil.example",
            "http://evil.example",
            "http://127.0.0.1:+1",
            "http://127.0.0.11",
        ];
        for origin in refused {
            assert!(!origins.allow(origin), "{origin}");
        }
    }

    #[test]
    fn invalid_origins_are_reported() {
        let invalid = [
            "*",
            "http://*:3000",
            "http://example.com:*",
            "http://127.0.0.2:*",
            "http://localhost:3*",
            "null",
            "example.com",
            "//example.com",
            "https://",
            "https://:443",
            "https://*.example.com",
            "https://example.com/",
            "https://example.com/board",
            "https://example.com?a",
            "https://example.com#a",
            "https://example.com:",
            "https://example.com:+80",
            "https://example.com:65536",
            "https://example.com:80:80",
            "https://ada@example.com",
            "https://ada:pass@example.com",
            "https://bücher.example",
            "https://a.example https://b.example",
            "http://[::1",
            "http://::1",
            "://example.com",
            "1a://example.com",
            "file://",
            "https:example.com",
        ];
        for origin in invalid {
            let remedy = format!(
                "'{origin}' is not an origin such as https://example.com, http://localhost:8080 or \
                 capacitor://localhost: scheme, host and port alone, no / at the end, and no * but for the port \
                 of localhost, 127.0.0.1 or [::1]"
            );
            let error = Error::Misconfigured(NAME, remedy);
            assert_eq!(parse(json!(["https://a.example", origin])), Err(error));
        }
    }
}
