-- Finds the last join of an account, and the recounts that have added the past of accounts. Recounts have no user.
CREATE INDEX journal_of_accounts ON journal (site, user, n) WHERE entry ->> 'did' IN ('account', 'accounts');
