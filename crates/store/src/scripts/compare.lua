-- Reads scores and ranks of several users on a board, in the order of the arguments.
--
-- KEYS    1 users (hash)   2 board (sorted set)   3.. other boards (sorted set): related.lua
-- ARGV    1.. string: users, 1 to 100; then for other boards: related.lua
-- Returns { fingerprint or nil, total, scores (packed) or nil, ranks (from 0) or nil, profiles (JSON or nil),
--         others, accounts }
--         total          visible users, or nil if the board does not exist
--         scores, ranks  nil for users who are hidden or not on the board
--         profiles       nil for hidden users
--         accounts       of the users: of each the id, then its member; nil without any
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 2 {ar:0}p {ar:0}1bd:2026-11-20 7 42

local users = { unpack(ARGV, 1, #ARGV - #KEYS + 2) }
local fingerprint, total, scores, ranks, profiles, accounts = compare(KEYS[2], users)
return { fingerprint, total, scores, ranks, profiles, read_related(users), accounts }
