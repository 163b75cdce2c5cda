"""Both senders, against a server that counts or fails as a test says, and against the Worker."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from activity_rank import (
    ApiError,
    AsyncBatchSender,
    AsyncClient,
    BatchSender,
    Client,
    ClosedError,
    Entry,
    FileOutbox,
    NetworkError,
    QueueFullError,
    ResponseError,
    Retry,
    UnsentError,
)
from activity_rank.send_queue import SendQueue
from conftest import Worker
from fault_server import Count, FaultServer, Hang, Lost, Reply, problem

FAST = Retry(base_delay=0.01, max_delay=0.02)
Make = Callable[..., Any]


def like(target: str, user: str = "42") -> Any:
    return {"user": user, "action": "like", "target": target}


class MemoryOutbox:
    """An outbox that records its calls."""

    def __init__(self, *entries: Entry) -> None:
        self.entries = {entry.id: entry for entry in entries}
        self.appends: list[list[int]] = []
        self.is_closed = False
        self.failure: Exception | None = None

    def load(self) -> Sequence[Entry]:
        return list(self.entries.values())

    def append(self, entries: Sequence[Entry]) -> None:
        if self.failure:
            raise self.failure
        self.appends.append([entry.id for entry in entries])
        self.entries.update((entry.id, entry) for entry in entries)

    def remove(self, ids: Sequence[int]) -> None:
        for id in ids:
            del self.entries[id]

    def close(self) -> None:
        self.is_closed = True


class Log:
    """Records what a sender reports."""

    def __init__(self) -> None:
        self.results: list[tuple[str, str]] = []
        self.refused: list[tuple[str, int]] = []
        self.errors: list[Exception] = []

    @property
    def callbacks(self) -> dict[str, Any]:
        return {
            "on_result": lambda activity, outcome: self.results.append((activity["target"], outcome["outcome"])),
            "on_refused": lambda activity, problem: self.refused.append((activity["target"], problem["status"])),
            "on_error": lambda error, delay: self.errors.append(error),
        }


def test_batch_is_sent_after_max_wait(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    sender = make_sender(make_client(server.url), max_wait=0.5)
    start = time.monotonic()
    for target in "abc":
        sender.add(like(target))
    server.wait_for(1)
    assert 0.45 < server.requests[0].time - start < 5
    assert server.targets == [["a", "b", "c"]]


def test_full_batch_is_sent_at_once(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    sender = make_sender(make_client(server.url), max_items=3, max_wait=60)
    sender.add(*map(like, "abcdefg"))
    server.wait_for(2)
    assert sender.flush(10)
    assert server.targets == [["a", "b", "c"], ["d", "e", "f"], ["g"]]


def test_batch_is_within_the_limits_of_the_service(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    sender = make_sender(make_client(server.url), max_wait=60)
    # 512 characters that JSON writes with 6 bytes each.
    sender.add(*(like("é" * 512, user=str(number)) for number in range(1200)))
    assert sender.flush(30)
    assert sum(map(len, server.bodies)) == 1200
    assert max(map(len, server.bodies)) <= 500
    assert max(int(request.headers["content-length"]) for request in server.requests) <= 200_002


def test_activities_get_their_instant(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    sender = make_sender(make_client(server.url))
    before = time.time() - 0.001
    sender.add(like("a"), {**like("b"), "at": "2026-11-20T08:00:00Z"})
    after = time.time()
    assert sender.flush(10)
    first, second = server.bodies[0]
    assert first["at"].endswith("Z")
    assert before <= datetime.fromisoformat(first["at"]).timestamp() <= after
    assert second["at"] == "2026-11-20T08:00:00Z"


def test_added_activity_is_a_copy(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    sender = make_sender(make_client(server.url), max_wait=60)
    activity = like("a")
    sender.add(activity)
    activity["target"] = "b"
    assert sender.flush(10)
    assert server.targets == [["a"]]
    assert "at" not in activity


@pytest.mark.parametrize(
    "failure",
    [problem(503), problem(500, "misconfigured"), problem(429), problem(401), problem(403), problem(404), Reply(302)],
    ids=lambda reply: str(reply.status),
)
def test_failed_request_is_repeated(make_client: Make, make_sender: Make, server: FaultServer, failure: Reply) -> None:
    log = Log()
    server.plan(failure, failure)
    sender = make_sender(make_client(server.url), retry=FAST, **log.callbacks)
    sender.add(like("a"), like("b"))
    assert sender.flush(10)
    assert server.bodies[0] == server.bodies[1] == server.bodies[2]
    assert [error.status for error in log.errors if isinstance(error, ApiError)] == [failure.status] * 2
    assert (log.results, log.refused) == ([("a", "counted"), ("b", "counted")], [])


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Lost(), NetworkError),
        (Reply(body=b"<html>"), ResponseError),
        (Reply(body={"results": []}), ResponseError),
        (Reply(body={"results": [None]}), ResponseError),
        (Reply(body={"results": [{"error": {}}]}), ResponseError),
        (Reply(body=[1]), ResponseError),
    ],
)
def test_unclear_response_is_repeated(
    make_client: Make, make_sender: Make, server: FaultServer, failure: Any, error: type
) -> None:
    log = Log()
    server.plan(failure)
    sender = make_sender(make_client(server.url), retry=FAST, **log.callbacks)
    sender.add(like("a"))
    assert sender.flush(10)
    assert [type(error) for error in log.errors] == [error]
    assert (server.bodies[0], log.results) == (server.bodies[1], [("a", "counted")])


def test_order_is_kept_across_failures(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    server.plan(Count(), Lost(), problem(503), Count(), Lost())
    sender = make_sender(make_client(server.url), retry=FAST, max_items=2, max_wait=60)
    sender.add(*map(like, "abcdef"))
    assert sender.flush(10)
    assert server.targets == [["a", "b"], ["c", "d"], ["c", "d"], ["c", "d"], ["e", "f"], ["e", "f"]]


def test_retry_after_stops_the_sender(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    server.plan(problem(503, Retry_After="1"))
    sender = make_sender(make_client(server.url), retry=FAST, max_items=1)
    sender.add(like("a"))
    server.wait_for(1)
    sender.add(like("b"))
    assert sender.flush(10)
    assert server.targets == [["a"], ["a"], ["b"]]
    assert 1.0 <= server.requests[1].time - server.requests[0].time < 5


def test_refused_activity_is_reported_once(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    log = Log()
    outbox = MemoryOutbox()
    refusal = {"error": {"type": "/problems/unknown-action", "title": "Unknown action", "status": 422}}
    results = [{"outcome": "counted", "points": 2}, refusal, {"outcome": "stale", "points": 0}]
    server.plan(Reply(body={"results": results}))
    sender = make_sender(make_client(server.url), outbox, **log.callbacks)
    sender.add(*map(like, "abc"))
    assert sender.flush(10)
    assert (log.results, log.refused, log.errors) == ([("a", "counted"), ("c", "stale")], [("b", 422)], [])
    assert (len(server.requests), outbox.entries) == (1, {})


def test_item_with_temporary_error_is_repeated(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    log = Log()
    unavailable = {"error": {"type": "/problems/store-unavailable", "title": "Unavailable", "status": 503}}
    server.plan(Reply(body={"results": [unavailable, {"outcome": "counted", "points": 2}]}))
    sender = make_sender(make_client(server.url), retry=FAST, **log.callbacks)
    sender.add(like("a"), like("b"))
    assert sender.flush(10)
    assert server.targets == [["a", "b"], ["a"]]
    assert (log.results, len(log.errors)) == ([("b", "counted"), ("a", "counted")], 1)


def test_refused_array_is_divided(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    log = Log()
    # The array is refused because of `b`: first all, then its first half, then `b` alone.
    server.plan(problem(413), Count(), problem(413), problem(400), Count())
    sender = make_sender(make_client(server.url), retry=FAST, max_wait=60, max_items=4, **log.callbacks)
    sender.add(*map(like, "abcd"))
    assert sender.flush(10)
    assert server.targets == [["a", "b", "c", "d"], ["a", "b"], ["c", "d"], ["c"], ["d"]]
    assert log.refused == [("c", 400)]
    assert [target for target, _ in log.results] == ["a", "b", "d"]


def test_failing_callback_stops_nothing(
    make_client: Make, make_sender: Make, server: FaultServer, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("The callback fails.")

    sender = make_sender(make_client(server.url), on_result=fail, max_items=1)
    sender.add(like("a"), like("b"))
    assert sender.flush(10)
    assert server.targets == [["a"], ["b"]]
    assert [record.message for record in caplog.records] == ["A callback of the sender failed."] * 2


def test_failing_key_is_no_secret_in_the_log(
    make_client: Make, make_sender: Make, server: FaultServer, caplog: pytest.LogCaptureFixture
) -> None:
    answers = iter([True, False])

    def key() -> str:
        if next(answers):
            raise RuntimeError("secret-key")
        return "secret-key"

    sender = make_sender(make_client(server.url, key), retry=FAST)
    sender.add(like("a"))
    assert sender.flush(10)
    assert server.requests[0].headers["authorization"] == "Bearer secret-key"
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


def test_full_queue_refuses_activities(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    server.plan(Hang())
    sender = make_sender(make_client(server.url, attempt_timeout=0.5), retry=FAST, max_pending=3)
    sender.add(*map(like, "ab"))
    with pytest.raises(QueueFullError):
        sender.add(*map(like, "cd"))
    sender.add(like("c"))
    assert sender.pending == 3
    assert sender.flush(10)
    sender.add(like("e"))
    assert sender.flush(10)
    assert [target for targets in server.targets[1:] for target in targets] == ["a", "b", "c", "e"]


NO_ACTIVITIES: list[Any] = [
    {**like("a"), "target": object()},
    {**like("a"), "target": float("nan")},
    {**like("a"), "target": "a" * 300_000},
    {**like("a"), "user": True},
    {**like("a"), "user": 61000.5},
    {**like("a"), "user": 2.0**53},
    {**like("a"), "user": 2**64},
    {**like("a"), "author": [7]},
    {"action": "like", "target": "a"},
    ["at"],
    "at",
    None,
]


def test_invalid_activity_is_not_accepted(
    make_client: Make, make_sender: Make, server: FaultServer, tmp_path: Path
) -> None:
    path = tmp_path / "outbox"
    sender = make_sender(make_client(server.url), FileOutbox(path))
    for activity in NO_ACTIVITIES:
        with pytest.raises((TypeError, ValueError)):
            sender.add(like("a"), activity)
    assert (sender.pending, path.read_text()) == (0, "")


def test_integer_user_is_sent_as_text(
    make_client: Make, make_sender: Make, worker: Worker, is_async: bool
) -> None:
    log, user = Log(), 61001 if is_async else 61000
    client = make_client(worker.url, worker.key)
    sender = make_sender(client, **log.callbacks)
    sender.add(*(like("a", id) for id in (user, float(user), str(user))))  # type: ignore[arg-type]
    assert sender.flush(30)
    assert [outcome for _, outcome in log.results] == ["counted", "duplicate", "duplicate"]
    assert client.get_standing("all", str(user))["score"] == 2


def test_close_sends_the_rest(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    server.plan(problem(503), Lost())
    sender = make_sender(make_client(server.url), retry=FAST, max_items=2, max_wait=60)
    sender.add(*map(like, "abc"))
    sender.close()
    assert server.targets[-2:] == [["a", "b"], ["c"]]
    with pytest.raises(ClosedError):
        sender.add(like("d"))
    sender.close()


def test_close_returns_what_was_not_sent(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    server.plan(Count(), Hang())
    sender = make_sender(make_client(server.url), max_items=1)
    sender.add(*map(like, "abc"))
    server.wait_for(2)
    with pytest.raises(UnsentError) as caught:
        sender.close(timeout=0.1)
    assert [activity["target"] for activity in caught.value.activities] == ["b", "c"]
    assert all("at" in activity for activity in caught.value.activities)


def test_close_leaves_the_rest_in_the_outbox(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    server.plan(Count(), Hang())
    outbox = MemoryOutbox()
    sender = make_sender(make_client(server.url), outbox, max_items=1)
    sender.add(*map(like, "abc"))
    server.wait_for(2)
    sender.close(timeout=0.1)
    assert (outbox.is_closed, [entry.activity["target"] for entry in outbox.load()]) == (True, ["b", "c"])


def test_outbox_is_sent_first(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    outbox = MemoryOutbox(Entry(7, '{"target":"a"}'), Entry(9, '{"target":"b"}'))
    sender = make_sender(make_client(server.url), outbox, max_wait=60)
    server.wait_for(1)
    sender.add(like("c"))
    assert sender.flush(10)
    assert server.targets == [["a", "b"], ["c"]]
    assert (outbox.appends, outbox.entries) == ([[10]], {})


def test_activity_that_is_not_stored_is_not_accepted(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    outbox = MemoryOutbox()
    sender = make_sender(make_client(server.url), outbox, max_pending=1)
    outbox.failure = OSError("The disk is full.")
    for _ in range(2):
        with pytest.raises(OSError, match="The disk is full"):
            sender.add(like("a"))
    outbox.failure = None
    sender.add(like("b"))
    assert sender.flush(10)
    assert server.targets == [["b"]]


def test_flush_reports_what_has_not_arrived(make_client: Make, make_sender: Make, server: FaultServer) -> None:
    server.plan(Hang())
    sender = make_sender(make_client(server.url, attempt_timeout=1), retry=FAST)
    assert sender.flush(0)
    sender.add(like("a"))
    assert not sender.flush(0.1)
    assert sender.flush(10)


def test_sender_counts_at_the_worker(make_client: Make, make_sender: Make, worker: Worker, unique: str) -> None:
    log = Log()
    client = make_client(worker.url, worker.key)
    with FaultServer(Count(), worker.url) as proxy:
        # The Worker counts, and its response is lost. Then the server accepts what is sent again.
        proxy.plan(Lost(forward=True), Lost(), problem(503))
        lossy = make_sender(make_client(proxy.url, worker.key), retry=FAST, max_items=100, max_wait=60)
        lossy.add(*(like(f"p{number}", unique) for number in range(100)))
        assert lossy.flush(30)
    sender = make_sender(client, max_wait=60, **log.callbacks)
    sender.add(*(like(f"p{number}", unique) for number in range(150)))
    sender.add({"user": unique, "action": "dance", "target": "a"})
    assert sender.flush(30)
    assert [outcome for _, outcome in log.results] == ["duplicate"] * 100 + ["counted"] * 50
    assert log.refused == [("a", 422)]
    assert client.get_standing("all", unique)["score"] == 300


def test_repeated_activity_keeps_its_day(make_client: Make, make_sender: Make, worker: Worker, unique: str) -> None:
    # A visit counts once a day. Sent again on another day, as after a restart, it must not count again; and a like that
    # is sent again after its undo must stay undone.
    log = Log()
    day = (datetime.now(UTC) - timedelta(days=1)).date()
    texts = [
        f'{{"user":"{unique}","action":"visit","target":"/a","at":"{day}T23:59:59.999Z"}}',
        f'{{"user":"{unique}","action":"like","target":"a","at":"{day}T10:00:00.001Z"}}',
        f'{{"user":"{unique}","action":"like","target":"a","undo":true,"at":"{day}T10:00:00.002Z"}}',
    ]
    entries = [Entry(id, text) for id, text in enumerate(texts, start=1)]
    client = make_client(worker.url, worker.key)
    for _ in range(2):
        assert make_sender(client, MemoryOutbox(*entries), **log.callbacks).flush(30)
    outcomes = [outcome for _, outcome in log.results]
    assert outcomes == ["counted", "counted", "undone", "duplicate", "stale", "nothing-to-undo"]
    assert client.get_standing("all", unique)["score"] == 1


def test_threads_share_a_sender(server: FaultServer) -> None:
    with Client(server.url) as client, BatchSender(client, max_items=50, max_wait=0.01) as sender:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: sender.add(like(str(number))), range(2000)))
    targets = [target for targets in server.targets for target in targets]
    assert sorted(map(int, targets)) == list(range(2000))


def test_one_append_stores_activities_of_many_tasks(server: FaultServer) -> None:
    outbox = MemoryOutbox()
    first, release = Event(), Event()
    append = outbox.append

    def slow(entries: Sequence[Entry]) -> None:
        first.set()
        release.wait(10)
        append(entries)

    outbox.append = slow  # type: ignore[method-assign]

    async def main() -> None:
        async with AsyncClient(server.url) as client, AsyncBatchSender(client, outbox) as sender:
            tasks = [asyncio.create_task(sender.add(like("0")))]
            await asyncio.to_thread(first.wait, 10)
            tasks += [asyncio.create_task(sender.add(like(str(number)))) for number in range(1, 100)]
            cancelled = tasks.pop()
            await asyncio.sleep(0)
            cancelled.cancel()
            release.set()
            await asyncio.gather(*tasks)

    asyncio.run(main())
    assert [len(ids) for ids in outbox.appends] == [1, 99]
    # The cancelled one was being stored, so it is sent too.
    assert [target for targets in server.targets for target in targets] == [str(number) for number in range(100)]


def test_cancelled_close_stops(server: FaultServer) -> None:
    server.default = Hang()
    outbox = MemoryOutbox()

    async def main() -> None:
        async with AsyncClient(server.url) as client:
            sender = AsyncBatchSender(client, outbox)
            await sender.start()
            await sender.add(like("a"))
            async with asyncio.timeout(0.2):
                await sender.close()

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert (outbox.is_closed, len(outbox.entries)) == (True, 1)


def test_interpreter_exit_sends_the_rest(server: FaultServer) -> None:
    program = f"""
