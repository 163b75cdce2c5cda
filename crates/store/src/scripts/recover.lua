-- Undoes the changes of a call that a store has refused in the middle.
--
-- KEYS    1 schema fingerprint (string)
--         2 flags (hash: user -> 'flags,subject'; '\t' .. user -> undo log)
--         3.. every key that the undo log names
-- ARGV    1 string: schema fingerprint of the caller   2 string: user   3 string: undo log
-- Returns { stored fingerprint }: if it differs from ARGV[1], nothing was changed
-- State   nothing is changed unless the stored undo log is ARGV[3]. restore.lua describes the log. Order
--         counters are not restored: others may have used them since.
-- Example EVALSHA sha 4 {ar:0}s {ar:0}f {ar:0}ba:all {ar:0}m:42 'v3 ...' 42
--         '1795132800000\nz\n{ar:0}ba:all\n42\n\nh\n{ar:0}m:42\nLpost-7\n\n'

local stored_fingerprint = redis.call('GET', KEYS[1])
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
local user, log = ARGV[2], ARGV[3]
local flags, stored_log = unpack(redis.call('HMGET', KEYS[2], user, UNFINISHED .. user))
if stored_log == log then
  local hidden = string.find(string.match(flags or '', '^%a*'), '[hs]') ~= nil
  local instant, items = string.match(log, '^(%d+)\n(.*)$')
  for kind, key, field, former in string.gmatch(items, '(%a)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n') do
    restore(instant, kind, key, field, former, hidden)
  end
  redis.call('HDEL', KEYS[2], UNFINISHED .. user)
end
return { ARGV[1] }
