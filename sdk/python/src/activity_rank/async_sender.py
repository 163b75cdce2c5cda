"""Sends activity in arrays, from a task."""

import asyncio
from types import TracebackType
from typing import Self

from . import routes
from .async_client import AsyncClient
from .errors import ClosedError, NetworkError, RequestError, UnsentError
from .outbox import Entry, Outbox
from .retry import Retry
from .send_queue import MAX_ITEMS, Callbacks, OnError, OnRefused, OnResult, SendQueue, Settlement, array, logger
from .sender import SENDER_RETRY
from .types import Activity, Outcomes


class AsyncBatchSender:
    """Accepts activities, and sends them in arrays until they have arrived. Belongs to one event loop.

        async with AsyncClient(url, key) as client, AsyncBatchSender(client, FileOutbox("activity.outbox")) as sender:
            await sender.add({"user": "42", "action": "like", "target": "post-7"})

    Works as `BatchSender`, whose description holds for it, with a task in the place of the thread. The methods of the
    outbox run in threads, one at a time; one call of `append` stores the activities of all tasks that wait for it.
    Nothing is sent when the interpreter exits: the sender must be closed.
    """

    def __init__(
        self,
        client: AsyncClient,
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
        """Creates a sender, which sends nothing before `start`. `BatchSender` has the same parameters.

        The functions are called in the event loop and must not block.
        """
        self._client = client
        self._outbox = outbox
        self._close_timeout = close_timeout
        self._callbacks = Callbacks(on_result, on_refused, on_error)
        self._queue = SendQueue(max_items, max_wait, max_pending, retry)
        self._changed = asyncio.Condition()
        self._storing = asyncio.Lock()  # one call of the outbox at a time
        self._unstored: list[tuple[list[Entry], asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_sending = False
        self._is_closed = False
        self._is_stopped = False

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def start(self) -> None:
        """Starts the task, which sends what is in the outbox first. `async with` calls this."""
        if self._task or self._is_closed:
            raise RuntimeError("An AsyncBatchSender can be started once.")
        if self._outbox:
            self._queue.restore(await asyncio.to_thread(self._outbox.load))
        self._task = asyncio.create_task(self._run(), name="activity-rank-sender")

    @property
    def pending(self) -> int:
        """The number of accepted activities that have not arrived."""
        return len(self._queue)

    async def add(self, *activities: Activity) -> None:
        """Accepts activities, all or none. With an outbox they are stored once this returns.

        If the call is cancelled while they are stored, they are accepted nevertheless. Raises `QueueFullError`,
        `ClosedError`, the exceptions of the outbox (`OutboxError`), and `TypeError` or `ValueError` if JSON cannot
        represent an activity.
        """
        if self._is_closed or self._task is None:
            raise ClosedError("The sender is closed, or was not started.")
        if not activities:
            return
        entries = self._queue.prepare(activities)
        if self._outbox is None:
            await self._add(entries)
            return
        stored = asyncio.get_running_loop().create_future()
        self._unstored.append((entries, stored))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write(self._outbox), name="activity-rank-outbox")
        await stored

    async def flush(self, timeout: float | None = None) -> bool:
        """Sends what was accepted so far without waiting for more. Returns whether all of it has arrived or was
        refused within `timeout` seconds.
        """
        async with self._changed:
            last = self._queue.flush()
            self._changed.notify_all()
            try:
                async with asyncio.timeout(timeout):
                    await self._changed.wait_for(lambda: self._is_stopped or self._is_settled(last))
            except TimeoutError:
                pass
            return self._is_settled(last)

    async def close(self, timeout: float | None = None) -> None:
        """Sends what was accepted, then stops, after `timeout` seconds at the latest, or when it is cancelled.

        What has not arrived by then stays in the outbox. Without one, raises `UnsentError`, which has it.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self._writer:
                await asyncio.wait([self._writer])
            if self._task:
                async with self._changed:
                    self._queue.flush()
                    self._changed.notify_all()
                await asyncio.wait([self._task], timeout=self._close_timeout if timeout is None else timeout)
        finally:
            self._is_stopped = True
            if self._task:
                self._task.cancel()
                await asyncio.wait([self._task])
            async with self._changed:
                self._changed.notify_all()
            if self._outbox:
                await asyncio.to_thread(self._outbox.close)
        if self._outbox is None and (rest := self._queue.entries()):
            raise UnsentError([entry.activity for entry in rest])

    def _is_settled(self, last: int) -> bool:
        return not self._is_sending and self._queue.is_settled(last)

    async def _add(self, entries: list[Entry]) -> None:
        # Without an interruption after `prepare`: the queue has the order of the calls.
        self._queue.add(entries, _now())
        async with self._changed:
            self._changed.notify_all()

    async def _write(self, outbox: Outbox) -> None:
        """Stores what waits for it, until nothing does."""
        while self._unstored:
            waiting, self._unstored = self._unstored, []
            entries = [entry for part, _ in waiting for entry in part]
            error: Exception | None = None
            try:
                async with self._storing:
                    await asyncio.to_thread(outbox.append, entries)
            except Exception as caught:
                error = caught
                self._queue.release(entries)
            else:
                await self._add(entries)
            for _, stored in waiting:
                # The call may have been cancelled.
                if not stored.done():
                    stored.set_exception(error) if error else stored.set_result(None)
        self._writer = None

    async def _run(self) -> None:
        while True:
            async with self._changed:
                while (delay := self._queue.due_in(_now())) is None or delay > 0:
                    if self._is_closed and delay is None:
                        return
                    try:
                        async with asyncio.timeout(delay):
                            await self._changed.wait()
                    except TimeoutError:
                        pass
                batch = self._queue.take()
                self._is_sending = True
            response: Outcomes | RequestError
            try:
                response = await self._request(batch)
            except RequestError as error:
                response = error
            except Exception as error:
                # Such as one of the function that returns the key. Its text may be secret.
                response = NetworkError(f"The request was not sent: {type(error).__name__}.")
            if isinstance(response, RequestError):
                settlement = self._queue.fail(batch, response, _now())
            else:
                settlement = self._queue.succeed(batch, response, _now())
            await self._settle(settlement)
            async with self._changed:
                self._is_sending = False
                self._changed.notify_all()

    async def _request(self, batch: list[Entry]) -> Outcomes:
        request = self._client._deployment.request(routes.COUNT_ACTIVITIES, body=array(batch))
        return await self._client._attempt(routes.COUNT_ACTIVITIES, request)

    async def _settle(self, settlement: Settlement) -> None:
        if self._outbox and settlement.ids:
            try:
                async with self._storing:
                    await asyncio.to_thread(self._outbox.remove, settlement.ids)
            except Exception:
                # They are sent once more by the next process, and are duplicates then.
                logger.exception("The outbox could not remove activities that have arrived.")
        self._callbacks.report(settlement)


def _now() -> float:
    return asyncio.get_running_loop().time()
