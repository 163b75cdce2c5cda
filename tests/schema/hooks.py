"""What JSON Schema cannot say of a valid request, and a check that the configuration names."""

from datetime import datetime, timedelta, timezone

import schemathesis
from hypothesis import strategies as st

# Yesterday, so that it has passed in every time zone. Days of the future are refused.
PAST = datetime.now(timezone.utc).replace(tzinfo=None, microsecond=0) - timedelta(days=1)
INSTANTS = st.datetimes(min_value=datetime(1970, 1, 1), max_value=PAST)

schemathesis.openapi.format("date", INSTANTS.map(lambda at: at.date().isoformat()))
schemathesis.openapi.format("date-time", INSTANTS.map(lambda at: f"{at.isoformat()}Z"))


@schemathesis.check
def bad_item_is_refused_in_its_place(ctx, response, case):
    """200 answers bad data only where one of the results is the problem of a bad item."""
    negative = case.meta is not None and case.meta.generation.mode.is_negative
    if negative and response.status_code == 200 and isinstance(case.body, list):
        results = response.json()["results"]
        assert any("error" in result for result in results), "no item was refused"
