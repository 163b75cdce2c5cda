-- Closed boards, kept after Redis has expired them. Written by the Worker's cron.

-- One version of a board. While a newer version is being written there are two, distinguished by `done`.
-- AUTOINCREMENT: the id of an abandoned version must never be assigned again.
CREATE TABLE boards (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  site TEXT NOT NULL,       -- prefix and schema fingerprint of the data in Redis, and the shard if there are several
  name TEXT NOT NULL,       -- as in the board's key: d:2026-11-20, d:2026-11-20:eu for a group, E::hackathon for an event
  kind TEXT NOT NULL,       -- period: d, w, m, y; preceded by T for boards of content, A for those of authors; E for an event
  crowd TEXT NOT NULL,      -- the group, or the event, or ''
  day TEXT NOT NULL,        -- first day of the period: 2026-11-20; the instant from which an event is final
  orders INTEGER NOT NULL,  -- the board's order counter when it was read,
  members INTEGER NOT NULL, -- the number of its members, including the counter and hidden users,
  total INTEGER NOT NULL,   -- and the number of visible users; a change of any of the three means that the board changed
  next INTEGER NOT NULL,    -- while the version is being written: the rank at which to continue
  made INTEGER NOT NULL,    -- when it was read, Unix ms
  done INTEGER NOT NULL     -- 1 when it is complete
);
CREATE UNIQUE INDEX boards_by_name ON boards (site, name, done);
CREATE INDEX boards_by_day ON boards (site, kind, crowd, day) WHERE done = 1;

-- Scores as Redis stores them: points and order of arrival in one number, negated for hidden users.
CREATE TABLE places (
  user TEXT NOT NULL,
  board INTEGER NOT NULL,
  score INTEGER NOT NULL,
  PRIMARY KEY (user, board)
) WITHOUT ROWID;
CREATE INDEX places_by_score ON places (board, score, user);

-- Position of the archive job, and the lease of a run in progress (until, Unix ms).
CREATE TABLE runs (
  site TEXT PRIMARY KEY,
  until INTEGER NOT NULL,
  next INTEGER NOT NULL
) WITHOUT ROWID;
