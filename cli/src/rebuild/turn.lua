-- Goes from one phase of a rebuild to another.
--
-- KEYS  1 how far the rebuild is (hash)   2 stamp   3 index
-- ARGV  1 who does it   2 the phase it is in   3 the phase that comes   4 '1' to keep the audit list
-- Call  EVAL text 3 {ar:0}r {ar:0}s {ar:0}i 7f3a replay held 0
-- Reply { phase it is in now or nil, stamp }
--       The first is nil where somebody else has gone on with it. Nothing was changed where it is
--       another than ARGV 3; then perhaps because of the stamp.
-- State sent twice it is as sent once.
--
-- replay -> held -> delete -> rename, or from held back to replay; drop from anywhere but the last two.
-- While it is held the stamp is 'rebuilding ' and that of the site: the service writes nothing.

local owner, phase, site, had = unpack(redis.call('HMGET', KEYS[1], 'owner', 'phase', 'stamp', 'had'))
local stamp = redis.call('GET', KEYS[2])
local to = ARGV[3]
if owner ~= ARGV[1] then
  return { false, stamp }
elseif phase ~= ARGV[2] then
  return { phase, stamp }
end

if to == 'held' then
  if stamp and stamp ~= site then
    return { phase, stamp }
  end
  redis.call('HSET', KEYS[1], 'had', stamp and '1' or '0')
  redis.call('SET', KEYS[2], 'rebuilding ' .. site)
elseif phase == 'held' and to ~= 'delete' and stamp == 'rebuilding ' .. site then
  if had == '1' then
    redis.call('SET', KEYS[2], site)
  else
    redis.call('DEL', KEYS[2])
  end
elseif to == 'delete' then
  if stamp ~= 'rebuilding ' .. site then
    return { phase, stamp }
  end
  redis.call('HSET', KEYS[1], 'audit', ARGV[4])
elseif to == 'rename' then
  -- Boards are named anew, each when it is in its place.
  redis.call('DEL', KEYS[3])
end
redis.call('HSET', KEYS[1], 'phase', to)
return { to, stamp }
