-- Reads the first few of several boards.
--
-- KEYS  1 stamp   2 profiles (hash: user -> JSON)   3.. boards (zset)
-- ARGV  1 how many of each, 1 or more
-- Call  EVALSHA sha 4 {ar:0}s {ar:0}p {ar:0}bd:2026-11-19 {ar:0}bd:2026-11-18 3
-- Reply { stamp or nil, { number of the board, total, users, scores (packed), profiles (JSON or nil) }, ... }
--       boards there are, by number from 0; one on which nobody is too
-- State unchanged. The member '#' is the board's order counter: it lies under all users, and over
--       those that are hidden.

local reply = { redis.call('GET', KEYS[1]) }
for i = 3, #KEYS do
  local total = redis.call('ZREVRANK', KEYS[i], '#')
  if total then
    local users, scores, profiles = {}, {}, {}
    if total > 0 then
      local rows = redis.call('ZREVRANGE', KEYS[i], 0, math.min(tonumber(ARGV[1]), total) - 1, 'WITHSCORES')
      for j = 1, #rows, 2 do
        users[#users + 1] = rows[j]
        scores[#scores + 1] = tonumber(rows[j + 1])
      end
      profiles = redis.call('HMGET', KEYS[2], unpack(users))
    end
    reply[#reply + 1] = { i - 3, total, users, scores, profiles }
  end
end
return reply
