"""When a failed request is sent again."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .errors import RequestError

_MAX_RETRY_AFTER = 3600.0  # seconds; no outage is worth a longer pause


@dataclass(frozen=True, slots=True)
class Retry:
    """Exponential back-off with full jitter.

    The wait before retry n is random, between 0 and `base_delay` × 2ⁿ⁻¹ but at most `max_delay`. A `Retry-After` of the
    response comes before it: clients that got the same one do not return at the same instant.
    """

    attempts: int = 4
    """Requests of one call, with the first one; at least 1. Senders ignore it: they retry until they are closed."""
    base_delay: float = 0.5
    """The longest wait before the first retry, in seconds."""
    max_delay: float = 30.0
    """The longest wait before any retry, in seconds, without `Retry-After`."""

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.base_delay < 0 or self.max_delay < 0:
            raise ValueError("`attempts` must be at least 1, and delays at least 0.")

    def delay(self, failures: int, error: RequestError) -> float:
        """Returns the seconds to wait after this many failures in a row, at least 1."""
        # The exponent is limited: a float overflows after a thousand failures.
        longest = min(self.max_delay, self.base_delay * 2 ** min(failures - 1, 60))
        return (error.retry_after or 0) + random.uniform(0, longest)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds of `Retry-After`, which has seconds or an HTTP date; at most an hour. Ignores invalid values.

    A date is compared with the `Date` of the response, so that the clock of this machine does not matter.
    """
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return min(float(value), _MAX_RETRY_AFTER)
    at = _parse_date(value)
    if at is None:
        return None
    now = _parse_date(headers.get("Date", "")) or datetime.now(UTC)
    return min(max((at - now).total_seconds(), 0.0), _MAX_RETRY_AFTER)


def _parse_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter for a time zone of many digits
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
