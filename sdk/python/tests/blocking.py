"""Runs the asynchronous classes from blocking code, so that one test covers both."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

TIMEOUT = 60.0  # seconds of a call; a test that needs it has failed


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever)
        self._thread.start()

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(call, self.loop).result(TIMEOUT)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Blocking:
    """Has the methods of an object, with its coroutines as functions and its asynchronous iterators as iterators."""

    def __init__(self, loop: Loop, target: object) -> None:
        self.loop = loop
        self.target = target

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.target, name)
        if inspect.iscoroutinefunction(value):
            return self._function(value)
        if inspect.ismethod(value):
            return lambda *args, **options: self._iterate(value(*args, **options))
        return value

    def _function(self, function: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
        return lambda *args, **options: self.loop.run(function(*args, **options))

    def _iterate(self, items: AsyncIterator[Any]) -> Iterator[Any]:
        async def following() -> Any:
            return await anext(items)

        try:
            while True:
                yield self.loop.run(following())
        finally:
            self.loop.run(items.aclose())  # type: ignore[attr-defined]
