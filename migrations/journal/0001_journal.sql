-- What was done, in the order the store did it. Written by the Worker from the store's outbox.
-- No row is ever deleted: of who is erased it is emptied, so that it cannot be written once more.
CREATE TABLE journal (
  n INTEGER PRIMARY KEY,  -- the order
  site TEXT NOT NULL,     -- prefix and stamp of the data in Redis
  shard INTEGER NOT NULL,
  id TEXT NOT NULL,       -- of the entry in the outbox: 1795132800000-0
  user TEXT NOT NULL,     -- whose; '' of an erasure, and of who is erased
  entry TEXT NOT NULL     -- its fields, a JSON object; '{}' of who is erased
);
CREATE UNIQUE INDEX journal_by_id ON journal (site, shard, id);
CREATE INDEX journal_by_user ON journal (site, user) WHERE user <> '';
