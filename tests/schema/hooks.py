"""What JSON Schema cannot say of a valid request, and a check that the configuration names."""

from datetime import datetime

import schemathesis
from hypothesis import strategies as st

# Always past: days and instants of the future are refused. Not up to today, so that a seed repeats.
INSTANTS = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(2026, 11, 19))
SECONDS = INSTANTS.map(lambda at: at.isoformat(timespec="seconds"))
ZONES = st.sampled_from(["Z", ".5Z", "+05:30", ".123456789-11:00"])

schemathesis.openapi.format("date", SECONDS.map(lambda text: text[:10]))
schemathesis.openapi.format("date-time", st.builds(str.__add__, SECONDS, ZONES))


@schemathesis.check
def bad_item_is_refused_in_its_place(ctx, response, case):
    """200 answers bad data only where one of the results is the problem of a bad item."""
    negative = case.meta is not None and case.meta.generation.mode.is_negative
    if negative and response.status_code == 200 and isinstance(case.body, list):
        results = response.json()["results"]
        assert any("error" in result for result in results), "no item was refused"
