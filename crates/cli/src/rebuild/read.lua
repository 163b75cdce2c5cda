-- Reads type, expiry and members of several keys atomically.
--
-- KEYS    any keys of one deployment
-- ARGV    1 integer: largest number of members of a key to return
--         2 integer: approximate largest number of members in the reply
-- Returns an array of { type, expiry, members }, one entry per key in the order of KEYS:
--         expiry in Unix ms, -1 for a key without expiry, -2 for a missing key;
--         members as a flat array, or nil if the key is missing or has more than ARGV[1].
--         The array is shorter than KEYS when ARGV[2] is reached; it has at least one entry.
-- State   unchanged
-- Example EVAL text 2 {ar:0}1m:42 {ar:0}1ba:all 500 4000

local sizes = { zset = 'ZCARD', hash = 'HLEN' }
local readers = { zset = { 'ZRANGE', '0', '-1', 'WITHSCORES' }, hash = { 'HGETALL' } }

-- Redis 6.2 has no PEXPIRETIME.
local function expiry_of(key)
  local expiry = redis.pcall('PEXPIRETIME', key)
  if type(expiry) == 'number' then
    return expiry
  end
  local ttl, now = redis.call('PTTL', key), redis.call('TIME')
  return ttl < 0 and ttl or ttl + now[1] * 1000 + math.floor(now[2] / 1000)
end

local reply, total = {}, 0
for i, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  local members = false
  local size = sizes[kind] and redis.call(sizes[kind], key)
  if size and size <= tonumber(ARGV[1]) then
    total = total + size
    if i > 1 and total > tonumber(ARGV[2]) then
      break
    end
    local reader = readers[kind]
    members = redis.call(reader[1], key, unpack(reader, 2))
  end
  reply[i] = { kind, expiry_of(key), members }
end
return reply
