//! Credentials of achievements, and their issuer: `/v1/users/{user}/achievements/{achievement}/credential` and `/v1/issuer`.

use super::achievements::read;
use crate::app::RequestContext;
use crate::platform::crypto;
use crate::response::Response;
use activity_rank_core::config::BadgeKey;
use activity_rank_core::credential::{CredentialRequest, header, issuer_document, key_set};
use activity_rank_core::error::Error;

/// The credential of a step as a signed JWT. To others, a hidden user looks like one who has none.
pub async fn get(
    context: RequestContext<'_>,
    user: &str,
    achievement: &str,
) -> Result<Response, Error> {
    let keys = keys(context)?;
    let config = &context.deployment.config;
    let origin = &keys.issuer;
    let request = CredentialRequest::parse(user, &context.request.query)?;
    let (_, rows) = read(context, &request.user).await?;
    let claims = request.claims(config, origin, achievement, &rows)?;
    let jwt = match keys.public.first() {
        Some(key) => {
            let header = header(key, origin);
            crypto::sign(key.algorithm, &keys.private, &header, &claims).await
        }
        None => None,
    };
    let unusable = || Error::Misconfigured("BADGE_KEY", "is no key that can sign".to_owned());
    let jwt = jwt.ok_or_else(unusable)?;
    Ok(Response::text("application/vc+jwt", jwt).with("cache-control", "no-store"))
}

/// A document of the issuer.
#[derive(Clone, Copy, Debug)]
pub enum Document<'a> {
    /// Its profile.
    Profile,
    /// Its public keys as a key set (RFC 7517).
    Keys,
    /// The public key with an id, as a JWK.
    Key(&'a str),
}

/// A document of the issuer.
pub async fn issuer(
    context: RequestContext<'_>,
    document: Document<'_>,
) -> Result<Response, Error> {
    let keys = keys(context)?;
    context.request.reject_parameters()?;
    let text = match document {
        Document::Profile => issuer_document(&context.deployment.config, &keys.issuer),
        Document::Keys => key_set(&keys.public),
        Document::Key(id) => {
            let key = keys.public.iter().find(|key| key.id == id);
            let missing = || Error::NotFound("The issuer has no key with this id.".to_owned());
            key.ok_or_else(missing)?.jwk.clone()
        }
    };
    Ok(Response::json_text(text))
}

fn keys<'a>(context: RequestContext<'a>) -> Result<&'a BadgeKey, Error> {
    let keys = context.deployment.config.badge_key.as_ref();
    keys.ok_or_else(|| {
        let detail = "This deployment issues no credentials: BADGE_KEY is not set.";
        Error::NotFound(detail.to_owned())
    })
}
