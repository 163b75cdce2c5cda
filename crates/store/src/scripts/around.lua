-- Reads the users around a score of another shard, on a board of this shard.
--
-- KEYS    1 users (hash)   2 board (sorted set)
-- ARGV    1 string: lower bound of ZCOUNT: a packed score, inclusive '12' or exclusive '(12'
--         2 integer: users to read on each side, 1 or more
-- Returns { fingerprint or nil, total, users above, users, scores (packed), profiles (JSON or nil) }
--         total  visible users, or nil if the board does not exist
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 2 {ar:3}p {ar:3}bd:2026-11-20 '(5368709119' 2

local total = redis.call('ZREVRANK', KEYS[2], '#')
local above = redis.call('ZCOUNT', KEYS[2], ARGV[1], '+inf')
local first = math.max(above - ARGV[2], 0)
local last = math.min(above + ARGV[2], total or 0) - 1
local fingerprint, users, scores, profiles = read_rows(KEYS[2], first, last)
return { fingerprint, total, above, users, scores, profiles }
