-- Counts friends with a rank on a board.

-- Returns the number of friends with a rank on a board of members, and the number of friends above: `is_above` takes
-- an id and a packed score.
local function count_friends(board, friends, is_above)
  local ranked, above = 0, 0
  for i, stored in ipairs(#friends > 0 and redis.call('ZMSCORE', board, unpack(friends)) or {}) do
    -- Scores of hidden users are stored negated.
    local score = tonumber(stored or 0)
    ranked = ranked + (score > 0 and 1 or 0)
    above = above + (score > 0 and is_above(friends[i], score) and 1 or 0)
  end
  return ranked, above
end
