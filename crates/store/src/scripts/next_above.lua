-- Reads the last user above each of several scores of another shard, on boards of this shard.
--
-- KEYS    1 users (hash)   2.. boards (sorted set)
-- ARGV    for each board: string: lower bound of ZCOUNT: a packed score, inclusive '12' or exclusive '(12';
--                         '' to read nothing
--                         string: on a plain board the member of the score '(12', else ''
-- Returns { fingerprint or nil, rows }
--         rows  for each board { users above, score, member }, the last two of the last user above, or nil
-- State   read only. Every packed score is above that of the order counter '#'.
-- Example EVALSHA sha 3 {ar:3}p {ar:3}bd:2026-11-20 {ar:3}bAa:all '(5368709119' '' '(12' 9

local rows = {}
for i = 2, #KEYS do
  local bound = ARGV[2 * i - 3]
  local above = bound ~= '' and count_above(KEYS[i], bound, ARGV[2 * i - 2]) or 0
  local last = above > 0 and redis.call('ZREVRANGE', KEYS[i], above - 1, above - 1, 'WITHSCORES') or {}
  rows[i - 1] = { above, last[2] and tonumber(last[2]), last[1] }
end
return { redis.call('HGET', KEYS[1], FINGERPRINT), rows }
