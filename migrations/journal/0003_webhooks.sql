-- Messages to webhooks, one row for each endpoint that wants a message. A row names what the message is about; its body is
-- made when it is sent. Rows name no user: where a message is about one, the row names the entry of the journal, which an
-- erasure empties. Rows are deleted 30 days after the message, or 28 days after the last attempts that a retry allows.
CREATE TABLE deliveries (
  n INTEGER PRIMARY KEY,     -- the order
  site TEXT NOT NULL,        -- as in the journal
  id TEXT NOT NULL,          -- the webhook-id: msg_ and 32 hexadecimal digits
  endpoint TEXT NOT NULL,    -- the host of the endpoint, and a hash of its URL
  kind TEXT NOT NULL,        -- such as period.closed
  subject TEXT NOT NULL,     -- what the message is about, unique within its kind: w2026-11-16, or shard and id of an entry
  data TEXT NOT NULL,        -- of level.reached: the points of the level, in smallest steps; of journal.lagging: Unix ms; else ''
  at INTEGER NOT NULL,       -- when it happened, Unix ms
  shard INTEGER,             -- shard and id of the journal's entry, if the message is about one
  entry TEXT,
  state TEXT NOT NULL,       -- pending, delivered, failed, or dropped if there was nothing to send
  due INTEGER NOT NULL,      -- the next attempt, Unix ms
  until INTEGER NOT NULL,    -- the last attempt, Unix ms
  attempts INTEGER NOT NULL DEFAULT 0,
  attempted INTEGER,         -- the last attempt, Unix ms
  status INTEGER,            -- HTTP status of the last attempt, unless it failed without one
  error TEXT                 -- why the last attempt failed without a status: timeout or network
);
CREATE UNIQUE INDEX deliveries_by_id ON deliveries (id);
CREATE UNIQUE INDEX deliveries_by_subject ON deliveries (site, endpoint, kind, subject);
CREATE INDEX deliveries_by_due ON deliveries (site, endpoint, due) WHERE state = 'pending';
CREATE INDEX deliveries_by_until ON deliveries (site, until);

-- The highest level of each member of whom a message may tell. Written in the transaction that writes the journal.
CREATE TABLE levels (
  site TEXT NOT NULL,        -- as in the journal
  member TEXT NOT NULL,      -- a hash of LEVELS and the user
  steps INTEGER NOT NULL,    -- the points of the level, in smallest steps; -1 below the first one
  PRIMARY KEY (site, member)
) WITHOUT ROWID;
