"""The Worker, and clients and senders of both kinds."""

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from activity_rank import AsyncBatchSender, AsyncClient, BatchSender, Client
from blocking import Blocking, Loop
from fault_server import Count, FaultServer


@dataclass(frozen=True)
class Worker:
    """The Worker with a real store."""

    url: str
    key: str
    secret: str


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    script = Path(__file__).with_name("worker.mjs")
    with subprocess.Popen(["node", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        started = json.loads(process.stdout.readline())
        yield Worker(started["url"], started["serviceKey"], started["jwtSecret"])
        process.stdin.close()
        assert process.wait(timeout=60) == 0


@pytest.fixture(params=["sync", "async"])
def is_async(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "async")


@pytest.fixture
def loop(is_async: bool) -> Iterator[Loop | None]:
    loop = Loop() if is_async else None
    yield loop
    if loop:
        loop.stop()


@pytest.fixture
def make_client(loop: Loop | None) -> Iterator[Callable[..., Any]]:
    """Creates clients, which are closed after the test."""
    clients: list[Any] = []

    def make(url: str, key: Any = "test-service-key", **options: Any) -> Any:
        client = Blocking(loop, AsyncClient(url, key, **options)) if loop else Client(url, key, **options)
        clients.append(client)
        return client

    yield make
    for client in reversed(clients):
        client.close()


@pytest.fixture
def make_sender(loop: Loop | None, make_client: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Creates senders, which are closed without sending more after the test."""
    senders: list[Any] = []

    def make(client: Any, outbox: Any = None, **options: Any) -> Any:
        sender: Any
        if loop:
            sender = Blocking(loop, AsyncBatchSender(client.target, outbox, **options))
            sender.start()
        else:
            sender = BatchSender(client, outbox, **options)
        senders.append(sender)
        return sender

    yield make
    for sender in reversed(senders):
        try:
            sender.close(timeout=0)
        except Exception as error:
            # The test has closed it, or does not care about the rest.
            assert type(error).__name__ == "UnsentError", error


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """A server that counts everything, until the test plans something else."""
    with FaultServer(Count()) as server:
        yield server


_numbers = count(1)


@pytest.fixture
def unique() -> str:
    """An id that no other test has."""
    return f"t{next(_numbers)}"
