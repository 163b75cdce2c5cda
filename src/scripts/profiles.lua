-- Writes profiles, each replacing the one before.
--
-- KEYS  1 stamp   2 profiles (hash: user -> JSON)
-- ARGV  1 stamp, what this configuration would stamp   2.. user, JSON, user, JSON, ...
-- Call  EVALSHA sha 2 {ar:0}s {ar:0}p 'v1 ...' 42 '{"name":"Ada"}'
-- Reply { stamp held }: another than ARGV 1 means that nothing was changed.
-- State profiles do not expire.

local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then
  return { held }
end
redis.call('HLEN', KEYS[2])

if not held then
  redis.call('SET', KEYS[1], ARGV[1])
end
for i = 2, #ARGV, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
return { ARGV[1] }
