"""User tokens: what a server gives to the browser of a signed-in member."""

import re
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

import jwt

from .identity import user_id

_USER = re.compile(r"(?!\.\.?\Z)[A-Za-z0-9_.:@|-]{1,64}")
_MIN_SECRET = 32  # bytes, as the service requires


def user_token(
    user: str | int,
    key: str | bytes,
    *,
    lifetime: timedelta | float = 3600,
    name: str | None = None,
    picture: str | None = None,
    issuer: str | None = None,
    audience: str | Sequence[str] | None = None,
    claims: Mapping[str, Any] | None = None,
    algorithm: Literal["HS256", "RS256", "ES256", "EdDSA"] = "HS256",
    key_id: str | None = None,
) -> str:
    """Returns a signed JWT for one member.

    user: the id, 1 to 64 characters of `A-Z a-z 0-9 _ . : @ | -`, not `.` or `..`, or an integer.
    key: the `JWT_SECRET` of the deployment, at least 32 bytes. For other algorithms than HS256 a private key in PEM
        format, whose public key the deployment's `JWKS_URL` serves; they need the extra `activity-rank[crypto]`.
    lifetime: until the token expires, in seconds. Keep it short: a token cannot be revoked.
    name, picture: create a profile for a user who has none.
    issuer, audience: `iss` and `aud`, as the deployment's `JWT_ISSUER` and `JWT_AUDIENCE` require.
    claims: further claims, such as the one that `JWT_GROUPS_CLAIM` names. They do not replace those above.
    key_id: the `kid` of the header, which selects a key of `JWKS_URL`.

    Raises `ValueError` for an invalid user, lifetime or secret, and `TypeError` for a user of another type.
    """
    subject = user_id(user)
    if not _USER.fullmatch(subject):
        raise ValueError("`user` must have 1 to 64 characters of A-Z a-z 0-9 _ . : @ | - and not be . or ..")
    seconds = lifetime.total_seconds() if isinstance(lifetime, timedelta) else lifetime
    if seconds <= 0:
        raise ValueError("`lifetime` must be positive.")
    if algorithm == "HS256" and len(key.encode() if isinstance(key, str) else key) < _MIN_SECRET:
        raise ValueError(f"`key`, the JWT_SECRET of the deployment, must have at least {_MIN_SECRET} bytes.")
    now = int(time.time())
    optional = {"name": name, "picture": picture, "iss": issuer}
    payload: dict[str, Any] = {
        **(claims or {}),
        **{claim: value for claim, value in optional.items() if value is not None},
        **({} if audience is None else {"aud": audience if isinstance(audience, str) else list(audience)}),
        "sub": subject,
        "iat": now,
        "exp": now + max(1, int(seconds)),
    }
    headers = None if key_id is None else {"kid": key_id}
    return jwt.encode(payload, key, algorithm=algorithm, headers=headers)
