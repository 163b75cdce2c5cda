-- Tells of boards whether they are still what was archived of them.
--
-- KEYS  1 stamp   2.. boards (zset)
-- Call  EVALSHA sha 2 {ar:0}s {ar:0}bd:2026-11-20
-- Reply { stamp or nil, for each board nil where there is none, or { order counter, members, seen, seconds to live } }
--       members  all there are, the counter '#' and who is hidden with them
--       seen     how many are seen: those above the counter
-- State unchanged.

local reply = { redis.call('GET', KEYS[1]) }
for i = 2, #KEYS do
  local counter = redis.call('ZSCORE', KEYS[i], '#')
  reply[i] = counter and {
    tonumber(counter), redis.call('ZCARD', KEYS[i]), redis.call('ZREVRANK', KEYS[i], '#'), redis.call('TTL', KEYS[i]),
  }
end
return reply
