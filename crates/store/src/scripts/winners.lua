-- Reads the first users of several boards.
--
-- KEYS    1 users (hash)   2.. boards (sorted set)
-- ARGV    1 integer: users to read of each board, 1 or more
-- Returns { fingerprint or nil, then for each board that exists:
--         { number of the board (from 0), visible users, users, scores (packed), profiles (JSON or nil) } }
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 3 {ar:0}p {ar:0}1bd:2026-11-19 {ar:0}1bd:2026-11-18 3

local reply = {}
for i = 2, #KEYS do
  local total = redis.call('ZREVRANK', KEYS[i], '#')
  if total then
    local last = math.min(tonumber(ARGV[1]), total) - 1
    local fingerprint, users, scores, profiles = read_rows(KEYS[i], 0, last)
    reply[1] = fingerprint
    reply[#reply + 1] = { i - 2, total, users, scores, profiles }
  end
end
reply[1] = reply[1] or redis.call('HGET', KEYS[1], FINGERPRINT)
return reply
