-- Cron deletes rows by the day of their last refusal, not by that of the activity: an import has old days.
ALTER TABLE refusals ADD COLUMN refused TEXT NOT NULL DEFAULT ''; -- the day of the last refusal: 2026-11-20
UPDATE refusals SET refused = date;
DROP INDEX refusals_by_date;
CREATE INDEX refusals_by_refused ON refusals (site, refused);
