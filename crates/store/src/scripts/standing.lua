-- Reads the standing of a user on a board, and the users around them.
--
-- KEYS    1 schema fingerprint (string)   2 board (sorted set)   3 profiles (hash: user -> JSON)
--         4 flags (hash: user -> 'flags,subject')
-- ARGV    1 string: user   2 integer: neighbours to read on each side, 1 or more
-- Returns { fingerprint or nil, total, profile or nil, rank, first rank of the page, users,
--         scores (packed), profiles (JSON or nil) }
--         total  visible users, or nil if the board does not exist
--         rank   from 0, as is the first rank. nil, and the last element of the reply, for a user who
--                is hidden or not on the board. The third element is nil for all but these, and for
--                hidden users.
--         users  include the user
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 4 {ar:0}s {ar:0}bd:2026-11-20 {ar:0}p {ar:0}f 42 2

local board, profiles = KEYS[2], KEYS[3]
local total = redis.call('ZREVRANK', board, '#')
local rank = redis.call('ZREVRANK', board, ARGV[1])
local reply = { redis.call('GET', KEYS[1]), total, false, rank }
if not rank or rank > (total or -1) then
  reply[3] = not is_hidden(KEYS[4], ARGV[1]) and redis.call('HGET', profiles, ARGV[1])
  reply[4] = false
  return reply
end

local first = math.max(rank - ARGV[2], 0)
local last = math.min(rank + ARGV[2], total - 1)
reply[5] = first
reply[6], reply[7], reply[8] = read_rows(board, profiles, first, last)
return reply
