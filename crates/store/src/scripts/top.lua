-- Reads a page of a board, best first, with the profiles of its users.
--
-- KEYS    1 users (hash)   2 board (sorted set)   3 register (hash), for a board of content: rows.lua
--         or 3.. other boards (sorted set): related.lua
-- ARGV    1 integer: offset, 0 or more   2 integer: limit, 0 or more   3.. for other boards: related.lua
-- Returns { fingerprint or nil, total, users, scores (packed), profiles (JSON or nil), authors, others }
--         total  visible users, or nil if the board does not exist
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 2 {ar:0}p {ar:0}1bd:2026-11-20 0 30

local total = redis.call('ZREVRANK', KEYS[2], '#')
local first = tonumber(ARGV[1])
local last = math.min(first + tonumber(ARGV[2]), total or 0) - 1
local fingerprint, users, scores, profiles, authors = read_rows(KEYS[2], first, last, not ARGV[3] and KEYS[3])
return { fingerprint, total, users, scores, profiles, authors, not authors and read_related(users) }
