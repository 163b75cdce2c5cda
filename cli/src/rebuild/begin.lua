-- Takes hold of a rebuild, or begins one.
--
-- KEYS  1 how far the rebuild is (hash)
-- ARGV  1 who does it from now on   2 the stamp of the site
-- Call  EVAL text 1 {ar:0}r 7f3a 'v2 ...'
-- Reply { phase, entry, stamp of the site it was begun for }
-- State whoever did it before is told so at its next step.

redis.call('HSETNX', KEYS[1], 'phase', 'replay')
redis.call('HSETNX', KEYS[1], 'entry', '0')
redis.call('HSETNX', KEYS[1], 'stamp', ARGV[2])
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
return redis.call('HMGET', KEYS[1], 'phase', 'entry', 'stamp')
