-- Reads whom a user follows, and with a board the scores and ranks of the user and of these.
--
-- KEYS    1 users (hash)
--         2 board (sorted set), 3.. other boards, see related.lua: if all users are on this shard
--         last: active records of the user (hash)
-- ARGV    1 string: user   2.. with a board: for each key after it as in related.lua, '' for the last key
-- Returns { fingerprint or nil, total, scores, ranks, profiles, related, accounts, users }
--         users  the user, and then those followed, see follows.lua. The columns before, nil without a board,
--                belong to them; see compare.lua
-- State   read only.
-- Example EVALSHA sha 3 {ar:0}p {ar:0}1bd:2026-11-20 {ar:0}1m:42 42 ''

local users = { ARGV[1], unpack(read_follows(KEYS[#KEYS], ARGV[1])) }
if #KEYS == 2 then
  return { redis.call('HGET', KEYS[1], FINGERPRINT), false, false, false, false, false, false, users }
end
local fingerprint, total, scores, ranks, profiles, accounts = compare(KEYS[2], users)
local related = read_related(users)
related[#related] = nil
return { fingerprint, total, scores, ranks, profiles, related, accounts, users }
