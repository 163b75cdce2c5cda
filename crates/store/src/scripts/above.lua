-- Counts the users above a score of another shard, on boards of this shard.
--
-- KEYS    1 users (hash)   2.. boards (sorted set)
-- ARGV    for each count: integer: number of the board, from 1
--                         string: lower bound of ZCOUNT: a packed score, inclusive '12' or exclusive '(12'
-- Returns { fingerprint or nil, counts }
-- State   read only. Every packed score is above that of the order counter '#', so the counts exclude
--         the counter and hidden users.
-- Example EVALSHA sha 2 {ar:3}p {ar:3}1bd:2026-11-20 1 '(5368709119'

local counts = {}
for i = 1, #ARGV, 2 do
  counts[#counts + 1] = redis.call('ZCOUNT', KEYS[tonumber(ARGV[i]) + 1], ARGV[i + 1], '+inf')
end
return { redis.call('HGET', KEYS[1], FINGERPRINT), counts }
