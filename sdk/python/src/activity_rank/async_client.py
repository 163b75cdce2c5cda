"""The client for asyncio."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Self, TypeVar

import httpx
from httpx_sse import EventSource

from .base import BaseClient
from .client import RECONNECT_DELAY, STREAM_TIMEOUT
from .errors import ClosedError, RequestError
from .http import Request, Route, Value, network_error, parse, parse_json, refusal
from .operations import AsyncOperations

T = TypeVar("T")


class AsyncClient(BaseClient[httpx.AsyncClient], AsyncOperations):
    """A client with a method for every route of the API. May be shared by the tasks of one event loop.

        async with AsyncClient("https://activity-rank.example.com", key) as client:
            board = await client.get_board("week", limit=10)

    Calls raise `ApiError` if the service refuses, `NetworkError` without a response, and `ResponseError` if it is not
    JSON. Temporary failures (408, 429, 5xx, no response) are retried first: every call may be repeated safely.
    A call is cancelled with its task, for example by `asyncio.timeout`.
    """

    def _new_http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections. Further calls raise `ClosedError`."""
        self._closed.set()
        if self._owns_http:
            await self._http.aclose()

    async def _call(
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
        if self._closed.is_set():
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
        path: Mapping[str, str | int] | None = None,
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
                if self._closed.is_set():
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
