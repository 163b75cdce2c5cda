-- Reads a page of a board, best first, with the profiles of its users.
--
-- KEYS    1 users (hash)   2 board (sorted set)   3 register (hash), for a board of content: rows.lua
-- ARGV    1 integer: offset, 0 or more   2 integer: limit, 1 or more
-- Returns { fingerprint or nil, total, users, scores (packed), profiles (JSON or nil) }
--         total  visible users, or nil if the board does not exist
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 2 {ar:0}p {ar:0}bd:2026-11-20 0 30

local total = redis.call('ZREVRANK', KEYS[2], '#')
local first = tonumber(ARGV[1])
local last = math.min(first + tonumber(ARGV[2]), total or 0) - 1
local fingerprint, users, scores, profiles, authors = read_rows(KEYS[2], first, last, KEYS[3])
return { fingerprint, total, users, scores, profiles, authors }
