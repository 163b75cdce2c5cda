-- Deletes keys that a rebuild has written and that have expired, and names the boards that are left in the index.
--
-- KEYS    1 rebuild state (hash)   2 index (sorted set) of the generation that is written   3.. keys of it
-- ARGV    1 string: id of this run   2 integer: a longer TTL in ms marks a key as expired
--         3 integer: the latest expiry of a span in the index, Unix s   4 integer: now, Unix s
-- Returns 1, or 0 if another run owns the rebuild
-- State   idempotent. Without keys, shortens the expiries of spans in the index.
-- Example EVAL text 3 {ar:0}r {ar:0}2i {ar:0}2bd:2026-01-01 7f3a 3600000000000 1800576000 1795132800

if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
  return 0
end
local index = KEYS[2]
for i = 3, #KEYS do
  local ttl, board = redis.call('PTTL', KEYS[i]), string.match(string.sub(KEYS[i], #index), '^b(.*)$')
  if ttl > tonumber(ARGV[2]) then
    redis.call('UNLINK', KEYS[i])
    if board then
      redis.call('ZREM', index, board)
    end
  elseif board then
    local expiry = ttl < 0 and 'inf' or string.format('%.0f', ARGV[4] + math.ceil(ttl / 1000) + 86400)
    redis.call('ZADD', index, expiry, board)
  end
end
if #KEYS == 2 then
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', index, '(' .. ARGV[3], '(inf')) do
    if not string.find(name, '^%a') then
      redis.call('ZADD', index, ARGV[3], name)
    end
  end
end
return 1
