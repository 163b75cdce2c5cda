-- Steps of achievements that moderators award or withdraw. A row of a moderator stays as it is until another one changes it.
ALTER TABLE achievements_earned ADD COLUMN hand INTEGER NOT NULL DEFAULT 0; -- 1: awarded, -1: withdrawn, else 0
DROP INDEX achievements_earned_by_step;
CREATE INDEX achievements_earned_by_step ON achievements_earned (site, achievement, step, hand);
