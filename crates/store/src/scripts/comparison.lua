-- Reads several users on a board. Precedes the scripts that return them.

-- Returns the stored fingerprint, and the total, scores, ranks, profiles and accounts that compare.lua
-- returns.
local function compare(board, users)
  local total = redis.call('ZREVRANK', board, '#')
  local fields = { FINGERPRINT }
  for _, user in ipairs(users) do
    fields[#fields + 1] = user
    fields[#fields + 1] = FLAGS .. user
  end
  local values = redis.call('HMGET', KEYS[1], unpack(fields))
  local stored_scores = redis.call('ZMSCORE', board, unpack(users))
  local scores, ranks, profiles, accounts = {}, {}, {}, false
  for i, user in ipairs(users) do
    local score = tonumber(stored_scores[i] or 0)
    scores[i] = score > 0 and score
    ranks[i] = score > 0 and redis.call('ZREVRANK', board, user)
    profiles[i] = (score > 0 or not is_hidden(values[2 * i + 1])) and values[2 * i]
    local member = string.match(values[2 * i + 1] or '', ',>%d+ (.+)$')
    if member then
      accounts = accounts or {}
      accounts[#accounts + 1] = user
      accounts[#accounts + 1] = member
    end
  end
  return values[1], total, scores, ranks, profiles, accounts
end
