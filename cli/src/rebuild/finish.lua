-- Ends the rebuild of a shard: names the spans of histories, and lets the service write again.
--
-- KEYS  1 how far the rebuild is (hash)   2 stamp   3 index   4 index of the shadow
--       5.. what else is left of the shadow
-- ARGV  1 who does it   2 the latest that a span may be known, Unix s
--       3 '1' where the journal of the site tells anything: then every shard has its stamp
-- Call  EVAL text 6 {ar:0}r {ar:0}s {ar:0}i {ar:0}~i {ar:0}~s {ar:0}~a 7f3a 1800576000 1
-- Reply 1, or 0 where somebody else has gone on with it, or the phase is another
-- State the stamp is that of the site, if there is anything of it or was. For a day it is known that
--       this shard is done: so long whoever runs it again goes on with the others.

local owner, phase, site, had = unpack(redis.call('HMGET', KEYS[1], 'owner', 'phase', 'stamp', 'had'))
if owner ~= ARGV[1] or phase ~= 'rename' then
  return 0
end
local names = redis.call('ZRANGE', KEYS[4], 0, -1, 'WITHSCORES')
for i = 1, #names, 2 do
  -- Boards are named by key, and by the swap.
  if string.sub(names[i], 1, 1) ~= '{' then
    local expiry = math.min(tonumber(names[i + 1]), tonumber(ARGV[2]))
    redis.call('ZADD', KEYS[3], string.format('%.0f', expiry), names[i])
  end
end
if had == '1' or ARGV[3] == '1' then
  redis.call('SET', KEYS[2], site)
else
  redis.call('DEL', KEYS[2])
end
for i = 4, #KEYS do
  redis.call('UNLINK', KEYS[i])
end
redis.call('HSET', KEYS[1], 'phase', 'done')
redis.call('EXPIRE', KEYS[1], 86400)
return 1
