-- Previews of rules, see `src/jobs/rules_preview.rs`: one that runs, and the last one. An erasure ends one that runs, and deletes
-- the result of one that names the member.
CREATE TABLE rules_previews (
  site TEXT NOT NULL,        -- as in the journal
  id INTEGER NOT NULL,       -- the start, Unix ms
  state TEXT NOT NULL,       -- running, done, cancelled or failed
  slice INTEGER NOT NULL,    -- completed slices
  uncleared INTEGER NOT NULL, -- 1 while there are scratch keys in Redis
  job TEXT NOT NULL,         -- span, rules and shard of the scratch keys, a JSON object
  progress TEXT NOT NULL,    -- position and figures, a JSON object
  result TEXT,               -- the report, a JSON object
  members TEXT,              -- those whom the result names, a JSON array
  error TEXT,                -- of failed: why
  updated INTEGER NOT NULL,  -- the last slice, Unix ms
  PRIMARY KEY (site, id)
) WITHOUT ROWID;
