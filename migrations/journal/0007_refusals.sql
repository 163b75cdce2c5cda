-- Activities that did not count, added up, for the members who sent them: one row for each member, day, action and reason.
-- Written only where REFUSED_DAYS is set, best effort. An erasure deletes the rows of the member, and cron those of days
-- that are over.
CREATE TABLE refusals (
  site TEXT NOT NULL,     -- as in the journal
  user TEXT NOT NULL,
  date TEXT NOT NULL,     -- the day of the activities: 2026-11-20
  action TEXT NOT NULL,
  reason TEXT NOT NULL,   -- such as daily-cap
  count INTEGER NOT NULL,
  at INTEGER NOT NULL,    -- the last one, Unix ms
  targets TEXT NOT NULL,  -- the latest ten, without repeats, the last one first: a JSON array
  PRIMARY KEY (site, user, date, action, reason)
) WITHOUT ROWID;
CREATE INDEX refusals_by_date ON refusals (site, date);

-- Finds the erasure of a member: an activity of before it is not added any more.
CREATE INDEX journal_by_hash ON journal (site, entry ->> 'hash') WHERE entry ->> 'did' = 'erase';
