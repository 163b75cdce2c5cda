-- Reads the standings of a user on several boards of their shard, or the totals of boards of another shard.
--
-- KEYS    1 users (hash)   2.. boards (sorted set), of members or of authors
--         then, with ARGV[2] above 0: active records of the user (hash)
--         last: histories of the user (hash)
-- ARGV    1 string: user, or '' for totals alone
--         2 integer: number of boards, from the first on, on which the user is compared with their friends
--         3 integer: number of histories
-- Returns { fingerprint or nil, profile (JSON, also of a hidden user) or nil, standings, friends, definitions,
--           flags, histories, pauses }
--         definitions  of events, or nil
--         flags      of the user, or nil
--         histories  for each history its fields and values; none unless everyone may read the user's activity
--         pauses     of the user, or ''; none either
--         friends    the users whom the user follows, see follows.lua
--         standings  for each board { total, rank, score, score above, member above, friends, friends above }
--                    total  visible users, or nil if the board does not exist
--                    rank   from 0, and nil for a user who is hidden or not on the board; the score, as it is
--                           stored, is 0 then
--                    above  the next user above on this shard, nil for the first
--                    friends  on this shard with a rank; the number of friends above, if the user has a rank
-- State   read only. The order counter '#' ranks below all visible users and above hidden users.
-- Example EVALSHA sha 3 {ar:0}p {ar:0}1bd:2026-11-20 {ar:0}1ba:all 42 0 0
--         EVALSHA sha 4 {ar:0}p {ar:0}1bd:2026-11-20 {ar:0}1ba:all {ar:0}1m:42 42 1 0
--         EVALSHA sha 4 {ar:0}p {ar:0}1bd:2026-11-20 {ar:0}1h:670:42 {ar:0}1h:671:42 42 0 2

local user, compared = ARGV[1], tonumber(ARGV[2])
local last_record = #KEYS - tonumber(ARGV[3])
local last_board = compared > 0 and last_record - 1 or last_record
local follows = compared > 0 and read_follows(KEYS[last_record], user) or {}

-- Returns the standing on a board with this number of visible users; false if there is no board.
local function standing_on(board, total)
  local rank = user ~= '' and total and redis.call('ZREVRANK', board, user)
  if not rank or rank > total then
    return { total, false, 0, false, false }
  end
  local rows = redis.call('ZREVRANGE', board, math.max(rank - 1, 0), rank, 'WITHSCORES')
  return { total, rank, tonumber(rows[#rows]), rank > 0 and tonumber(rows[2]), rank > 0 and rows[1] }
end

-- Scores on one shard are equal only after the last order number. Then the greater member ranks higher.
local function is_above(id, score, own)
  return score > own or score == own and is_greater(id, user)
end

local standings = {}
for i = 2, last_board do
  local standing = standing_on(KEYS[i], redis.call('ZREVRANK', KEYS[i], '#'))
  if i - 1 <= compared then
    standing[6], standing[7] = count_friends(KEYS[i], follows, function(id, score)
      return is_above(id, score, standing[3])
    end)
  end
  standings[i - 1] = standing
end
local fingerprint, profile, definitions, flags, pauses =
  unpack(redis.call('HMGET', KEYS[1], FINGERPRINT, user, DEFINITIONS, FLAGS .. user, PAUSES .. user))

-- Quotation marks in a name are escaped, so this is the field.
local is_public = profile and string.find(profile, '"public_activity":true', 1, true)
local histories, shown = {}, ''
if is_public and not is_hidden(flags) then
  shown = pauses or ''
  for i = last_record + 1, #KEYS do
    histories[#histories + 1] = redis.call('HGETALL', KEYS[i])
  end
end
return { fingerprint, profile, standings, follows, definitions, flags, histories, shown }
