-- Reads where one user stands on a board, and who stands around them.
--
-- KEYS  1 stamp   2 board (zset)   3 profiles (hash: user -> JSON)
-- ARGV  1 user   2 how many neighbours to read on either side, 1 or more
-- Call  EVALSHA sha 3 {ar:0}s {ar:0}bd:2026-11-20 {ar:0}p 42 2
-- Reply { stamp or nil, total or nil, profile or nil, rank (from 0) or nil,
--         first rank read (from 0), users, scores (packed), profiles (JSON or nil) }
--       total  nil where there is no board
--       the last four only when the user is on the board; the users read include the user
--       who is hidden is on no board
-- State unchanged. The member '#' is the board's order counter: it lies under all users, and over
--       those that are hidden.

local board, profiles = KEYS[2], KEYS[3]
local total = redis.call('ZREVRANK', board, '#')
local rank = redis.call('ZREVRANK', board, ARGV[1])
if rank and rank > (total or -1) then
  rank = false
end
local reply = { redis.call('GET', KEYS[1]), total, redis.call('HGET', profiles, ARGV[1]), rank }
if not rank then
  return reply
end

local first = math.max(rank - ARGV[2], 0)
local last = math.min(rank + ARGV[2], total - 1)
local rows = redis.call('ZREVRANGE', board, first, last, 'WITHSCORES')
local users, scores = {}, {}
for i = 1, #rows, 2 do
  users[#users + 1] = rows[i]
  scores[#scores + 1] = tonumber(rows[i + 1])
end
reply[5], reply[6], reply[7] = first, users, scores
reply[8] = redis.call('HMGET', profiles, unpack(users))
return reply
