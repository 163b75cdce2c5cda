-- Reads rows of a board. Precedes the scripts that return rows.

-- Returns the stored fingerprint, and the users, the packed scores and the profiles of the rows with the
-- ranks `first` to `last` (from 0), best first; empty lists if `last` is below `first`.
local function read_rows(board, first, last)
  local users, scores = {}, {}
  local rows = first <= last and redis.call('ZREVRANGE', board, first, last, 'WITHSCORES') or {}
  for i = 1, #rows, 2 do
    users[#users + 1] = rows[i]
    scores[#scores + 1] = tonumber(rows[i + 1])
  end
  local profiles = redis.call('HMGET', KEYS[1], FINGERPRINT, unpack(users))
  return table.remove(profiles, 1), users, scores, profiles
end
