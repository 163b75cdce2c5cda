"""Formats that JSON Schema cannot express, and a custom check."""

from datetime import datetime

import schemathesis
from hypothesis import strategies as st

# Always in the past, because the API refuses future dates. A fixed maximum keeps runs reproducible.
INSTANTS = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(2026, 11, 19))
SECONDS = INSTANTS.map(lambda at: at.isoformat(timespec="seconds"))
ZONES = st.sampled_from(["Z", ".5Z", "+05:30", ".123456789-11:00"])

schemathesis.openapi.format("date", SECONDS.map(lambda text: text[:10]))
schemathesis.openapi.format("date-time", st.builds(str.__add__, SECONDS, ZONES))


@schemathesis.check
def invalid_item_has_a_problem(ctx, response, case):
    """Allows 200 for invalid data only if one of the results is a problem."""
    negative = case.meta is not None and case.meta.generation.mode.is_negative
    if negative and response.status_code == 200 and isinstance(case.body, list):
        results = response.json()["results"]
        assert any("error" in result for result in results), "no result is a problem"
