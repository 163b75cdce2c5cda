-- Reads a page of the scores of a board, best first.
--
-- KEYS    1 users (hash)   2 board (sorted set)
-- ARGV    1 integer: offset, 0 or more   2 integer: limit, 1 or more   3 '1' to return members
-- Returns { fingerprint or nil, total, scores (packed), members }
--         total    visible users, or nil if the board does not exist
--         members  empty unless ARGV[3] is '1'
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 2 {ar:3}p {ar:3}1bd:2026-11-20 12500 600 0

local total = redis.call('ZREVRANK', KEYS[2], '#')
local first = tonumber(ARGV[1])
local last = math.min(first + ARGV[2], total or 0) - 1
local scores, members = {}, {}
if first <= last then
  local rows = redis.call('ZREVRANGE', KEYS[2], first, last, 'WITHSCORES')
  for i = 2, #rows, 2 do
    scores[#scores + 1] = tonumber(rows[i])
    members[#members + 1] = ARGV[3] == '1' and rows[i - 1] or nil
  end
end
return { redis.call('HGET', KEYS[1], FINGERPRINT), total, scores, members }
