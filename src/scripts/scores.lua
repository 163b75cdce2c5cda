-- Reads the scores of a stretch of a board, best first.
--
-- KEYS  1 stamp   2 board (zset)
-- ARGV  1 offset, 0 or more   2 how many, 1 or more
-- Call  EVALSHA sha 2 {ar:3}s {ar:3}bd:2026-11-20 12500 600
-- Reply { stamp or nil, total or nil, scores (packed) }
--       total  nil where there is no board
-- State unchanged. The member '#' is the board's order counter: it lies under all users, and over
--       those that are hidden.

local total = redis.call('ZREVRANK', KEYS[2], '#')
local first = tonumber(ARGV[1])
local last = math.min(first + ARGV[2], total or 0) - 1
local scores = {}
if first <= last then
  local rows = redis.call('ZREVRANGE', KEYS[2], first, last, 'WITHSCORES')
  for i = 2, #rows, 2 do
    scores[#scores + 1] = tonumber(rows[i])
  end
end
return { redis.call('GET', KEYS[1]), total, scores }
