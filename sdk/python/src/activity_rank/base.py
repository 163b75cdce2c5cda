"""What both clients are created with."""

from abc import ABC, abstractmethod
from threading import Event
from typing import Generic, TypeVar

import httpx

from .http import Deployment, Key
from .retry import Retry

Http = TypeVar("Http", httpx.Client, httpx.AsyncClient)


class BaseClient(ABC, Generic[Http]):
    """A client of a deployment, over a client of httpx."""

    def __init__(
        self,
        url: str,
        key: Key = None,
        *,
        timeout: float = 30.0,
        attempt_timeout: float = 10.0,
        retry: Retry | None = None,
        http: Http | None = None,
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
        self._http: Http = http or self._new_http()
        self._owns_http = http is None
        self._closed = Event()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._deployment.url!r})"

    @abstractmethod
    def _new_http(self) -> Http: ...