from activity_rank import BatchSender, Client
sender = BatchSender(Client("{server.url}"), max_wait=60)
sender.add({{"user": "42", "action": "like", "target": "a"}})
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)
    assert server.targets == [["a"]]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_process_is_refused(server: FaultServer) -> None:
    with Client(server.url) as client, BatchSender(client) as sender:
        child = os.fork()
        if not child:
            try:
                sender.add(like("a"))
            except RuntimeError:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.parametrize(
    "options", [{"max_items": 0}, {"max_items": 501}, {"max_wait": -1}, {"max_pending": 0}], ids=str
)
def test_invalid_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"`{next(iter(options))}`"):
        SendQueue(**{"max_items": 500, "max_wait": 1.0, "max_pending": 10, "retry": FAST, **options})


def test_clock_that_is_set_back_keeps_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = SendQueue(500, 1.0, 10, FAST)
    instants = []
    for second in (100, 90, 101, 60, 10):
        monkeypatch.setattr(time, "time_ns", lambda: second * 10**9)  # noqa: B023
        instants.append(queue.prepare([like("a")])[0].activity["at"][14:19])
    # A step of at most 30 seconds changes nothing; after a longer one the clock is right.
    assert instants == ["01:40", "01:40", "01:41", "01:00", "00:10"]
