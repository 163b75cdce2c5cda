//! Credentials of earned steps by the specification Open Badges 3.0, as JWTs, and their issuer.

use crate::calendar::Instant;
use crate::config::{Achievement, Config, PublicKey, check_language};
use crate::error::Error;
use crate::query::Query;
use crate::webhook::to_json;

/// The path of the issuer.
const ISSUER: &str = "/v1/issuer";

/// A request for the credential of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialRequest {
    /// The user.
    pub user: String,
    /// The value of the step, as responses have it; `None` for the highest one that the user has.
    step: Option<String>,
    lang: String,
}

impl CredentialRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid user or query.
    pub fn parse(user: &str, query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["step", "lang"]);
        let user = query.user(user);
        let step = query.get("step").map(str::to_owned);
        let lang = query.get("lang").unwrap_or("en").to_owned();
        let checked = check_language(&lang);
        query.check("/lang", checked);
        query.finish()?;
        Ok(Self { user, step, lang })
    }

    /// Returns the claims of the credential of an achievement. `rows` are the rows of
    /// [`render`](crate::achievement::AchievementsRequest::render).
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] unless the user has the step.
    pub fn claims(
        &self,
        config: &Config,
        origin: &str,
        id: &str,
        rows: &[String],
    ) -> Result<String, Error> {
        let missing = || {
            let detail = format!("The user {} does not have this achievement.", self.user);
            Error::NotFound(detail)
        };
        let achievement = config.achievements.get(id).ok_or_else(missing)?;
        let earned = |step: &u64| {
            let row = format!("e {id} {step} ");
            let at = rows.iter().find_map(|found| found.strip_prefix(&row))?;
            let value = to_json(&achievement.value(*step));
            let is_wanted = self.step.as_ref().is_none_or(|step| *step == value);
            is_wanted.then_some((value, at.parse::<i64>().ok()?))
        };
        let (value, at) = achievement
            .steps
            .iter()
            .rev()
            .find_map(earned)
            .ok_or_else(missing)?;
        Ok(self.payload(config, origin, achievement, &value, at / 1000))
    }

    /// Renders the claims of a step that was earned at a Unix time.
    fn payload(
        &self,
        config: &Config,
        origin: &str,
        achievement: &Achievement,
        value: &str,
        at: i64,
    ) -> String {
        let (id, user) = (&achievement.id, self.user.replace('|', "%7C"));
        let name = achievement.name(&self.lang);
        let name = match achievement.steps.len() {
            1 => name.to_owned(),
            _ => format!("{name} {value}"),
        };
        let description = match achievement.description(&self.lang) {
            "" => &name,
            description => description,
        };
        let narrative = to_json(&format!("{description} ({value})"));
        let (name, description) = (to_json(&name), to_json(&description));
        let image = match achievement.icon.strip_prefix("https://") {
            Some(_) => image(&achievement.icon),
            None => String::new(),
        };
        let issuer = issuer(config, origin, "");
        let valid_from = Instant(at * 1000);
        let url = format!("{origin}/v1/users/{user}/achievements/{id}/credential?step={value}");
        format!(
            "{{\"iss\":\"{origin}{ISSUER}\",\"jti\":\"{url}\",\"sub\":\"{origin}/u/{user}\",\"nbf\":{at},{CONTEXT}\
             \"id\":\"{url}\",\"type\":[\"VerifiableCredential\",\"OpenBadgeCredential\"],\"name\":{name},\
             \"issuer\":{issuer},\"validFrom\":\"{valid_from}\",\"credentialSubject\":{{\
             \"id\":\"{origin}/u/{user}\",\"type\":[\"AchievementSubject\"],\"achievement\":{{\
             \"id\":\"{origin}/v1/achievements#{id}-{value}\",\"type\":[\"Achievement\"],\"name\":{name},\
             \"description\":{description},\"criteria\":{{\"narrative\":{narrative}}}{image}}}}},\
             \"credentialSchema\":[{{\"id\":\"{SCHEMA}\",\"type\":\"1EdTechJsonSchemaValidator2019\"}}]}}"
        )
    }
}

/// The JSON-LD contexts of a credential, as a field.
const CONTEXT: &str = "\"@context\":[\"https://www.w3.org/ns/credentials/v2\",\
    \"https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json\"],";

/// The JSON schema of a credential.
const SCHEMA: &str =
    "https://purl.imsglobal.org/spec/ob/v3p0/schema/json/ob_v3p0_achievementcredential_schema.json";

/// Renders the profile of the issuer, with these fields first.
fn issuer(config: &Config, origin: &str, fields: &str) -> String {
    let text = |field: &str| config.site.text(field);
    let name = to_json(&text("name").unwrap_or("Leaderboard"));
    let url = to_json(&text("url").unwrap_or(origin));
    let image = text("logo").map_or(String::new(), image);
    format!(
        "{{{fields}\"id\":\"{origin}{ISSUER}\",\"type\":[\"Profile\"],\"name\":{name},\"url\":{url}{image}}}"
    )
}

/// Renders a picture as a further field.
fn image(url: &str) -> String {
    let url = to_json(&url);
    format!(",\"image\":{{\"id\":{url},\"type\":\"Image\"}}")
}

/// Renders the profile of the issuer as a document of its own.
#[must_use]
pub fn issuer_document(config: &Config, origin: &str) -> String {
    issuer(config, origin, CONTEXT)
}

/// Renders the header of a credential. The URL `kid` has the public key.
#[must_use]
pub fn header(key: &PublicKey, origin: &str) -> String {
    let PublicKey { algorithm, id, .. } = key;
    format!("{{\"alg\":\"{algorithm}\",\"kid\":\"{origin}{ISSUER}/keys/{id}\",\"typ\":\"JWT\"}}")
}

/// Renders public keys as a key set.
#[must_use]
pub fn key_set(keys: &[PublicKey]) -> String {
    let keys: Vec<&str> = keys.iter().map(|key| key.jwk.as_str()).collect();
    format!("{{\"keys\":[{}]}}", keys.join(","))
}
