"""The exceptions of this package. No message contains a key or a token."""

from collections.abc import Sequence

from .types import Activity, Problem, ProblemError


class ActivityRankError(Exception):
    """The base class of all exceptions of this package."""


class RequestError(ActivityRankError):
    """A request that did not succeed."""

    retry_after: float | None = None
    """Seconds to wait before the next request, if the response has `Retry-After`."""

    @property
    def is_temporary(self) -> bool:
        """Whether the same request can succeed later."""
        return True


class NetworkError(RequestError):
    """No response was received: no connection, or no answer in time. The service may have handled the request."""


class ResponseError(RequestError):
    """The response is not from activity-rank: not JSON, or of another form."""


class ApiError(RequestError):
    """The service refused a request with a problem document (RFC 9457)."""

    def __init__(self, problem: Problem, *, retry_after: float | None = None, request_id: str | None = None) -> None:
        super().__init__(f"{problem['status']} {problem['title']}: {_detail(problem)}")
        self.problem = problem
        """The problem document."""
        self.retry_after = retry_after
        self.request_id = request_id
        """The `X-Request-Id` of the response, which is also in the log lines of the service."""

    @property
    def status(self) -> int:
        """The HTTP status code."""
        return self.problem["status"]

    @property
    def type(self) -> str:
        """The type of the problem, such as `/problems/not-found`."""
        return self.problem["type"]

    @property
    def errors(self) -> Sequence[ProblemError]:
        """The first 20 violations in the request, each with the JSON pointer of its field."""
        return self.problem.get("errors", [])

    @property
    def is_temporary(self) -> bool:
        return is_temporary(self.status)


class ClosedError(ActivityRankError):
    """The client or sender was closed before the call or during it."""


class QueueFullError(ActivityRankError):
    """A sender has `max_pending` activities that have not arrived. The new ones were not accepted."""


class UnsentError(ActivityRankError):
    """A sender was closed before all activities had arrived, and no outbox stores the rest."""

    def __init__(self, activities: Sequence[Activity]) -> None:
        super().__init__(f"{len(activities)} activities were not sent before the sender was closed.")
        self.activities = activities
        """What did not arrive, oldest first. An activity of a request that was cut off may have been counted: it has
        its instant `at`, so it counts once if it is sent again."""


def _detail(problem: Problem) -> str:
    """Returns what is wrong, field by field if there are several."""
    errors = problem.get("errors", [])
    if len(errors) < 2:
        return problem.get("detail", problem["type"])
    return "; ".join(f"{error['pointer'].removeprefix('/')}: {error['detail']}" for error in errors)


def is_temporary(status: int) -> bool:
    """Returns whether a request that was answered with this status can succeed later."""
    return status in (408, 429) or status >= 500
