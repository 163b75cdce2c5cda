-- Reads the standings of a user on several boards of their shard, or the totals of boards of another shard.
--
-- KEYS    1 users (hash)   2.. boards (sorted set), of members or of authors
-- ARGV    1 string: user, or '' for totals alone
-- Returns { fingerprint or nil, profile (JSON, also of a hidden user) or nil, standings }
--         standings  for each board { total, rank, score, score above, member above }
--                    total  visible users, or nil if the board does not exist
--                    rank   from 0, and nil for a user who is hidden or not on the board; the score, as it is
--                           stored, is 0 then
--                    above  the next user above on this shard, nil for the first
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 3 {ar:0}p {ar:0}bd:2026-11-20 {ar:0}ba:all 42

local user = ARGV[1]

-- Returns the standing on a board with this number of visible users; false if there is no board.
local function standing_on(board, total)
  local rank = user ~= '' and total and redis.call('ZREVRANK', board, user)
  if not rank or rank > total then
    return { total, false, 0, false, false }
  end
  local rows = redis.call('ZREVRANGE', board, math.max(rank - 1, 0), rank, 'WITHSCORES')
  return { total, rank, tonumber(rows[#rows]), rank > 0 and tonumber(rows[2]), rank > 0 and rows[1] }
end

local standings = {}
for i = 2, #KEYS do
  standings[i - 1] = standing_on(KEYS[i], redis.call('ZREVRANK', KEYS[i], '#'))
end
local values = redis.call('HMGET', KEYS[1], FINGERPRINT, user)
return { values[1], values[2], standings }
