-- Boards whose period is over, kept when Redis has forgotten them. Written by the Worker's cron.

-- One version of a board. While a newer one is being written there are two, told apart by `done`.
-- AUTOINCREMENT: the number of one that was given up must not come again for another.
CREATE TABLE boards (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  site TEXT NOT NULL,       -- prefix and stamp of the data in Redis
  name TEXT NOT NULL,       -- as in its key: d:2026-11-20, or d:2026-11-20:eu of a group
  kind TEXT NOT NULL,       -- d, w, m, y
  crowd TEXT NOT NULL,      -- the group, or ''
  day TEXT NOT NULL,        -- its first day: 2026-11-20
  orders INTEGER NOT NULL,  -- the board's order counter when it was read,
  members INTEGER NOT NULL, -- how many members it had with that counter and those hidden,
  total INTEGER NOT NULL,   -- and how many were seen; by these three a change is known
  next INTEGER NOT NULL,    -- while it is written: the rank to go on from
  made INTEGER NOT NULL,    -- when it was read, Unix ms
  done INTEGER NOT NULL     -- 1 when it is whole
);
CREATE UNIQUE INDEX boards_by_name ON boards (site, name, done);
CREATE INDEX boards_by_day ON boards (site, kind, crowd, day) WHERE done = 1;

-- Scores as Redis has them: points and order of arrival in one number, below zero of who is hidden.
CREATE TABLE places (
  user TEXT NOT NULL,
  board INTEGER NOT NULL,
  score INTEGER NOT NULL,
  PRIMARY KEY (user, board)
) WITHOUT ROWID;
CREATE INDEX places_by_score ON places (board, score, user);

-- Where a site's cron goes on, and until when (Unix ms) a run may be under way.
CREATE TABLE runs (
  site TEXT PRIMARY KEY,
  until INTEGER NOT NULL,
  next INTEGER NOT NULL
) WITHOUT ROWID;
