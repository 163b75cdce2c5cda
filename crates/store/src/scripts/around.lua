-- Reads the users around a score of another shard, on a board of this shard.
--
-- KEYS    1 users (hash)   2 board (sorted set)   3 register (hash), for a board of content: rows.lua
--         or 3.. other boards (sorted set): related.lua
-- ARGV    1 string: lower bound of ZCOUNT: a packed score, inclusive '12' or exclusive '(12'
--         2 integer: users to read on each side, 1 or more
--         3 string: on a plain board the member of the score '(12' in ARGV[1], else ''
--         4.. for other boards: related.lua
-- Returns { fingerprint or nil, total, users above, users, scores (packed), profiles (JSON or nil), authors,
--         others }
--         total        visible users, or nil if the board does not exist
--         users above  on a plain board also those with an equal score and a greater member
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 2 {ar:3}p {ar:3}1bd:2026-11-20 '(5368709119' 2 ''
--         EVALSHA sha 3 {ar:3}p {ar:3}1bTd:2026-11-20 {ar:3}1t '(12' 2 post-7

local total = redis.call('ZREVRANK', KEYS[2], '#')
local above = count_above(KEYS[2], ARGV[1], ARGV[3])
local first = math.max(above - ARGV[2], 0)
local last = math.min(above + ARGV[2], total or 0) - 1
local fingerprint, users, scores, profiles, authors = read_rows(KEYS[2], first, last, not ARGV[4] and KEYS[3])
return { fingerprint, total, above, users, scores, profiles, authors, not authors and read_related(users) }
