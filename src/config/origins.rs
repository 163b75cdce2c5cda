//! `ALLOWED_ORIGINS`: where pages may come from that call this service.

use super::Vars;
use crate::error::Error;
use serde::Serialize;

const NAME: &str = "ALLOWED_ORIGINS";

/// Origins as browsers write them: `https://example.com`, `http://localhost:8080`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Origins(Vec<String>);

impl Origins {
    /// Reads the variable.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] where one of them is not exactly an origin: it would never match.
    pub fn read(vars: &Vars) -> Result<Self, Error> {
        let words = vars.words(NAME)?.unwrap_or_default();
        let origin = |word: &String| {
            normal_form(word).ok_or_else(|| {
                let way_out = format!(
                    "'{word}' is not an origin such as https://example.com or \
                     http://localhost:8080: scheme, host and port alone, no * and no / at the end"
                );
                Error::Misconfigured(NAME, way_out)
            })
        };
        words.iter().map(origin).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there are none: then no page from elsewhere may call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this is one of them.
    #[must_use]
    pub fn allow(&self, origin: &str) -> bool {
        self.0.iter().any(|known| known == origin)
    }
}

/// An origin as browsers write it: in lower case, without the scheme's own port.
fn normal_form(origin: &str) -> Option<String> {
    let origin = origin.to_ascii_lowercase();
    let (scheme, authority) = origin.split_once("://")?;
    let own_port = match scheme {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    // Within the brackets of an IPv6 address there are colons too.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        Some(_) | None => (authority, None),
    };
    if !is_host(host) {
        return None;
    }
    let port = match port {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            digits.parse::<u16>().ok()?
        }
        Some(_) => return None,
        None => own_port,
    };
    Some(if port == own_port {
        format!("{scheme}://{host}")
    } else {
        format!("{scheme}://{host}:{port}")
    })
}

/// A name in ASCII (browsers send others as `xn--…`), an IPv4 address, or an IPv6 address in
/// brackets.
fn is_host(host: &str) -> bool {
    let address = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match address {
        Some(address) => address
            .bytes()
            .all(|c| c.is_ascii_hexdigit() || b":.".contains(&c)),
        None => {
            let fits = |c: u8| c.is_ascii_alphanumeric() || b"-_.".contains(&c);
            !host.is_empty() && host.bytes().all(fits)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NAME, Origins, Vars};
    use crate::error::Error;
    use serde_json::{Value, json};

    fn read(value: Value) -> Result<Origins, Error> {
        let vars = json!({ NAME: value });
        Origins::read(&Vars::new(vars.as_object().unwrap().clone()))
    }

    #[test]
    fn what_is_not_set_allows_nobody() {
        for value in [json!(null), json!(""), json!(" , "), json!([])] {
            let origins = read(value).unwrap();
            assert!(origins.is_empty());
            assert!(!origins.allow("https://example.com") && !origins.allow(""));
        }
    }

    #[test]
    fn each_is_read_as_browsers_write_it() {
        let same = [
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
        ];
        for (set, sent) in same {
            let origins = read(json!(set)).unwrap();
            assert_eq!(origins, Origins(vec![sent.to_owned()]), "{set}");
            assert!(origins.allow(sent) && !origins.is_empty(), "{set}");
        }
    }

    #[test]
    fn several_are_separated_by_commas_or_are_a_list() {
        let several = json!(["https://a.example", "http://b.example:8080"]);
        let origins = read(json!("https://a.example , http://b.example:8080,")).unwrap();
        assert_eq!(origins, read(several).unwrap());
        assert!(origins.allow("https://a.example") && origins.allow("http://b.example:8080"));
    }

    #[test]
    fn only_the_very_origin_is_allowed() {
        let origins = read(json!("https://example.com")).unwrap();
        let others = [
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
        for origin in others {
            assert!(!origins.allow(origin), "{origin}");
        }
    }

    #[test]
    fn what_no_browser_sends_is_told() {
        let wrong = [
            "*",
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
            "ftp://example.com",
            "https:example.com",
        ];
        for origin in wrong {
            let told = format!(
                "'{origin}' is not an origin such as https://example.com or http://localhost:8080: \
                 scheme, host and port alone, no * and no / at the end"
            );
            let error = Error::Misconfigured(NAME, told);
            assert_eq!(read(json!(["https://a.example", origin])), Err(error));
        }
    }
}
