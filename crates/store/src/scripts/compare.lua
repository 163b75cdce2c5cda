-- Reads scores and ranks of several users on a board, in the order of the arguments.
--
-- KEYS    1 schema fingerprint (string)   2 board (sorted set)   3 profiles (hash: user -> JSON)
--         4 flags (hash: user -> 'flags,subject')
-- ARGV    1.. string: users, 1 to 100
-- Returns { fingerprint or nil, total, scores (packed) or nil, ranks (from 0) or nil, profiles (JSON or nil) }
--         total          visible users, or nil if the board does not exist
--         scores, ranks  nil for users who are hidden or not on the board
--         profiles       nil for hidden users
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 4 {ar:0}s {ar:0}bd:2026-11-20 {ar:0}p {ar:0}f 7 42

local board = KEYS[2]
local total = redis.call('ZREVRANK', board, '#')
local scores, ranks, profiles = {}, {}, redis.call('HMGET', KEYS[3], unpack(ARGV))
for i, user in ipairs(ARGV) do
  local score = tonumber(redis.call('ZSCORE', board, user) or 0)
  scores[i] = score > 0 and score
  ranks[i] = score > 0 and redis.call('ZREVRANK', board, user)
  if profiles[i] and score <= 0 and is_hidden(KEYS[4], user) then
    profiles[i] = false
  end
end
return { redis.call('GET', KEYS[1]), total, scores, ranks, profiles }
