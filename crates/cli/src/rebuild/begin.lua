-- Starts the rebuild of a shard, or takes over an unfinished one.
--
-- KEYS    1 rebuild state (hash)
-- ARGV    1 string: id of this run, the new owner   2 string: schema fingerprint of the deployment
--         3 string: purpose: '', 'preview', or the rules of a recount as JSON
-- Returns { phase, entry, fingerprint and purpose that the rebuild was started for }, all strings
-- State   the former owner's next script finds another owner and does nothing. No expiry.
-- Example EVAL text 1 {ar:0}r 7f3a 'v4 ...' ''

redis.call('HSETNX', KEYS[1], 'phase', 'replay')
redis.call('HSETNX', KEYS[1], 'entry', '0')
redis.call('HSETNX', KEYS[1], 'stamp', ARGV[2])
redis.call('HSETNX', KEYS[1], 'rules', ARGV[3])
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
return redis.call('HMGET', KEYS[1], 'phase', 'entry', 'stamp', 'rules')
