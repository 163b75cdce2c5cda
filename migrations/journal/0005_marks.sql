-- Finds the members who did an action to a target, for an undo that names none of them. Activity that counts once a day
-- cannot be undone and is not in it.
CREATE INDEX journal_by_mark ON journal (site, entry ->> 'mark') WHERE entry ->> 'once' = 's';
