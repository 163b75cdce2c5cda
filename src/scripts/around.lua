-- Reads who stands around a score, on a board of another shard than that of the score.
--
-- KEYS  1 stamp   2 board (zset)   3 profiles (hash: user -> JSON)
-- ARGV  1 the least score above, '12' or above '(12'   2 how many to read on either side, 1 or more
-- Call  EVALSHA sha 3 {ar:3}s {ar:3}bd:2026-11-20 {ar:3}p '(5368709119' 2
-- Reply { stamp or nil, total or nil, how many are above, users, scores (packed), profiles (JSON or nil) }
--       total  nil where there is no board
-- State unchanged. The member '#' is the board's order counter: it lies under all users, and over
--       those that are hidden.

local total = redis.call('ZREVRANK', KEYS[2], '#')
local above = redis.call('ZCOUNT', KEYS[2], ARGV[1], '+inf')
local first = math.max(above - ARGV[2], 0)
local last = math.min(above + ARGV[2], total or 0) - 1
local users, scores, profiles = {}, {}, {}
if first <= last then
  local rows = redis.call('ZREVRANGE', KEYS[2], first, last, 'WITHSCORES')
  for i = 1, #rows, 2 do
    users[#users + 1] = rows[i]
    scores[#scores + 1] = tonumber(rows[i + 1])
  end
  profiles = redis.call('HMGET', KEYS[3], unpack(users))
end
return { redis.call('GET', KEYS[1]), total, above, users, scores, profiles }
