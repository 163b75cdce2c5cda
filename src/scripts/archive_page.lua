-- Reads a stretch of a board to archive it: who is seen, best first, then who is hidden.
--
-- KEYS  1 stamp   2 audit list (stream)   3 board (zset)
-- ARGV  1 where to begin, a rank from 0   2 how many at most, 2 or more   3 how many of those seen are kept
-- Call  EVALSHA sha 3 {ar:0}s {ar:0}l {ar:0}bd:2026-11-20 0 2000 100000
-- Reply { stamp or nil, last entry of the audit list or '', order counter, members, seen, users, scores (packed), next }
--       scores  below zero of who is hidden
--       next    where to go on; there is no more where no user is read
--       without a board: { stamp or nil, last entry }
-- State unchanged.

local board = KEYS[3]
local start, most, kept = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local reply = { redis.call('GET', KEYS[1]), last and last[1] or '' }
local counter = redis.call('ZSCORE', board, '#')
if not counter then
  return reply
end

local seen = redis.call('ZREVRANK', board, '#')
local stop = start + most
if start >= kept and start < seen then
  start, stop = seen, seen + most
elseif start < kept and seen > kept then
  stop = math.min(stop, kept)
end
local rows = redis.call('ZREVRANGE', board, start, stop - 1, 'WITHSCORES')
local users, scores = {}, {}
for i = 1, #rows, 2 do
  if rows[i] ~= '#' then
    users[#users + 1] = rows[i]
    scores[#scores + 1] = tonumber(rows[i + 1])
  end
end
reply[3], reply[4], reply[5] = tonumber(counter), redis.call('ZCARD', board), seen
reply[6], reply[7], reply[8] = users, scores, stop
return reply
