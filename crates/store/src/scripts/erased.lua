-- Reads when users were erased.
--
-- KEYS    1 tombstones (hash: SHA-1 of an erased user -> instant, Unix ms)
-- ARGV    1.. string: user, at least one
-- Returns for each user the instant, nil for one who was not erased
-- Example EVALSHA sha 1 {ar:0}e 42

local hashes = {}
for i, user in ipairs(ARGV) do
  hashes[i] = redis.sha1hex(user)
end
return redis.call('HMGET', KEYS[1], unpack(hashes))
