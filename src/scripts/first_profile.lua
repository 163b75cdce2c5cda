-- Gives a user a profile who has none, and is not frozen.
--
-- KEYS  1 stamp   2 profiles (hash: user -> JSON)   3 flags (hash: user -> 'flags,subject')
-- ARGV  1 stamp, what this configuration would stamp   2 user   3 JSON
-- Call  EVALSHA sha 3 {ar:0}s {ar:0}p {ar:0}f 'v1 ...' 42 '{"name":"Ada"}'
-- Reply { stamp held }: another than ARGV 1 means that nothing was changed.
-- State a profile that is there stays as it is. Profiles do not expire.

local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then
  return { held }
end
local flags = string.match(redis.call('HGET', KEYS[3], ARGV[2]) or '', '^%a*')
if string.find(flags, 'f') then
  return { ARGV[1] }
end
-- First what can fail: Redis does not roll a script back.
redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[3])
if not held then
  redis.call('SET', KEYS[1], ARGV[1])
end
return { ARGV[1] }
