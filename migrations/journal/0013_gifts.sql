-- Who gave points to whom, and cases for moderators, see `src/journal/fair_play.rs`. Written only with FAIR_PLAY.

-- The gifts of each pair of members by day, and the counted activities of each member. The nightly search deletes rows after
-- 90 days, an erasure those of the member.
CREATE TABLE gifts (
  site TEXT NOT NULL,        -- as in the journal
  day INTEGER NOT NULL,      -- the day of the activities, in days since 1970-01-01
  giver TEXT NOT NULL,       -- '' for a day on which the receiver has a burst of all givers: burst is its gifts, the rest 0
  receiver TEXT NOT NULL,    -- '' for all counted activities of the giver
  gifts INTEGER NOT NULL,    -- activities; an undo counts -1
  points INTEGER NOT NULL,   -- those of the receiver, in smallest steps; of all activities those of the giver
  given INTEGER NOT NULL,    -- points of the giver, in smallest steps; 0 where the receiver is ''
  burst INTEGER NOT NULL,    -- the most gifts within burst_seconds
  PRIMARY KEY (site, day, giver, receiver)
) WITHOUT ROWID;
CREATE INDEX gifts_by_receiver ON gifts (site, receiver) WHERE receiver <> '';

-- How far the journal has been read, and the last search.
CREATE TABLE gifts_read (
  site TEXT PRIMARY KEY,
  n INTEGER NOT NULL,        -- the last row of the journal in the gifts
  day INTEGER NOT NULL,      -- the day of UTC of the last search, in days since 1970-01-01; -1 for none
  at INTEGER NOT NULL,       -- the last search, Unix ms
  numbers TEXT NOT NULL,     -- the numbers of fairness as a JSON object
  erased INTEGER NOT NULL    -- the number of erasures: a search during which it changes writes no case
) WITHOUT ROWID;

-- Cases. An erasure deletes those of the member, and takes the member out of those that exclude activity. Others are deleted 400 days after their last change; at most 1,000
-- are kept.
CREATE TABLE cases (
  site TEXT NOT NULL,
  id TEXT NOT NULL,          -- case_ and 16 hexadecimal digits
  kind TEXT NOT NULL,        -- ring, farm, new-accounts, burst, few-givers or manual
  state TEXT NOT NULL,       -- open, dismissed or excluded
  score REAL NOT NULL,       -- orders cases
  gifts INTEGER NOT NULL,    -- of all pairs
  members TEXT NOT NULL,     -- a JSON array of users in alphabetical order
  facts TEXT NOT NULL,       -- a JSON object: days, share, and pairs with their gifts
  found INTEGER NOT NULL,    -- Unix ms
  updated INTEGER NOT NULL,  -- the last search that found it, or decision, Unix ms
  reason TEXT,               -- of the last decision
  actor TEXT,                -- the name of the key
  decided INTEGER,           -- when, Unix ms
  decided_gifts INTEGER,     -- the gifts at that time
  public INTEGER,            -- 1 if the members may read the reason
  since INTEGER,             -- of excluded: from when activity between the members does not count, Unix ms
  until INTEGER,             -- until when, Unix ms; null for ever
  PRIMARY KEY (site, id)
) WITHOUT ROWID;

-- Finds the author of a target.
CREATE INDEX journal_of_targets ON journal (site, entry ->> 'target') WHERE entry ->> 'did' = 'target';

-- Finds the exclusions of cases.
CREATE INDEX journal_of_exclusions ON journal (site, entry ->> 'case') WHERE entry ->> 'did' = 'exclude';
