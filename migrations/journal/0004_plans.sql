-- Indexes by which the rows that a page reads follow its size.

-- Whether a member's activity was undone: few rows of the journal are undos.
CREATE INDEX journal_by_undone ON journal (site, user, entry ->> 'mark') WHERE user <> '' AND entry ->> 'did' = 'undo';
-- The messages to webhooks in one state.
CREATE INDEX deliveries_by_state ON deliveries (site, state);
