"""Formats and requests that JSON Schema cannot express, and a custom check."""

from datetime import UTC, date, datetime, timedelta

import schemathesis
from hypothesis import strategies as st

# Always in the past, because the API refuses future dates. A fixed maximum keeps runs reproducible.
INSTANTS = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(2026, 11, 19))
SECONDS = INSTANTS.map(lambda at: at.isoformat(timespec="seconds"))
ZONES = st.sampled_from(["Z", ".5Z", "+05:30", ".123456789-11:00"])

schemathesis.openapi.format("date", SECONDS.map(lambda text: text[:10]))
schemathesis.openapi.format("date-time", st.builds(str.__add__, SECONDS, ZONES))


# tests/schema/main.rs defines this event. Others begin in the future, where the instants above are not.
DEFINED = "defined"
FUTURE = {"from": "9000-01-01T00:00:00Z", "to": "9000-01-02T00:00:00Z"}


def is_date(text):
    """Returns whether a parameter is a day; `before` of the audit log is not."""
    try:
        return isinstance(text, str) and str(date.fromisoformat(text)) == text
    except ValueError:
        return False


def is_future(text):
    """Returns whether a text is an instant after now."""
    try:
        return isinstance(text, str) and datetime.fromisoformat(text) > datetime.now(UTC)
    except (TypeError, ValueError):
        return False


@schemathesis.hook
def before_call(context, case, kwargs):
    """Lets valid requests define events, and read one that exists."""
    path = case.operation.path
    # Instants of events and of rules may be used again, but activity is not in the future.
    for item in case.body if isinstance(case.body, list) else [case.body]:
        if isinstance(item, dict) and is_future(item.get("at")):
            del item["at"]
        # Only an undo has a source that is gone.
        if isinstance(item, dict) and item.get("source_gone") is True and item.get("undo", False) is False:
            item["undo"] = True
    if case.meta is None or case.meta.generation.mode.is_negative:
        return
    today = datetime.now(UTC).date()
    # Only a pause may begin in the future, and its days may be used again for boards.
    if path.endswith("/pause") and case.method == "PUT" and isinstance(case.body, dict):
        case.body.update({"from": str(today), "until": str(today + timedelta(days=14))})
    for name in ("date", "before"):
        day = case.query.get(name)
        if is_date(day) and day > str(today):
            del case.query[name]
    # The actions of rules depend on the configuration, and rules hold from a near instant on.
    if path == "/v1/rules" and case.method == "POST" and isinstance(case.body, dict):
        case.body.update({"rules": {"like": {"points": 3}}})
        case.body.pop("from", None)
    if path == "/v1/rules/{version}" and case.method == "DELETE":
        case.path_parameters["version"] = "1"
    if not path.startswith("/v1/events/"):
        return
    if case.method == "PUT" and isinstance(case.body, dict):
        case.body.update(FUTURE)
        case.body.pop("actions", None)
        case.body.pop("prizes", None)
    elif case.method in ("GET", "HEAD") and len(case.path_parameters["event"]) % 2 == 0:
        case.path_parameters["event"] = DEFINED


@schemathesis.check
def invalid_item_has_a_problem(ctx, response, case):
    """Allows 200 for invalid data only if one of the results is a problem."""
    negative = case.meta is not None and case.meta.generation.mode.is_negative
    if negative and response.status_code == 200 and isinstance(case.body, list):
        results = response.json()["results"]
        assert any("error" in result for result in results), "no result is a problem"
