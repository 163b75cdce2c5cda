-- Reads where several users stand on a board, in the order asked.
--
-- KEYS  1 stamp   2 board (zset)   3 profiles (hash: user -> JSON)
-- ARGV  users, 1 to 100
-- Call  EVALSHA sha 3 {ar:0}s {ar:0}bd:2026-11-20 {ar:0}p 7 42
-- Reply { stamp or nil, total or nil, scores (packed) or nil, ranks (from 0) or nil, profiles (JSON or nil) }
--       total  nil where there is no board
--       who is hidden has neither
-- State unchanged. The member '#' is the board's order counter: it lies under all users, and over
--       those that are hidden.

local board = KEYS[2]
local total = redis.call('ZREVRANK', board, '#')
local scores, ranks = {}, {}
for i, user in ipairs(ARGV) do
  local score = tonumber(redis.call('ZSCORE', board, user) or 0)
  scores[i] = score > 0 and score
  ranks[i] = score > 0 and redis.call('ZREVRANK', board, user)
end
return { redis.call('GET', KEYS[1]), total, scores, ranks, redis.call('HMGET', KEYS[3], unpack(ARGV)) }
