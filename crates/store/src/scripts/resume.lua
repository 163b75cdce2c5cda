-- Ends a pause of the writers of a shard: the process that rebuilds has not ended it in time.
--
-- KEYS    1 users (hash)
-- ARGV    1 string: stored fingerprint with the pause   2 string: the same without it
-- Returns { stored fingerprint }
-- State   The rebuild finds that the pause has ended, and tries again.
-- Example EVALSHA sha 1 {ar:0}p 'paused 7f3a v4 ...' 'v4 ...'

if redis.call('HGET', KEYS[1], FINGERPRINT) == ARGV[1] then
  redis.call('HSET', KEYS[1], FINGERPRINT, ARGV[2])
end
return { redis.call('HGET', KEYS[1], FINGERPRINT) }
