-- Reads a page of a board, best first, with the profiles of its users.
--
-- KEYS    1 schema fingerprint (string)   2 board (sorted set)   3 profiles (hash: user -> JSON)
-- ARGV    1 integer: offset, 0 or more   2 integer: limit, 1 or more
-- Returns { fingerprint or nil, total, users, scores (packed), profiles (JSON or nil) }
--         total  visible users, or nil if the board does not exist
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 3 {ar:0}s {ar:0}bd:2026-11-20 {ar:0}p 0 30

local total = redis.call('ZREVRANK', KEYS[2], '#')
local first = tonumber(ARGV[1])
local last = math.min(first + tonumber(ARGV[2]), total or 0) - 1
local users, scores, profiles = read_rows(KEYS[2], KEYS[3], first, last)
return { redis.call('GET', KEYS[1]), total, users, scores, profiles }
