-- Finds the pauses of a member, which cover missed days of streaks.
CREATE INDEX journal_of_pauses ON journal (site, user, n) WHERE entry ->> 'did' = 'pause';
