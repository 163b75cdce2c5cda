-- Reads a stretch of a board, best first, with the profiles of those on it.
--
-- KEYS  1 stamp   2 board (zset)   3 profiles (hash: user -> JSON)
-- ARGV  1 offset, 0 or more   2 limit, 1 or more
-- Call  EVALSHA sha 3 {ar:0}s {ar:0}bd:2026-11-20 {ar:0}p 0 30
-- Reply { stamp or nil, total or nil, users, scores (packed), profiles (JSON or nil) }
--       total  nil where there is no board
-- State unchanged. The member '#' is the board's order counter: it lies under all users, and over
--       those that are hidden.

local total = redis.call('ZREVRANK', KEYS[2], '#')
local first = tonumber(ARGV[1])
local last = math.min(first + tonumber(ARGV[2]), total or 0) - 1
local users, scores, profiles = {}, {}, {}
if first <= last then
  local rows = redis.call('ZREVRANGE', KEYS[2], first, last, 'WITHSCORES')
  for i = 1, #rows, 2 do
    users[#users + 1] = rows[i]
    scores[#scores + 1] = tonumber(rows[i + 1])
  end
  profiles = redis.call('HMGET', KEYS[3], unpack(users))
end
return { redis.call('GET', KEYS[1]), total, users, scores, profiles }
