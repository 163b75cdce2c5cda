"""Builds requests and reads responses. Does no input or output, so that both clients share it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Generic, Literal, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

import httpx

from .errors import ApiError, NetworkError, ResponseError
from .retry import parse_retry_after
from .types import Problem

T = TypeVar("T")
Value = str | int | float | bool | Sequence[str] | None
Key = str | Callable[[], str] | None

_KEY = re.compile(r"[!-~]+")
_USER_AGENT = f"activity-rank-python/{version('activity-rank')}"


@dataclass(frozen=True, slots=True)
class Route(Generic[T]):
    """A route of the API, whose response has the type `T`."""

    operation: str
    """The `operationId` in the OpenAPI document."""
    method: str
    path: str
    """With parameters in braces."""
    kind: Literal["json", "text", "none", "events"]
    """What the response has: JSON, text, no body, or an event stream whose data is JSON."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request without credentials. These are added for each attempt, as they may change."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None


class Deployment:
    """The address of a deployment, and the credentials for it."""

    def __init__(self, url: str, key: Key) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("`url` must begin with https:// or http:// and have neither query nor fragment.")
        if parts.username or parts.password:
            raise ValueError("`url` must not contain credentials.")
        self.url = url.rstrip("/")
        self._key = key
        if isinstance(key, str):
            self.credentials()

    def request(
        self,
        route: Route[T],
        *,
        path: Mapping[str, str | int] | None = None,
        query: Mapping[str, Value] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """Returns the request of a route. A body of `bytes` is sent as it is, any other as JSON."""
        quoted = {name: quote(str(value), safe="") for name, value in (path or {}).items()}
        url = self.url + route.path.format(**quoted)
        pairs = [(name, _text(value)) for name, value in (query or {}).items() if value is not None]
        if pairs:
            url += "?" + urlencode(pairs)
        all_headers = {"User-Agent": _USER_AGENT, **(headers or {})}
        content = None
        if body is not None:
            all_headers["Content-Type"] = "application/json"
            content = body if isinstance(body, bytes) else json.dumps(body, allow_nan=False).encode()
        return Request(route.method, url, all_headers, content)

    def credentials(self) -> dict[str, str]:
        """Returns the header with the service key or user token."""
        key = self._key() if callable(self._key) else self._key
        if key is None:
            return {}
        # Otherwise the HTTP library would name the whole value in an error.
        if not _KEY.fullmatch(key):
            raise ValueError("`key` must consist of visible ASCII characters.")
        return {"Authorization": f"Bearer {key}"}


def parse(route: Route[T], response: httpx.Response) -> T:
    """Returns the body of a response. Raises `ApiError` or `ResponseError`."""
    if not response.is_success:
        raise refusal(response)
    if route.kind == "none":
        return cast(T, None)
    if route.kind == "text":
        return cast(T, response.text)
    return parse_json(route, response.content)


def parse_json(route: Route[T], text: str | bytes) -> T:
    """Returns the value of a body or an event. Raises `ResponseError`."""
    try:
        return cast(T, json.loads(text))
    except ValueError as error:
        raise ResponseError(f"{route.operation}: the response is not JSON.") from error


def refusal(response: httpx.Response) -> ApiError:
    """Returns the error of a response that is no success and has been read."""
    problem: Problem | None = None
    if response.headers.get("Content-Type", "").startswith("application/problem+json"):
        try:
            body = response.json()
        except ValueError:
            body = None
        if isinstance(body, dict) and {"type", "title", "status"} <= body.keys():
            problem = cast(Problem, body)
    if problem is None:
        # From a proxy, from the platform, or a redirect. Its text is HTML.
        title = response.reason_phrase or "The response is no problem document"
        problem = cast(Problem, {"type": "about:blank", "title": title, "status": response.status_code})
    return ApiError(
        problem,
        retry_after=parse_retry_after(response.headers),
        request_id=response.headers.get("X-Request-Id"),
    )


def network_error(request: Request, error: httpx.RequestError | TimeoutError) -> NetworkError:
    """Returns the error of a request without a response."""
    path = urlsplit(request.url).path
    return NetworkError(f"{request.method} {path}: {type(error).__name__}: {error}".removesuffix(": "))


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, str | int):
        return str(value)
    # An item with a comma has it encoded.
    return ",".join(item.replace("%", "%25").replace(",", "%2C") for item in value or ())
