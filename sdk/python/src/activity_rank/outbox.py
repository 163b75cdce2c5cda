"""What a sender stores before it accepts an activity."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from .types import Activity


@dataclass(frozen=True, slots=True)
class Entry:
    """An activity that a sender has accepted."""

    id: int
    """Ascending in the order in which activities were accepted; unique in an outbox as long as it has entries."""
    text: str
    """The activity as JSON, in one line. It has its instant `at`, so it counts once, however often it is sent."""

    @property
    def activity(self) -> Activity:
        """The activity."""
        return cast(Activity, json.loads(self.text))


class Outbox(Protocol):
    """Stores accepted activities until they have arrived.

    An outbox belongs to one sender, which calls one method at a time, from any thread. An exception of `append` goes
    to the caller of the sender's `add`, whose activities are then not accepted.
    """

    def load(self) -> Sequence[Entry]:
        """Returns all entries that were appended and not removed, oldest first. Called once, before all others."""
        ...

    def append(self, entries: Sequence[Entry]) -> None:
        """Stores entries. They must survive a crash of the process, and better of the machine, once this returns."""
        ...

    def remove(self, ids: Sequence[int]) -> None:
        """Removes entries that have arrived or were refused. If a removal is lost, the entry is sent again, and is a
        duplicate."""
        ...

    def close(self) -> None:
        """Releases what the outbox uses. Its entries stay."""
        ...
