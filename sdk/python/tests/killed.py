"""A process of test_kill.py: adds likes as fast as it can, until it is killed. Writes down what was accepted.

killed.py sync|async URL KEY FOLDER USERS
"""

import asyncio
import os
import sys
from pathlib import Path
from threading import Thread

from activity_rank import AsyncBatchSender, AsyncClient, BatchSender, Client, FileOutbox, Retry, file_outbox
from activity_rank.types import Activity

KIND, URL, KEY, FOLDER, USERS = sys.argv[1:]
RETRY = Retry(base_delay=0.05, max_delay=0.2)
# The file is written anew all the time, so that SIGKILL also comes then.
file_outbox._COMPACT_SIZE = 10_000


class Accepted:
    """The number of the last like that was accepted, of each user: a line for each in a file."""

    def __init__(self, user: str) -> None:
        self.user = user
        self.path = Path(FOLDER, f"{user}.accepted")
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.next = int(lines[-1]) + 1 if lines else 0
        self.file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def activity(self) -> Activity:
        return {"user": self.user, "action": "like", "target": f"p{self.next}"}

    def write(self) -> None:
        """Writes a line with one call of the system, so that SIGKILL leaves all or nothing of it."""
        os.write(self.file, f"{self.next}\n".encode())
        self.next += 1


def add_all(sender: BatchSender, user: str) -> None:
    accepted = Accepted(user)
    while True:
        sender.add(accepted.activity())
        accepted.write()


async def add_all_async(sender: AsyncBatchSender, user: str) -> None:
    accepted = Accepted(user)
    while True:
        await sender.add(accepted.activity())
        accepted.write()


async def run(outbox: FileOutbox) -> None:
    async with AsyncClient(URL, KEY) as client, AsyncBatchSender(client, outbox, max_wait=0.02, retry=RETRY) as sender:
        print(sender.pending, flush=True)
        await asyncio.gather(*(add_all_async(sender, user) for user in USERS.split(",")))


def main() -> None:
    outbox = FileOutbox(Path(FOLDER, "activity.outbox"))
    if KIND == "async":
        asyncio.run(run(outbox))
        return
    sender = BatchSender(Client(URL, KEY), outbox, max_wait=0.02, retry=RETRY)
    print(sender.pending, flush=True)
    for user in USERS.split(","):
        Thread(target=add_all, args=(sender, user)).start()


main()
