-- Reads the last user above each of several scores of another shard, on boards of this shard.
--
-- KEYS    1 users (hash)   2.. boards (sorted set)
-- ARGV    1 integer: number of boards, from the first on, on which friends are counted
--         for each board: string: lower bound of ZCOUNT: a packed score, inclusive '12' or exclusive '(12';
--                         '' to read nothing
--                         string: on a plain board the member of the score '(12', else ''
--         string: friends on this shard
-- Returns { fingerprint or nil, rows }
--         rows  for each board { users above, score, member, friends, friends above }
--               score, member  of the last user above, or nil
--               friends        with a rank, and friends above the score; see standings.lua
-- State   read only. Every packed score is above that of the order counter '#'.
-- Example EVALSHA sha 3 {ar:3}p {ar:3}1bd:2026-11-20 {ar:3}1bAa:all 1 '(5368709119' '' '(12' 9 7

local compared, friends = tonumber(ARGV[1]), { unpack(ARGV, 2 * #KEYS) }

local rows = {}
for i = 2, #KEYS do
  local bound = ARGV[2 * i - 2]
  local above = bound ~= '' and count_above(KEYS[i], bound, ARGV[2 * i - 1]) or 0
  local last = above > 0 and redis.call('ZREVRANGE', KEYS[i], above - 1, above - 1, 'WITHSCORES') or {}
  local row = { above, last[2] and tonumber(last[2]) or false, last[1] or false }
  if i - 1 <= compared then
    local exclusive, least = string.match(bound, '^(%(?)(%d*)$')
    least = tonumber(least) or math.huge
    row[4], row[5] = count_friends(KEYS[i], friends, function(_, score)
      return score > least or score == least and exclusive == ''
    end)
  end
  rows[i - 1] = row
end
return { redis.call('HGET', KEYS[1], FINGERPRINT), rows }
