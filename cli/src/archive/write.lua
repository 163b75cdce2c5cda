-- Writes a part of a site that is being restored, as long as it is.
--
-- KEYS  1 stamp   2.. any others
-- ARGV  1 the stamp of this restore, then commands: name, number of the key, how many arguments, those
-- Call  EVAL text 2 {ar:0}s {ar:0}m:42 'restoring ...' HSET 2 2 like:post-7 1795132800000,2,2026-11-20,dwmya
-- Reply 1, or 0 where the stamp is another: nothing was changed.
-- State sent twice it is as sent once. A late copy finds another stamp when the restore has ended.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
local at = 2
while ARGV[at] do
  local name, key, count = ARGV[at], KEYS[tonumber(ARGV[at + 1])], tonumber(ARGV[at + 2])
  local done = redis.pcall(name, key, unpack(ARGV, at + 3, at + 2 + count))
  if type(done) == 'table' and done.err then
    -- An entry of a stream that is there already.
    if name ~= 'XADD' or not string.find(done.err, 'equal or smaller', 1, true) then
      return done
    end
  end
  at = at + 3 + count
end
return 1
