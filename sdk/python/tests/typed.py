"""What a type checker must accept and refuse. Only mypy reads this: an `ignore` that is not needed is an error."""

from typing import assert_type

from activity_rank import AsyncBatchSender, AsyncClient, BatchSender, Client, FileOutbox, Outbox
from activity_rank.types import Board, Outcome, Problem


def reads(client: Client) -> list[str]:
    board = client.get_board("week", limit=3)
    assert_type(board, Board)
    assert_type(client.get_page(), str)
    assert_type(client.delete_target("post-7"), None)
    client.get_board("decade")  # type: ignore[arg-type]
    client.get_board("week", 3)  # type: ignore[call-arg]
    client.get_board()  # type: ignore[call-arg]
    board["entry"]  # type: ignore[typeddict-item]
    return [entry["user"].get("name", entry["user"]["id"]) for entry in board["entries"]]


def writes(client: Client, sender: BatchSender) -> None:
    outcome = client.count_activity({"user": "42", "action": "like", "target": "post-7"})
    assert_type(outcome, Outcome)
    for result in client.count_activities([])["results"]:
        if "error" in result:
            assert_type(result["error"], Problem)
        else:
            assert_type(result, Outcome)
    client.count_activity({"user": "42", "action": "like"})  # type: ignore[typeddict-item]
    client.put_event("e", {"title": "An event", "from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z"})
    client.adjust_points("42", {"id": "case-17", "undo": True, "reason": "A mistake"})
    sender.add({"user": 42, "action": "like", "target": "a", "grops": []})  # type: ignore[typeddict-unknown-key]


async def awaits(client: AsyncClient, sender: AsyncBatchSender) -> None:
    assert_type(await client.get_board("week"), Board)
    async for board in client.watch_board("week"):
        assert_type(board, Board)
    client.get_board("week")  # type: ignore[unused-coroutine]
    await sender.add({"user": 42, "action": "like", "target": "post-7"})


def stores(outbox: FileOutbox) -> Outbox:
    return outbox
