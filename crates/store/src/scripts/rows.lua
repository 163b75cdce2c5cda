-- Reads rows of a board. Precedes the scripts that return rows.

-- Returns the users, the packed scores and the profiles of the rows with the ranks `first` to `last`
-- (from 0), best first; empty lists if `last` is below `first`.
local function read_rows(board, profiles, first, last)
  local users, scores = {}, {}
  if first > last then
    return users, scores, {}
  end
  local rows = redis.call('ZREVRANGE', board, first, last, 'WITHSCORES')
  for i = 1, #rows, 2 do
    users[#users + 1] = rows[i]
    scores[#scores + 1] = tonumber(rows[i + 1])
  end
  return users, scores, redis.call('HMGET', profiles, unpack(users))
end
