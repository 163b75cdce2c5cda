-- Recounts of accounts start the evaluation of achievements from the beginning: what they may take from members has a negative
-- `n` until it is earned again, and is deleted at the end if it is not.
CREATE INDEX achievements_pending ON achievements_earned (site) WHERE n < 0;
-- Rows up to this one send messages again, for steps that members with accounts did not have before the recount.
ALTER TABLE achievements_read ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;
