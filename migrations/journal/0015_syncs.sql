-- Results of sync runs, see `src/journal/syncs.rs`: one row for each source, at most 100.
CREATE TABLE syncs (
  site TEXT NOT NULL,        -- as in the journal
  source TEXT NOT NULL,      -- its name
  state TEXT NOT NULL,       -- of the last report: running, done or failed
  detail TEXT,               -- of the last report: progress, or why the run failed
  reported INTEGER NOT NULL, -- the last report, Unix ms
  completed INTEGER,         -- the last report of a run that was done, Unix ms; null if none was, as the next three
  differences INTEGER,       -- the number at the end of that run
  mended INTEGER,            -- the number that the run mended
  refused TEXT,              -- the number of activities that the rules refuse, by reason: a JSON object
  PRIMARY KEY (site, source)
) WITHOUT ROWID;
