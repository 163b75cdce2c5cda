"""Client for activity-rank, a service that counts activity and ranks users.

- `Client` and `AsyncClient` have a method for every route of the HTTP API.
- `BatchSender` and `AsyncBatchSender` send activity in arrays, and again until it has arrived.
- `FileOutbox` stores what they have accepted, so that it survives a crash of the process.
- `user_token` signs the tokens with which browsers of signed-in members call the service.
- `activity_rank.types` has the types of all requests and responses.
"""

from importlib.metadata import version as _version

from .async_client import AsyncClient
from .async_sender import AsyncBatchSender
from .client import Client
from .errors import ActivityRankError, ApiError, ClosedError, NetworkError, QueueFullError, ResponseError, UnsentError
from .file_outbox import FileOutbox, OutboxError, OutboxLockedError
from .outbox import Entry, Outbox
from .retry import Retry
from .sender import BatchSender
from .tokens import user_token

__version__ = _version("activity-rank")

__all__ = [
    "ActivityRankError",
    "ApiError",
    "AsyncBatchSender",
    "AsyncClient",
    "BatchSender",
    "Client",
    "ClosedError",
    "Entry",
    "FileOutbox",
    "NetworkError",
    "Outbox",
    "OutboxError",
    "OutboxLockedError",
    "QueueFullError",
    "ResponseError",
    "Retry",
    "UnsentError",
    "user_token",
]
