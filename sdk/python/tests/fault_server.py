"""A server that fails as a test says, alone or before the Worker."""

import json
import sys
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Event, Thread
from time import monotonic
from typing import Any, Self

import httpx


@dataclass(frozen=True)
class Received:
    """A request that the server has received."""

    time: float
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    """A response."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None


class Lost:
    """Closes the connection without a response. `forward` lets the Worker handle the request before."""

    def __init__(self, *, forward: bool = False) -> None:
        self.forward = forward


class Hang:
    """Sends no response until the server stops."""


class Forward:
    """Returns the response of the Worker."""


class Count:
    """Counts each activity, as the Worker does."""


Action = Reply | Lost | Hang | Forward | Count


def problem(status: int, type: str = "store-unavailable", **headers: str) -> Reply:
    """Returns a problem document."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"type": f"/problems/{type}", "title": "A problem", "status": status, "detail": "As the test says."}
    return Reply(status, {"Content-Type": "application/problem+json", **fields}, body)


class Server(ThreadingHTTPServer):
    """Reports no clients that have gone, such as killed ones."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class FaultServer:
    """Takes one action for each request: the next of the list, and the default once the list is empty."""

    def __init__(self, default: Action | Callable[[], Action], worker: str | None = None) -> None:
        self.default = default
        self.actions: deque[Action] = deque()
        self.requests: list[Received] = []
        self._worker = httpx.Client(base_url=worker, timeout=30) if worker else None
        self._changed = Condition()
        self._stopping = Event()
        self._forwarding = 0
        self._server = Server(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        with self._changed:
            assert self._changed.wait_for(lambda: not self._forwarding, timeout=30)
        if self._worker:
            self._worker.close()

    def plan(self, *actions: Action) -> None:
        """Appends actions for the next requests."""
        self.actions.extend(actions)

    def wait_for(self, requests: int) -> None:
        """Waits until the server has received so many requests."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= requests, timeout=30)

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all requests."""
        return [request.body for request in self.requests]

    @property
    def targets(self) -> list[list[str]]:
        """The targets of the activities of all requests."""
        return [[activity["target"] for activity in body] for body in self.bodies]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with server._changed:
                    server.requests.append(
                        Received(
                            monotonic(),
                            self.command,
                            self.path,
                            {name.lower(): value for name, value in self.headers.items()},
                            json.loads(body) if body else None,
                        )
                    )
                    action = server.actions.popleft() if server.actions else server.default
                    server._changed.notify_all()
                if callable(action):
                    action = action()
                if isinstance(action, Count):
                    action = Reply(body={"results": [{"outcome": "counted", "points": 2} for _ in json.loads(body)]})
                if isinstance(action, Reply):
                    self.respond(action.status, action.headers.items(), content(action.body))
                elif isinstance(action, Hang):
                    server._stopping.wait()
                    self.close_connection = True
                else:
                    self.forward(body, isinstance(action, Lost), isinstance(action, Lost) and not action.forward)

            do_POST = do_PUT = do_DELETE = do_GET

            def forward(self, body: bytes, is_lost: bool, is_skipped: bool) -> None:
                if not is_skipped:
                    assert server._worker
                    names = ("authorization", "content-type", "prefer")
                    headers = {name: self.headers[name] for name in names if name in self.headers}
                    with server._changed:
                        server._forwarding += 1
                    try:
                        response = server._worker.request(self.command, self.path, content=body, headers=headers)
                    finally:
                        with server._changed:
                            server._forwarding -= 1
                            server._changed.notify_all()
                    if not is_lost:
                        kept = {"Content-Type": response.headers.get("content-type", "")}
                        self.respond(response.status_code, kept.items(), response.content)
                        return
                self.close_connection = True

            def respond(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> None:
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def content(body: Any) -> bytes:
    if body is None:
        return b""
    return body if isinstance(body, bytes) else json.dumps(body).encode()
