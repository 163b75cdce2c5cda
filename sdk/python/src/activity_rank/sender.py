"""Sends activity in arrays, from a thread."""

import atexit
import os
import time
from threading import Condition, Lock, Thread, current_thread
from types import TracebackType
from typing import Self

from . import routes
from .client import Client
from .errors import ClosedError, NetworkError, RequestError, UnsentError
from .outbox import Entry, Outbox
from .retry import Retry
from .send_queue import MAX_ITEMS, Callbacks, OnError, OnRefused, OnResult, SendQueue, Settlement, array, logger
from .types import Activity, Outcomes

SENDER_RETRY = Retry(base_delay=1.0, max_delay=60.0)


class BatchSender:
    """Accepts activities, and sends them in arrays until they have arrived. May be shared by threads.

        with Client(url, key) as client, BatchSender(client, outbox=FileOutbox("activity.outbox")) as sender:
            sender.add({"user": "42", "action": "like", "target": "post-7"})

    An array is sent `max_wait` seconds after its first activity, or once there are `max_items`. One request is made at
    a time, so activities arrive in the order in which they were accepted. Each gets its instant `at` when it is
    accepted: it counts for that day, and once, however often it is sent. This needs a service key with the scope
    `activity`, and a clock of the machine that is at most a minute fast.

    Activities that the service refuses (4xx) are given to `on_refused` and not sent again. After all other failures,
    also 401, 403 and 404 of the whole request, everything is sent again.

    `FileOutbox` stores what was accepted: a crash loses nothing. Without an outbox, `close` sends what is left, which
    also happens when the interpreter exits. A process that is ended by a signal does not exit in this sense unless it
    handles the signal. A process that forks must create its senders after the fork.
    """

    def __init__(
        self,
        client: Client,
        outbox: Outbox | None = None,
        *,
        max_items: int = MAX_ITEMS,
        max_wait: float = 1.0,
        max_pending: int = 100_000,
        close_timeout: float = 30.0,
        retry: Retry = SENDER_RETRY,
        on_result: OnResult | None = None,
        on_refused: OnRefused | None = None,
        on_error: OnError | None = None,
    ) -> None:
        """Starts the thread, which sends what is in the outbox first.

        client: sends the requests. It must stay open longer than the sender.
        outbox: stores what was accepted. It is closed with the sender.
        max_items: activities of one request, 1 to 500.
        max_wait: seconds that an activity waits for others.
        max_pending: activities that may wait, more than 0. With more, `add` raises `QueueFullError`.
        close_timeout: seconds that `close` waits by default.
        retry: the back-off after failures. Retries go on until the sender is closed.
        on_result: called with each activity that has arrived, and its outcome.
        on_refused: called with each activity that can never count, and the problem. Without it, the problem is logged.
        on_error: called with the error of a request, and the seconds until the next. Without it, both are logged.

        The functions are called in the thread of the sender, which waits for them.
        """
        self._client = client
        self._outbox = outbox
        self._close_timeout = close_timeout
        self._callbacks = Callbacks(on_result, on_refused, on_error)
        self._queue = SendQueue(max_items, max_wait, max_pending, retry)
        if outbox:
            self._queue.restore(outbox.load())
        self._adding = Lock()  # one `add` at a time: the outbox has the order of the queue
        self._changed = Condition()  # guards everything below, and the queue
        self._is_sending = False
        self._is_closed = False
        self._is_stopped = False
        self._process = os.getpid()
        self._thread = Thread(target=self._run, name="activity-rank-sender", daemon=True)
        self._thread.start()
        atexit.register(self._close_at_exit)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pending(self) -> int:
        """The number of accepted activities that have not arrived."""
        with self._changed:
            return len(self._queue)

    def add(self, *activities: Activity) -> None:
        """Accepts activities, all or none. With an outbox they are stored once this returns.

        Raises `QueueFullError`, `ClosedError`, the exceptions of the outbox (`OutboxError`), `TypeError` or
        `ValueError` if JSON cannot represent an activity, and `RuntimeError` after a fork.
        """
        if not activities:
            return
        if os.getpid() != self._process:
            raise RuntimeError("A BatchSender must be created after the fork: threads end with it.")
        with self._adding:
            with self._changed:
                if self._is_closed:
                    raise ClosedError("The sender is closed.")
                entries = self._queue.prepare(activities)
            try:
                if self._outbox:
                    self._outbox.append(entries)
            except BaseException:
                with self._changed:
                    self._queue.release(entries)
                raise
            with self._changed:
                self._queue.add(entries, time.monotonic())
                self._changed.notify_all()

    def flush(self, timeout: float | None = None) -> bool:
        """Sends what was accepted so far without waiting for more. Returns whether all of it has arrived or was
        refused within `timeout` seconds.
        """
        with self._changed:
            last = self._queue.flush()
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_stopped or self._is_settled(last), timeout)
            return self._is_settled(last)

    def close(self, timeout: float | None = None) -> None:
        """Sends what was accepted, then stops, after `timeout` seconds at the latest.

        What has not arrived by then stays in the outbox. Without one, raises `UnsentError`, which has it.
        """
        with self._adding, self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            self._queue.flush()
            self._changed.notify_all()
        atexit.unregister(self._close_at_exit)
        if current_thread() is not self._thread:
            self._thread.join(self._close_timeout if timeout is None else timeout)
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
            rest = self._queue.entries()
        if self._outbox:
            self._outbox.close()
        elif rest:
            raise UnsentError([entry.activity for entry in rest])

    def _is_settled(self, last: int) -> bool:
        return not self._is_sending and self._queue.is_settled(last)

    def _close_at_exit(self) -> None:
        if os.getpid() != self._process:
            return
        try:
            self.close()
        except UnsentError as error:
            logger.error("%s", error)

    def _run(self) -> None:
        while True:
            with self._changed:
                while (delay := self._queue.due_in(time.monotonic())) is None or delay > 0:
                    if self._is_stopped or (self._is_closed and delay is None):
                        return
                    self._changed.wait(delay)
                if self._is_stopped:
                    return
                batch = self._queue.take()
                self._is_sending = True
            response: Outcomes | RequestError
            try:
                response = self._request(batch)
            except RequestError as error:
                response = error
            except Exception as error:
                # Such as one of the function that returns the key. Its text may be secret.
                response = NetworkError(f"The request was not sent: {type(error).__name__}.")
            with self._changed:
                # `close` has reported the activities as unsent already.
                if self._is_stopped:
                    return
                now = time.monotonic()
                if isinstance(response, RequestError):
                    settlement = self._queue.fail(batch, response, now)
                else:
                    settlement = self._queue.succeed(batch, response, now)
            self._settle(settlement)
            with self._changed:
                self._is_sending = False
                self._changed.notify_all()

    def _request(self, batch: list[Entry]) -> Outcomes:
        request = self._client._deployment.request(routes.COUNT_ACTIVITIES, body=array(batch))
        return self._client._attempt(routes.COUNT_ACTIVITIES, request)

    def _settle(self, settlement: Settlement) -> None:
        if self._outbox and settlement.ids:
            try:
                self._outbox.remove(settlement.ids)
            except Exception:
                # They are sent once more by the next process, and are duplicates then.
                logger.exception("The outbox could not remove activities that have arrived.")
        self._callbacks.report(settlement)
