-- Reads the numbers of visible users on boards.
--
-- KEYS    1 users (hash)   2.. boards (sorted set)
-- ARGV    none
-- Returns { fingerprint or nil, then for each board its visible users, or nil if it does not exist }
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 2 {ar:0}p {ar:0}1bd:2026-11-20

local reply = { redis.call('HGET', KEYS[1], FINGERPRINT) }
for i = 2, #KEYS do
  reply[i] = redis.call('ZREVRANK', KEYS[i], '#')
end
return reply
