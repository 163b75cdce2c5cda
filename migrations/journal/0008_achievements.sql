-- Achievements, evaluated from the journal by the Worker's cron, see `src/journal/achievements.rs`.

-- How far the journal has been evaluated. Written in the transaction that writes the tallies.
CREATE TABLE achievements_read (
  site TEXT PRIMARY KEY,     -- as in the journal
  version TEXT NOT NULL,     -- a hash of the conditions, and the last recount: another one starts from the beginning
  n INTEGER NOT NULL,        -- the last row of the journal in the tallies
  seen INTEGER NOT NULL,     -- the last row that was ever in them, or that is from before: rows up to it send no message
  at INTEGER NOT NULL        -- the last run, Unix ms
) WITHOUT ROWID;

-- What members have done for each achievement. Deleted when the evaluation starts from the beginning.
CREATE TABLE achievement_tallies (
  site TEXT NOT NULL,
  member TEXT NOT NULL,
  achievement TEXT NOT NULL,
  day INTEGER NOT NULL,      -- of a streak: the number of the day or week, value has its points; -1: value is the instant of
                             -- the first activity, Unix ms; else 0
  value INTEGER NOT NULL,    -- activities, or points in smallest steps
  PRIMARY KEY (site, member, achievement, day)
) WITHOUT ROWID;
CREATE INDEX achievement_tallies_by_instant ON achievement_tallies (site, achievement, value) WHERE day = -1;

-- The steps of achievements that members have.
CREATE TABLE achievements_earned (
  site TEXT NOT NULL,
  member TEXT NOT NULL,
  achievement TEXT NOT NULL,
  step INTEGER NOT NULL,     -- as in the tallies, points in smallest steps
  at INTEGER NOT NULL,       -- the instant of the activity that reached it, Unix ms
  n INTEGER NOT NULL,        -- its row of the journal
  PRIMARY KEY (site, member, achievement, step)
) WITHOUT ROWID;
CREATE INDEX achievements_earned_by_step ON achievements_earned (site, achievement, step);

-- Members who are or were hidden.
CREATE TABLE achievement_hidden (
  site TEXT NOT NULL,
  member TEXT NOT NULL,
  did TEXT NOT NULL,         -- moderate or profile: moderators and the member hide independently
  hidden TEXT NOT NULL,      -- 1 or 0
  n INTEGER NOT NULL,        -- the row of the journal
  PRIMARY KEY (site, member, did)
) WITHOUT ROWID;

-- The recounts, which change what earlier rows gave.
CREATE INDEX journal_by_rules ON journal (site, shard, n) WHERE entry ->> 'did' = 'rules';
