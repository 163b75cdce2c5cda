-- Reads scores and ranks of several users on a board, in the order of the arguments.
--
-- KEYS    1 users (hash)   2 board (sorted set)   3.. other boards (sorted set): others.lua
-- ARGV    1.. string: users, 1 to 100; then for other boards: others.lua
-- Returns { fingerprint or nil, total, scores (packed) or nil, ranks (from 0) or nil, profiles (JSON or nil),
--         others }
--         total          visible users, or nil if the board does not exist
--         scores, ranks  nil for users who are hidden or not on the board
--         profiles       nil for hidden users
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 2 {ar:0}p {ar:0}bd:2026-11-20 7 42

local board = KEYS[2]
local total = redis.call('ZREVRANK', board, '#')
local users, fields = { unpack(ARGV, 1, #ARGV - #KEYS + 2) }, { FINGERPRINT }
for _, user in ipairs(users) do
  fields[#fields + 1] = user
  fields[#fields + 1] = FLAGS .. user
end
local values = redis.call('HMGET', KEYS[1], unpack(fields))
local stored_scores = redis.call('ZMSCORE', board, unpack(users))
local scores, ranks, profiles = {}, {}, {}
for i, user in ipairs(users) do
  local score = tonumber(stored_scores[i] or 0)
  scores[i] = score > 0 and score
  ranks[i] = score > 0 and redis.call('ZREVRANK', board, user)
  profiles[i] = (score > 0 or not is_hidden(values[2 * i + 1])) and values[2 * i]
end
return { values[1], total, scores, ranks, profiles, read_others(users) }
