"""The client for blocking code."""

import itertools
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Self, TypeVar

import httpx
from httpx_sse import EventSource

from .base import BaseClient
from .errors import ClosedError, RequestError
from .http import Request, Route, Value, network_error, parse, parse_json, refusal
from .operations import Operations

T = TypeVar("T")

STREAM_TIMEOUT = 60.0  # seconds; the service sends a comment after 25 seconds without an event
RECONNECT_DELAY = 3.0  # seconds after a stream has ended, as browsers wait


class Client(BaseClient[httpx.Client], Operations):
    """A client with a method for every route of the API. May be shared by threads.

        with Client("https://activity-rank.example.com", key) as client:
            board = client.get_board("week", limit=10)

    Calls raise `ApiError` if the service refuses, `NetworkError` without a response, and `ResponseError` if it is not
    JSON. Temporary failures (408, 429, 5xx, no response) are retried first: every call may be repeated safely.
    """

    def _new_http(self) -> httpx.Client:
        return httpx.Client()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections. Calls of other threads that wait for a retry raise `ClosedError`."""
        self._closed.set()
        if self._owns_http:
            self._http.close()

    def _call(
        self,
        route: Route[T],
        *,
        path: Mapping[str, str | int] | None = None,
        query: Mapping[str, Value] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> T:
        request = self._deployment.request(route, path=path, query=query, body=body, headers=headers)
        deadline = time.monotonic() + (self._timeout if timeout is None else timeout)
        for attempt in itertools.count(1):
            try:
                return self._attempt(route, request, deadline - time.monotonic())
            except RequestError as error:
                delay = self._retry.delay(attempt, error)
                is_final = not error.is_temporary or attempt >= self._retry.attempts
                if is_final or time.monotonic() + delay >= deadline:
                    raise
            self._wait(delay)
        raise AssertionError("unreachable")

    def _attempt(self, route: Route[T], request: Request, timeout: float | None = None) -> T:
        """Sends a request once."""
        if self._closed.is_set():
            raise ClosedError("The client is closed.")
        limit = self._attempt_timeout if timeout is None else max(0.001, min(timeout, self._attempt_timeout))
        try:
            response = self._http.request(
                request.method,
                request.url,
                headers={**request.headers, **self._deployment.credentials()},
                content=request.content,
                timeout=limit,
            )
        except httpx.RequestError as error:
            raise network_error(request, error) from error
        return parse(route, response)

    def _watch(
        self,
        route: Route[T],
        *,
        path: Mapping[str, str | int] | None = None,
        query: Mapping[str, Value] | None = None,
    ) -> Iterator[T]:
        request = self._deployment.request(route, path=path, query=query, headers={"Accept": "text/event-stream"})
        return self._boards(route, request)

    def _boards(self, route: Route[T], request: Request) -> Iterator[T]:
        last_id, failures, reconnect_delay = "", 0, RECONNECT_DELAY
        while True:
            headers = {**request.headers, **self._deployment.credentials()}
            if last_id:
                headers["Last-Event-ID"] = last_id
            timeout = httpx.Timeout(self._attempt_timeout, read=STREAM_TIMEOUT)
            try:
                if self._closed.is_set():
                    raise ClosedError("The client is closed.")
                try:
                    with self._http.stream(request.method, request.url, headers=headers, timeout=timeout) as response:
                        if not response.is_success:
                            response.read()
                            raise refusal(response)
                        for event in EventSource(response).iter_sse():
                            last_id, failures = event.id, 0
                            if event.retry is not None:
                                reconnect_delay = event.retry / 1000
                            # The library also reports comments after the first event, without data.
                            if event.data:
                                yield parse_json(route, event.data)
                except httpx.RequestError as error:
                    raise network_error(request, error) from error
            except RequestError as error:
                failures += 1
                if not error.is_temporary or failures >= self._retry.attempts:
                    raise
                self._wait(self._retry.delay(failures, error))
            else:
                self._wait(reconnect_delay)

    def _wait(self, seconds: float) -> None:
        if self._closed.wait(seconds):
            raise ClosedError("The client was closed during a call.")
