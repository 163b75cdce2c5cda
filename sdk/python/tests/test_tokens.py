"""User tokens, as the Worker accepts them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import jwt
import pytest
from activity_rank import ApiError, user_token
from conftest import Worker
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

SECRET = "s" * 32
OF_WORKER: dict[str, Any] = {"issuer": "https://example.com", "audience": ["other", "activity-rank"]}


def test_member_counts_own_activity(make_client: Callable[..., Any], worker: Worker, unique: str) -> None:
    token = user_token(unique, worker.secret, name="Ada", lifetime=timedelta(minutes=5), **OF_WORKER)
    client = make_client(worker.url, token)
    assert client.count_activity({"user": unique, "action": "like", "target": "a"})["outcome"] == "counted"
    assert client.get_profile(unique) == {"id": unique, "name": "Ada"}
    with pytest.raises(ApiError) as caught:
        client.count_activity({"user": "42", "action": "like", "target": "a"})
    assert caught.value.status == 403


def test_token_of_another_audience_is_refused(make_client: Callable[..., Any], worker: Worker, unique: str) -> None:
    client = make_client(worker.url, user_token(unique, worker.secret, issuer="https://example.com", audience="other"))
    with pytest.raises(ApiError) as caught:
        client.list_standings(unique)
    assert caught.value.status == 401


def test_key_function_is_called_for_each_request(make_client: Callable[..., Any], worker: Worker, unique: str) -> None:
    keys = iter([worker.key, "wrong", worker.key])
    client = make_client(worker.url, lambda: next(keys))
    assert client.get_moderation(unique)["frozen"] is False
    with pytest.raises(ApiError):
        client.get_moderation(unique)
    assert client.get_moderation(unique)["hidden"] is False


def test_claims() -> None:
    token = user_token("42", SECRET, picture="https://example.com/a.png", claims={"groups": ["eu"], "sub": "7"})
    claims = jwt.decode(token, SECRET, algorithms=["HS256"])
    assert claims["exp"] - claims["iat"] == 3600
    del claims["exp"], claims["iat"]
    assert claims == {"sub": "42", "picture": "https://example.com/a.png", "groups": ["eu"]}
    assert jwt.get_unverified_header(user_token("42", SECRET, key_id="k1"))["kid"] == "k1"


def test_private_key_signs() -> None:
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    token = user_token("42", pem, algorithm="EdDSA", key_id="k1")
    assert jwt.decode(token, key.public_key(), algorithms=["EdDSA"])["sub"] == "42"


@pytest.mark.parametrize("user", ["", ".", "..", "a b", "ä", "a" * 65, "a\n"])
def test_invalid_user_is_refused(user: str) -> None:
    with pytest.raises(ValueError, match="`user`"):
        user_token(user, SECRET)


def test_integer_user_is_its_text() -> None:
    assert jwt.decode(user_token(61000, SECRET), SECRET, algorithms=["HS256"])["sub"] == "61000"


@pytest.mark.parametrize("user", [True, 61000.5, None, 2**64])
def test_user_of_another_type_is_refused(user: Any) -> None:
    with pytest.raises(TypeError, match="`user`"):
        user_token(user, SECRET)


@pytest.mark.parametrize("secret", ["short", b"s" * 31, "é" * 15])
def test_short_secret_is_refused(secret: str | bytes) -> None:
    with pytest.raises(ValueError, match="JWT_SECRET of the deployment, must have at least 32 bytes") as caught:
        user_token("42", secret)
    assert str(secret) not in str(caught.value)


@pytest.mark.parametrize("lifetime", [0, -1, timedelta(0)])
def test_lifetime_must_be_positive(lifetime: Any) -> None:
    with pytest.raises(ValueError, match="lifetime"):
        user_token("42", SECRET, lifetime=lifetime)
