-- Reads the states of boards, which show whether a board has changed since it was archived.
--
-- KEYS    1 users (hash)   2.. boards (sorted set)
-- ARGV    none
-- Returns { fingerprint or nil, then for each board its state, or nil if it does not exist }
--         state    { order counter, members, visible users }
--         members  ZCARD of the board: includes the counter '#' and hidden users
-- State   read only.
-- Example EVALSHA sha 2 {ar:0}p {ar:0}1bd:2026-11-20

local reply = { redis.call('HGET', KEYS[1], FINGERPRINT) }
for i = 2, #KEYS do
  local counter = redis.call('ZSCORE', KEYS[i], '#')
  reply[i] = counter and {
    order_of(tonumber(counter)), redis.call('ZCARD', KEYS[i]), redis.call('ZREVRANK', KEYS[i], '#'),
  }
end
return reply
