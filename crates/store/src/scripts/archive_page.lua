-- Reads a page of a board for the archive: visible users, best first, then hidden users.
--
-- KEYS    1 users (hash)   2 audit log (stream)   3 board (sorted set)
-- ARGV    1 integer: first rank of the page, from 0   2 integer: page size in members, 2 or more
--         3 integer: limit of archived visible users; ranks from this one on are skipped
-- Returns { fingerprint or nil, id of the last audit log entry or '', order counter, members,
--         visible users, users, scores (packed), next }
--         members  ZCARD of the board: includes the counter '#' and hidden users
--         scores   negative for hidden users
--         next     first rank of the next page. A page without users is the last one.
--         { fingerprint or nil, id } if the board does not exist
-- State   read only.
-- Example EVALSHA sha 3 {ar:0}p {ar:0}l {ar:0}1bd:2026-11-20 0 2000 100000

local board = KEYS[3]
local start, size, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local reply = { redis.call('HGET', KEYS[1], FINGERPRINT), last and last[1] or '' }
local stop = start + size
local rows = start == 0 and redis.call('ZREVRANGE', board, 0, size - 1, 'WITHSCORES') or {}
local counter, members, visible
if start == 0 and #rows < 2 * size then
  -- The page has every member.
  members = #rows / 2
  for i = 1, #rows, 2 do
    if rows[i] == '#' then
      counter, visible = rows[i + 1], (i - 1) / 2
    end
  end
else
  counter, members = redis.call('ZSCORE', board, '#'), redis.call('ZCARD', board)
end
if not counter then
  return reply
end

if not visible then
  visible = redis.call('ZREVRANK', board, '#')
  if start >= limit and start < visible then
    start, stop = visible, visible + size
  elseif start < limit and visible > limit then
    stop = math.min(stop, limit)
  end
  rows = redis.call('ZREVRANGE', board, start, stop - 1, 'WITHSCORES')
end
local users, scores = {}, {}
for i = 1, #rows, 2 do
  if rows[i] ~= '#' then
    users[#users + 1] = rows[i]
    scores[#scores + 1] = tonumber(rows[i + 1])
  end
end
reply[3], reply[4], reply[5] = order_of(tonumber(counter)), members, visible
reply[6], reply[7], reply[8] = users, scores, stop
return reply
