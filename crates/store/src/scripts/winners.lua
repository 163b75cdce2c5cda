-- Reads the first users of several boards.
--
-- KEYS    1 schema fingerprint (string)   2 profiles (hash: user -> JSON)   3.. boards (sorted set)
-- ARGV    1 integer: users to read of each board, 1 or more
-- Returns { fingerprint or nil, then for each board that exists:
--         { number of the board (from 0), visible users, users, scores (packed), profiles (JSON or nil) } }
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 4 {ar:0}s {ar:0}p {ar:0}bd:2026-11-19 {ar:0}bd:2026-11-18 3

local reply = { redis.call('GET', KEYS[1]) }
for i = 3, #KEYS do
  local total = redis.call('ZREVRANK', KEYS[i], '#')
  if total then
    local last = math.min(tonumber(ARGV[1]), total) - 1
    local users, scores, profiles = read_rows(KEYS[i], KEYS[2], 0, last)
    reply[#reply + 1] = { i - 3, total, users, scores, profiles }
  end
end
return reply
