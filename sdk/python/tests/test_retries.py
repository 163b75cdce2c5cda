"""Retries, timeouts and errors of calls, against a server that fails."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from activity_rank import ApiError, AsyncClient, Client, ClosedError, NetworkError, ResponseError, Retry
from activity_rank.retry import parse_retry_after
from fault_server import FaultServer, Hang, Lost, Reply, problem

FAST = Retry(base_delay=0.01)
BOARD = Reply(body={"total": 0})


@pytest.mark.parametrize("failure", [problem(503), problem(500), problem(429), problem(408), Reply(502), Lost()])
def test_temporary_failure_is_retried(make_client: Callable[..., Any], server: FaultServer, failure: Any) -> None:
    server.plan(failure, failure, BOARD)
    assert make_client(server.url, retry=FAST).get_board("day") == {"total": 0}
    assert [request.path for request in server.requests] == ["/v1/ranking/day"] * 3


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 409, 422])
def test_final_failure_is_not_retried(make_client: Callable[..., Any], server: FaultServer, status: int) -> None:
    server.plan(problem(status, "some-problem"))
    with pytest.raises(ApiError) as caught:
        make_client(server.url, retry=FAST).get_board("day")
    assert (caught.value.status, caught.value.type, len(server.requests)) == (status, "/problems/some-problem", 1)


def test_attempts_are_limited(make_client: Callable[..., Any], server: FaultServer) -> None:
    server.default = problem(503)
    with pytest.raises(ApiError) as caught:
        make_client(server.url, retry=Retry(attempts=3, base_delay=0.01)).get_board("day")
    assert (caught.value.status, len(server.requests)) == (503, 3)


def test_body_and_key_are_sent_again(make_client: Callable[..., Any], server: FaultServer) -> None:
    server.plan(Lost(), Reply(body={"outcome": "counted", "points": 2}))
    activity = {"user": "42", "action": "like", "target": "é"}
    make_client(server.url, retry=FAST).count_activity(activity)
    assert server.bodies == [activity, activity]
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer test-service-key"}


def test_retry_after_seconds_are_waited_for(make_client: Callable[..., Any], server: FaultServer) -> None:
    server.plan(problem(429, Retry_After="1"), BOARD)
    make_client(server.url, retry=FAST).get_board("day")
    first, second = (request.time for request in server.requests)
    assert 1.0 <= second - first < 5.0


def test_retry_after_date_is_waited_for(make_client: Callable[..., Any], server: FaultServer) -> None:
    # HTTP dates have whole seconds, so the wait is longer than one and shorter than two.
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.plan(problem(503, Retry_After=date), BOARD)
    make_client(server.url, retry=FAST).get_board("day")
    first, second = (request.time for request in server.requests)
    assert 1.0 <= second - first < 6.0


def test_retry_after_beyond_timeout_fails_at_once(make_client: Callable[..., Any], server: FaultServer) -> None:
    server.plan(problem(429, Retry_After="60"))
    start = time.monotonic()
    with pytest.raises(ApiError) as caught:
        make_client(server.url, timeout=5).get_board("day")
    assert (caught.value.retry_after, len(server.requests)) == (60.0, 1)
    assert time.monotonic() - start < 4


def test_timeout_ends_a_call(make_client: Callable[..., Any], server: FaultServer) -> None:
    server.default = Hang()
    start = time.monotonic()
    with pytest.raises(NetworkError):
        make_client(server.url).get_board("day", timeout=0.3)
    assert 0.25 < time.monotonic() - start < 5


def test_attempt_timeout_is_retried(make_client: Callable[..., Any], server: FaultServer) -> None:
    server.plan(Hang(), BOARD)
    assert make_client(server.url, attempt_timeout=0.3, retry=FAST).get_board("day") == {"total": 0}


def test_no_server_is_a_network_error(make_client: Callable[..., Any]) -> None:
    with FaultServer(BOARD) as stopped:
        pass
    with pytest.raises(NetworkError) as caught:
        make_client(stopped.url, retry=FAST).get_board("day")
    assert str(caught.value).startswith("GET /v1/ranking/day: ConnectError")


def test_response_that_is_not_json(make_client: Callable[..., Any], server: FaultServer) -> None:
    server.plan(Reply(body=b"<html>"))
    with pytest.raises(ResponseError):
        make_client(server.url, retry=Retry(attempts=1)).get_board("day")


def test_error_without_problem_document(make_client: Callable[..., Any], server: FaultServer) -> None:
    server.plan(Reply(404, {"Content-Type": "text/html"}, b"<html>"))
    with pytest.raises(ApiError) as caught:
        make_client(server.url).get_board("day")
    assert caught.value.problem == {"type": "about:blank", "title": "Not Found", "status": 404}


def test_stream_reconnects_after_the_last_event(make_client: Callable[..., Any], server: FaultServer) -> None:
    def event(id: str, total: int) -> Reply:
        text = f'retry: 10\nevent: board\nid: {id}\ndata: {{"total":{total}}}\n\n: a comment\n\n'
        return Reply(200, {"Content-Type": "text/event-stream"}, text.encode())

    server.plan(event("v1", 1), problem(503), Lost(), event("v2", 2))
    boards = make_client(server.url, retry=FAST).watch_board("day")
    assert [next(boards), next(boards)] == [{"total": 1}, {"total": 2}]
    boards.close()
    assert [request.headers.get("last-event-id") for request in server.requests] == [None, "v1", "v1", "v1"]


def test_cancelled_task_ends_its_call(server: FaultServer) -> None:
    server.default = Hang()

    async def main() -> None:
        async with AsyncClient(server.url) as client:
            async with asyncio.timeout(0.3):
                await client.get_board("day")

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert len(server.requests) == 1


def test_close_ends_a_wait_for_a_retry(server: FaultServer) -> None:
    server.default = problem(503, Retry_After="20")
    client = Client(server.url)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(client.get_board, "day")
        server.wait_for(1)
        client.close()
        with pytest.raises(ClosedError):
            call.result(timeout=10)


def test_closed_client_refuses_calls(make_client: Callable[..., Any], server: FaultServer) -> None:
    client = make_client(server.url)
    client.close()
    with pytest.raises(ClosedError):
        client.get_board("day")


@pytest.mark.parametrize("url", ["example.com", "ftp://example.com", "https://", "https://a:b@c", "https://a/?b"])
def test_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="`url`") as caught:
        Client(url)
    assert "a:b" not in str(caught.value)


def test_key_is_in_no_text(server: FaultServer) -> None:
    secret = "secret-\n-key"
    with pytest.raises(ValueError, match="`key`") as caught:
        Client(server.url, secret)
    assert "secret" not in str(caught.value)
    server.default = Lost()
    with Client(server.url, "secret-key", retry=FAST) as client, pytest.raises(NetworkError) as failed:
        client.get_board("day")
    assert "secret" not in repr(client) + repr(failed.value) + repr(failed.value.__cause__)


def test_jitter_is_full_and_bounded() -> None:
    retry = Retry(base_delay=1, max_delay=8)
    for failures, longest in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (10_000, 8)):
        delays = [retry.delay(failures, NetworkError("")) for _ in range(1000)]
        assert 0 <= min(delays) < 0.1 * longest
        assert 0.9 * longest < max(delays) <= longest


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        (" 7 ", 7.0),
        ("99999999999", 3600.0),
        ("Fri, 20 Nov 2026 08:00:30 GMT", 30.0),
        ("Fri, 20 Nov 2026 07:00:00 GMT", 0.0),
        ("Sat, 21 Nov 2026 08:00:00 GMT", 3600.0),
        ("-1", None),
        ("1.5", None),
        ("+3", None),
        ("1e3", None),
        ("Fri, 20 Nov 2026 08:00:30 +99999999999999", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_parsed(value: str, seconds: float | None) -> None:
    assert parse_retry_after({"Retry-After": value, "Date": "Fri, 20 Nov 2026 08:00:00 GMT"}) == seconds
