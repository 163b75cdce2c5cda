-- Reads when users were erased.
--
-- KEYS    1 users (hash)   2 tombstones (hash: SHA-1 of an erased user -> instant, Unix ms)
-- ARGV    1.. string: user, at least one
-- Returns { schema fingerprint, instants }
--         instants  for each user, nil for one who was not erased
-- Example EVALSHA sha 2 {ar:0}p {ar:0}e 42

local hashes = {}
for i, user in ipairs(ARGV) do
  hashes[i] = redis.sha1hex(user)
end
return { redis.call('HGET', KEYS[1], FINGERPRINT), redis.call('HMGET', KEYS[2], unpack(hashes)) }
