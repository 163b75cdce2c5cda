-- Reads keys, each whole and at one instant.
--
-- KEYS  any of one site
-- ARGV  1 the most members of a key that is read whole   2 the most members in a reply, about
-- Call  EVAL text 2 {ar:0}m:42 {ar:0}ba:all 500 4000
-- Reply { type, expiry in Unix ms (-1 never), members or nil } for each key, as far as the reply has
--       room: the rest is for another call. Members are nil where there are more, or no such key.
-- State unchanged.

local sizes = { zset = 'ZCARD', hash = 'HLEN' }
local readers = { zset = { 'ZRANGE', '0', '-1', 'WITHSCORES' }, hash = { 'HGETALL' } }

-- Redis before 7.0 only tells what is left.
local function expiry_of(key)
  local expiry = redis.pcall('PEXPIRETIME', key)
  if type(expiry) == 'number' then
    return expiry
  end
  local left, now = redis.call('PTTL', key), redis.call('TIME')
  return left < 0 and left or left + now[1] * 1000 + math.floor(now[2] / 1000)
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
