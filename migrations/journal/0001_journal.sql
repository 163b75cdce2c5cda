-- Every change, in the order in which the store applied it. Written by the Worker from the outbox.
-- Rows are never deleted: rows of an erased user are emptied, so that the same entry is not inserted again.
CREATE TABLE journal (
  n INTEGER PRIMARY KEY,  -- the order
  site TEXT NOT NULL,     -- prefix and schema fingerprint of the data in Redis
  shard INTEGER NOT NULL,
  id TEXT NOT NULL,       -- id of the entry in the outbox: 1795132800000-0
  user TEXT NOT NULL,     -- the user; '' for an erasure and for an erased user
  entry TEXT NOT NULL     -- its fields as a JSON object; for an erased user without the user if it has a target, else '{}'
);
CREATE UNIQUE INDEX journal_by_id ON journal (site, shard, id);
CREATE INDEX journal_by_user ON journal (site, user) WHERE user <> '';
