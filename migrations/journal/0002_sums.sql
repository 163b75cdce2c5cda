-- Numbers of the site by day, summed up from the journal. They name no user.
CREATE TABLE sums (
  site TEXT NOT NULL,     -- as in the journal
  date TEXT NOT NULL,     -- the day on whose boards the points are
  action TEXT NOT NULL,   -- '' for the members whose first counted activity in the journal was on that day
  count INTEGER NOT NULL, -- activities or members; an undo counts -1
  points INTEGER NOT NULL, -- in smallest steps
  PRIMARY KEY (site, date, action)
) WITHOUT ROWID;

-- How far the journal has been summed up. Written in the transaction that writes the sums.
CREATE TABLE summed (
  site TEXT PRIMARY KEY,
  n INTEGER NOT NULL,     -- the last row of the journal in the sums
  at INTEGER NOT NULL     -- all changes until this instant are in the sums, Unix ms
) WITHOUT ROWID;
