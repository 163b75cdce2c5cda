-- Gives a user a profile who has none, and is not frozen.
--
-- KEYS  1 stamp   2 profiles (hash: user -> JSON)   3 flags (hash: user -> 'flags,subject')
--       4 outbox of the journal (stream)
-- ARGV  1 stamp, what this configuration would stamp   2 now, Unix ms   3 '1' to write what changes to the outbox
--       4 user   5 JSON
-- Call  EVALSHA sha 4 {ar:0}s {ar:0}p {ar:0}f {ar:0}o 'v2 ...' 1795132800000 0 42 '{"name":"Ada"}'
-- Reply { stamp held }: another than ARGV 1 means that nothing was changed.
-- State a profile that is there stays as it is. Profiles do not expire.

local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then
  return { held }
end
local outbox = ARGV[3] == '1' and KEYS[4] or nil
local user, json = ARGV[4], ARGV[5]
local flags = string.match(redis.call('HGET', KEYS[3], user) or '', '^%a*')
if string.find(flags, 'f') then
  return { ARGV[1] }
end
-- First what can fail: Redis does not roll a script back.
check_outbox(outbox)
local made = redis.call('HSETNX', KEYS[2], user, json) == 1
if not held then
  redis.call('SET', KEYS[1], ARGV[1])
end
if made then
  write_outbox(outbox, 'profile', 'now', ARGV[2], 'user', user, 'json', json, 'hidden', '')
end
return { ARGV[1] }
