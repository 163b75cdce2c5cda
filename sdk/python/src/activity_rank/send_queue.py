"""What a sender has accepted: which activities to send next and when, and what a response means for them.

Does no input or output and reads no clock, so that both senders share it. Times are seconds of a monotonic clock.
"""

import json
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import cast

from .errors import ApiError, QueueFullError, RequestError, ResponseError, is_temporary
from .identity import user_id
from .outbox import Entry
from .retry import Retry
from .types import Activity, Outcome, Outcomes, Problem

MAX_ITEMS = 500  # in an array, the service's limit for services
MAX_BYTES = 200_000  # of an array; the service's limit is 256 KiB
# ms by which the clock may be set back without an effect on the order of instants. The service accepts instants of the
# next minute.
_CLOCK_STEP = 30_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The service refuses the array and not its items: without the item that is to blame, it accepts the others.
_REFUSED_ARRAY = (400, 413, 415, 422)

logger = logging.getLogger("activity_rank")

OnResult = Callable[[Activity, Outcome], None]
OnRefused = Callable[[Activity, Problem], None]
OnError = Callable[[RequestError, float], None]


@dataclass(frozen=True, slots=True)
class Settlement:
    """What is known after a request."""

    results: Sequence[tuple[Entry, Outcome]] = ()
    refused: Sequence[tuple[Entry, Problem]] = ()
    error: RequestError | None = None
    """Why activities are sent again, after `delay` seconds."""
    delay: float = 0.0

    @property
    def ids(self) -> list[int]:
        """The entries that need not be sent again."""
        return [entry.id for entry, _ in (*self.results, *self.refused)]


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The functions that a sender calls. Their exceptions are logged, and have no other effect."""

    on_result: OnResult | None = None
    on_refused: OnRefused | None = None
    on_error: OnError | None = None

    def report(self, settlement: Settlement) -> None:
        """Calls the functions after a request."""
        try:
            if self.on_result:
                for entry, outcome in settlement.results:
                    self.on_result(entry.activity, outcome)
            for entry, problem in settlement.refused:
                if self.on_refused:
                    self.on_refused(entry.activity, problem)
                else:
                    logger.error("The service refused an activity: %s", ApiError(problem))
            if settlement.error:
                if self.on_error:
                    self.on_error(settlement.error, settlement.delay)
                else:
                    logger.warning("%s Retry in %.1f s.", settlement.error, settlement.delay)
        except Exception:
            logger.exception("A callback of the sender failed.")


@dataclass(slots=True)
class SendQueue:
    """The activities that have not arrived, in the order in which they were accepted."""

    max_items: int
    max_wait: float
    max_pending: int
    retry: Retry
    _pending: dict[int, tuple[Entry, float]] = field(default_factory=dict)  # with the time at which they are due
    _reserved: int = 0  # activities that are not stored yet
    _last_id: int = 0
    _last_at: int = 0  # Unix ms
    _limit: int = 0  # items of the next request
    _urgent: int = 0  # the last entry that does not wait for others
    _failures: int = 0
    _retry_at: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.max_items <= MAX_ITEMS:
            raise ValueError(f"`max_items` must be from 1 to {MAX_ITEMS}.")
        if self.max_wait < 0 or self.max_pending < 1:
            raise ValueError("`max_wait` must be at least 0, and `max_pending` at least 1.")
        self._limit = self.max_items

    def __len__(self) -> int:
        """Returns the number of activities that have not arrived."""
        return len(self._pending)

    def restore(self, entries: Sequence[Entry]) -> None:
        """Adds what the outbox has from an earlier process. It is sent at once."""
        self._pending.update((entry.id, (entry, 0.0)) for entry in entries)
        self._last_id = self._urgent = max(self._pending, default=0)

    def prepare(self, activities: Iterable[Activity]) -> list[Entry]:
        """Returns entries for activities, and reserves room for them until `add` or `release`.

        An activity without `at` gets the current instant. With it, it counts on the boards of the day on which it was
        accepted, and repeating it later changes nothing: it is a duplicate, or older than the last change.
        """
        texts = [self._text(activity) for activity in activities]
        if len(self._pending) + self._reserved + len(texts) > self.max_pending:
            raise QueueFullError(f"{self.max_pending} activities have not arrived yet.")
        first = self._last_id + 1
        self._last_id += len(texts)
        self._reserved += len(texts)
        return [Entry(id, text) for id, text in enumerate(texts, start=first)]

    def add(self, entries: Sequence[Entry], now: float) -> None:
        """Adds entries that are stored."""
        self.release(entries)
        self._pending.update((entry.id, (entry, now + self.max_wait)) for entry in entries)

    def release(self, entries: Sequence[Entry]) -> None:
        """Returns the room of entries that could not be stored."""
        self._reserved -= len(entries)

    def flush(self) -> int:
        """Makes everything due that was added. Returns the last id, for `is_settled`."""
        self._urgent = self._last_id
        return self._urgent

    def is_settled(self, last: int) -> bool:
        """Returns whether nothing up to this id has to be sent."""
        return next(iter(self._pending), last + 1) > last

    def entries(self) -> list[Entry]:
        """Returns what has not arrived."""
        return [entry for entry, _ in self._pending.values()]

    def due_in(self, now: float) -> float | None:
        """Returns the seconds until the next request, at most 0 if it is due, or `None` without anything to send."""
        if not self._pending:
            return None
        first, (_, due) = next(iter(self._pending.items()))
        if first <= self._urgent or len(self._pending) >= self.max_items:
            due = now
        return max(due, self._retry_at) - now

    def take(self) -> list[Entry]:
        """Returns the entries of the next request, at least one. They stay in the queue until they are settled."""
        batch: list[Entry] = []
        size = 0
        for entry, _ in islice(self._pending.values(), self._limit):
            size += len(entry.text) + 1
            if batch and size > MAX_BYTES:
                break
            batch.append(entry)
        return batch

    def succeed(self, batch: Sequence[Entry], response: Outcomes, now: float) -> Settlement:
        """Settles a request that was answered with a result for each activity."""
        items = _items(response)
        if len(items) != len(batch):
            return self.fail(batch, ResponseError("The response has no result for some activities."), now)
        results: list[tuple[Entry, Outcome]] = []
        refused: list[tuple[Entry, Problem]] = []
        temporary: Problem | None = None
        for entry, item in zip(batch, items, strict=True):
            problem = cast(Problem | None, item.get("error"))
            if problem is None:
                results.append((entry, cast(Outcome, item)))
            elif is_temporary(problem["status"]):
                temporary = problem
                continue
            else:
                refused.append((entry, problem))
            del self._pending[entry.id]
        self._limit = self.max_items
        if temporary is None:
            self._failures = 0
            return Settlement(results, refused)
        error = ApiError(temporary)
        return Settlement(results, refused, error, self._back_off(error, now))

    def fail(self, batch: Sequence[Entry], error: RequestError, now: float) -> Settlement:
        """Settles a request that failed. Its activities are sent again, unless the service can never accept them."""
        if not isinstance(error, ApiError) or error.status not in _REFUSED_ARRAY:
            # 401, 403 and 404 concern the key or the address. They are no reason to drop what was accepted.
            return Settlement(error=error, delay=self._back_off(error, now))
        if len(batch) > 1:
            self._limit = len(batch) // 2
            return Settlement()
        del self._pending[batch[0].id]
        self._limit = self.max_items
        return Settlement(refused=[(batch[0], error.problem)])

    def _back_off(self, error: RequestError, now: float) -> float:
        self._failures += 1
        delay = self.retry.delay(self._failures, error)
        self._retry_at = now + delay
        return delay

    def _text(self, activity: Activity) -> str:
        """Returns an activity as JSON, with its instant."""
        if not isinstance(activity, dict):
            raise TypeError("An activity must be a dict.")
        fields: dict[str, object] = {**activity, "user": user_id(activity.get("user"))}
        if fields.get("author") is not None:
            fields["author"] = user_id(fields["author"], "author")
        if "at" not in fields:
            fields["at"] = self._instant()
        text = json.dumps(fields, separators=(",", ":"), allow_nan=False)
        if len(text) > MAX_BYTES:
            raise ValueError(f"An activity must have at most {MAX_BYTES} bytes.")
        return text

    def _instant(self) -> str:
        """Returns the current instant, in milliseconds as the service stores it."""
        now = time.time_ns() // 1_000_000
        if not now < self._last_at <= now + _CLOCK_STEP:
            self._last_at = now
        instant = _EPOCH + timedelta(milliseconds=self._last_at)
        return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _items(response: object) -> list[dict[str, object]]:
    """Returns the results of a response, or an empty list if it is not of this service."""
    items = response.get("results") if isinstance(response, dict) else None
    if not isinstance(items, list):
        return []
    for item in items:
        problem = item.get("error") if isinstance(item, dict) else None
        is_problem = isinstance(problem, dict) and isinstance(problem.get("status"), int)
        if not is_problem and not (isinstance(item, dict) and isinstance(item.get("outcome"), str)):
            return []
    return items


def array(batch: Sequence[Entry]) -> bytes:
    """Returns the body of a request."""
    return f"[{','.join(entry.text for entry in batch)}]".encode()
