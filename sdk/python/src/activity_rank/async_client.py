"""The client for asyncio."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Self, TypeVar

import httpx
from httpx_sse import EventSource

from .client import RECONNECT_DELAY, STREAM_TIMEOUT
from .errors import ClosedError, RequestError
from .http import Deployment, Key, Request, Route, Value, network_error, parse, parse_json, refusal
from .operations import AsyncOperations
from .retry import Retry

T = TypeVar("T")


class AsyncClient(AsyncOperations):
    """A client with a method for every route of the API. May be shared by the tasks of one event loop.

        async with AsyncClient("https://activity-rank.example.com", key) as client:
            board = await client.get_board("week", limit=10)

    Calls raise `ApiError` if the service refuses, `NetworkError` without a response, and `ResponseError` if it is not
    JSON. Temporary failures (408, 429, 5xx, no response) are retried first: every call may be repeated safely.
    A call is cancelled with its task, for example by `asyncio.timeout`.
    """

    def __init__(
        self,
        url: str,
        key: Key = None,
        *,
        timeout: float = 30.0,
        attempt_timeout: float = 10.0,
        retry: Retry | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """Creates a client. It connects with the first call.

        url: the address of the deployment.
        key: a service key, a user token, or a function that is called before each request and returns one. Without it,
            only public routes can be called.
        timeout: seconds of a call with its retries, more than 0. A call that would wait longer fails at once.
        attempt_timeout: seconds that one request waits for a connection, and for each part of the response.
        retry: when failed requests are sent again.
        http: sends the requests, for example through a proxy. It is not closed with the client.
        """
        self._deployment = Deployment(url, key)
        self._timeout = timeout
        self._attempt_timeout = attempt_timeout
        self._retry = retry or Retry()
        self._http = http or httpx.AsyncClient()
        self._owns_http = http is None
        self._is_closed = False

    def __repr__(self) -> str:
        return f"AsyncClient({self._deployment.url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections. Further calls raise `ClosedError`."""
        self._is_closed = True
        if self._owns_http:
            await self._http.aclose()

    async def _call(
        self,
        route: Route[T],
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, Value] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> T:
        request = self._deployment.request(route, path=path, query=query, body=body, headers=headers)
        clock = asyncio.get_running_loop().time
        deadline = clock() + (self._timeout if timeout is None else timeout)
        for attempt in itertools.count(1):
            try:
                return await self._attempt(route, request, deadline - clock())
            except RequestError as error:
                delay = self._retry.delay(attempt, error)
                is_final = not error.is_temporary or attempt >= self._retry.attempts
                if is_final or clock() + delay >= deadline:
                    raise
            await asyncio.sleep(delay)
        raise AssertionError("unreachable")

    async def _attempt(self, route: Route[T], request: Request, timeout: float | None = None) -> T:
        """Sends a request once."""
        if self._is_closed:
            raise ClosedError("The client is closed.")
        try:
            async with asyncio.timeout(timeout):
                response = await self._http.request(
                    request.method,
                    request.url,
                    headers={**request.headers, **self._deployment.credentials()},
                    content=request.content,
                    timeout=self._attempt_timeout,
                )
        except (httpx.RequestError, TimeoutError) as error:
            raise network_error(request, error) from error
        return parse(route, response)

    def _watch(
        self,
        route: Route[T],
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, Value] | None = None,
    ) -> AsyncIterator[T]:
        request = self._deployment.request(route, path=path, query=query, headers={"Accept": "text/event-stream"})
        return self._boards(route, request)

    async def _boards(self, route: Route[T], request: Request) -> AsyncIterator[T]:
        last_id, failures, reconnect_delay = "", 0, RECONNECT_DELAY
        while True:
            headers = {**request.headers, **self._deployment.credentials()}
            if last_id:
                headers["Last-Event-ID"] = last_id
            timeout = httpx.Timeout(self._attempt_timeout, read=STREAM_TIMEOUT)
            try:
                if self._is_closed:
                    raise ClosedError("The client is closed.")
                try:
                    async with self._http.stream(
                        request.method, request.url, headers=headers, timeout=timeout
                    ) as response:
                        if not response.is_success:
                            await response.aread()
                            raise refusal(response)
                        async for event in EventSource(response).aiter_sse():
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
                await asyncio.sleep(self._retry.delay(failures, error))
            else:
                await asyncio.sleep(reconnect_delay)
