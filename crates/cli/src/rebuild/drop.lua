-- Begins to delete what a rebuild has written.
--
-- KEYS    1 rebuild state (hash)   2 users (hash, with the schema fingerprint)
-- ARGV    1 string: id of this run
-- Returns 1, or 0 if another run owns the rebuild or its generation counts
-- State   idempotent. A fingerprint that the rebuild has stored in an empty shard is deleted if nothing else is there.
-- Example EVAL text 2 {ar:0}r {ar:0}p 7f3a

-- Field of the hash of users.
local FINGERPRINT = '\t'

local owner, phase, claimed, generation =
  unpack(redis.call('HMGET', KEYS[1], 'owner', 'phase', 'claimed', 'generation'))
local stored = redis.call('HGET', KEYS[2], FINGERPRINT) or ''
local counts = string.find(stored, 'generation=' .. tostring(generation) .. ' ', 1, true)
if owner ~= ARGV[1] or counts or phase ~= 'replay' and phase ~= 'drop' then
  return 0
end
redis.call('HSET', KEYS[1], 'phase', 'drop')
if claimed == '1' and redis.call('HLEN', KEYS[2]) == 1 then
  redis.call('HDEL', KEYS[2], FINGERPRINT)
end
return 1
