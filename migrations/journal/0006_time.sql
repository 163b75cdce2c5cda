-- The changes of a member in the order in which they happened: an import appends earlier ones. It has the expression of
-- `src/journal/points.rs`.
DROP INDEX journal_by_user;
CREATE INDEX journal_by_time ON journal (site, user, CAST(COALESCE(entry ->> 'at',
  CASE entry ->> 'did' WHEN 'receive' THEN entry ->> 'changed' END, entry ->> 'now') AS INTEGER)) WHERE user <> '';
