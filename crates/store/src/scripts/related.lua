-- Reads what other boards know of the users of a reply. Precedes the scripts that read boards.
--
-- KEYS    3.. other boards (sorted set), none for a board of content
-- ARGV    at the end, for each of these boards:
--         string: 'r' to read ranks, 's' scores, 'b' both; then ' 7 42 ', users whose ranks the caller knows

-- Returns { total, ranks (from 0) or nil, scores (packed) or 0 } of users for each of these boards, empty lists for
-- what is not read. The total is nil for a board that does not exist, and if ranks are not read. Hidden users
-- and those not on the board have no rank, and 0; users whose ranks the caller knows have no rank either.
local function read_related(users)
  local related = {}
  for i = 3, #KEYS do
    local what = ARGV[#ARGV - #KEYS + i]
    local total, ranks, scores = false, {}, {}
    if string.find(what, '^[rb]') then
      total = redis.call('ZREVRANK', KEYS[i], '#')
      for n, user in ipairs(users) do
        local is_known = string.find(what, ' ' .. user .. ' ', 1, true)
        local rank = total and not is_known and redis.call('ZREVRANK', KEYS[i], user)
        ranks[n] = rank and rank < total and rank
      end
    end
    if string.find(what, '^[sb]') and #users > 0 then
      for n, score in ipairs(redis.call('ZMSCORE', KEYS[i], unpack(users))) do
        scores[n] = math.max(tonumber(score or 0), 0)
      end
    end
    related[i - 2] = { total, ranks, scores }
  end
  return related
end
