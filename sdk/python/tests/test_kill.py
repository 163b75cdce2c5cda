"""Nothing is lost and nothing doubled by SIGKILL."""

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from activity_rank import FileOutbox, Retry
from conftest import Worker
from fault_server import Action, FaultServer, Forward, Hang, Lost, problem

PROGRAM = Path(__file__).with_name("killed.py")
ACTIONS: list[Action] = [Forward(), Forward(), Lost(), Lost(forward=True), problem(503)]
# The action for the last request before the kill.
ENDS: list[Action] = [Forward(), Lost(), Lost(forward=True), problem(503), Hang()] * 2
USERS = 4


def accepted(folder: Path, user: str) -> int:
    """Returns the number of accepted calls of a user, in all rounds."""
    numbers = list(map(int, (folder / f"{user}.accepted").read_text().splitlines()))
    assert numbers == list(range(len(numbers)))
    return len(numbers)


def test_killed_process_loses_and_doubles_nothing(
    make_client: Callable[..., Any],
    make_sender: Callable[..., Any],
    is_async: bool,
    worker: Worker,
    tmp_path: Path,
    unique: str,
) -> None:
    """A process adds likes and is killed under load, again and again. Between it and the Worker, requests and responses
    are lost, so it also sends again what was counted. A call that SIGKILL interrupts is repeated by the next process:
    its first try may have been stored. At the end each user has exactly the likes whose calls were accepted.
    """
    choice = random.Random(1)
    users = [f"{unique}-{number}" for number in range(USERS)]
    left = []
    with FaultServer(Hang(), worker.url) as proxy:
        command = [sys.executable, str(PROGRAM), "async" if is_async else "sync", proxy.url, worker.key, str(tmp_path)]
        for end in ENDS:
            before = len(proxy.requests)
            planned = choice.choices(ACTIONS, k=choice.randint(3, 12))
            proxy.plan(*planned, end)
            with subprocess.Popen([*command, ",".join(users)], stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout
                left.append(int(process.stdout.readline()))
                proxy.wait_for(before + len(planned) + 1)
                process.kill()
    outbox = FileOutbox(tmp_path / "activity.outbox")
    left.append(len(outbox.load()))
    client = make_client(worker.url, worker.key)
    sender = make_sender(client, outbox, retry=Retry(base_delay=0.01))
    assert sender.flush(60)
    # Otherwise the test would show nothing: almost every process must leave something to the next.
    assert sum(map(bool, left)) >= len(ENDS) // 2, left
    counts = {user: accepted(tmp_path, user) for user in users}
    assert min(counts.values()) > 50, counts
    scores = {user: client.get_standing("all", user)["score"] for user in users}
    extra = {user: scores[user] - 2 * counts[user] for user in users}
    # The last call of a user may have been stored without its return.
    assert set(extra.values()) <= {0, 2}, extra
    for user in users:
        client.count_activity({"user": user, "action": "like", "target": f"p{counts[user]}"}, minimal=True)
    assert {user: client.get_standing("all", user)["score"] for user in users} == {
        user: 2 * (counts[user] + 1) for user in users
    }


def test_clean_shutdown_without_outbox_loses_nothing(
    make_client: Callable[..., Any], make_sender: Callable[..., Any], worker: Worker, unique: str
) -> None:
    choice = random.Random(2)
    with FaultServer(lambda: choice.choice(ACTIONS), worker.url) as proxy:
        client = make_client(proxy.url, worker.key)
        sender = make_sender(client, max_items=20, max_wait=0.01, retry=Retry(base_delay=0.01, max_delay=0.05))
        for number in range(500):
            sender.add({"user": unique, "action": "like", "target": f"p{number}"})
        sender.close(timeout=60)
    client = make_client(worker.url, worker.key)
    assert client.get_standing("all", unique)["score"] == 1000
