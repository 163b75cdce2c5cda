-- Counts the members of a board that rank above a score of another shard. Follows bytes.lua.

-- Returns the number of members from a rank on that have a score and are greater than another member. Equal
-- scores rank by member, descending: a binary search finds it.
local function count_greater(board, first, score, member)
  local low, high = first, first + redis.call('ZCOUNT', board, score, score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if is_greater(redis.call('ZREVRANGE', board, middle, middle)[1], member) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low - first
end

-- Returns the number of members above a lower bound of ZCOUNT. On a plain board the bound is exclusive, '(12', and
-- `member` has that score; elsewhere `member` is ''.
local function count_above(board, bound, member)
  local above = redis.call('ZCOUNT', board, bound, '+inf')
  if member ~= '' then
    above = above + count_greater(board, above, string.sub(bound, 2), member)
  end
  return above
end
