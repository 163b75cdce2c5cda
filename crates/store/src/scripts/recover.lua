-- Undoes the changes of a call that a store has refused in the middle.
--
-- KEYS    1 users (hash)   2.. every key that the undo log names
-- ARGV    1 string: schema fingerprint of the caller
--         2 string: user
--         3 string: undo log
-- Returns { stored fingerprint }: if it differs from ARGV[1], nothing was changed
-- State   nothing is changed unless the stored undo log is ARGV[3]. restore.lua describes the log. Order
--         counters are not restored: others may have used them since.
-- Example EVALSHA sha 3 {ar:0}p {ar:0}ba:all {ar:0}m:42 'v3 ...' 42
--         '1795132800000\nz\n{ar:0}ba:all\n42\n\nh\n{ar:0}m:42\nLpost-7\n\n'

local user, log = ARGV[2], ARGV[3]
local stored_fingerprint, flags, stored_log =
  unpack(redis.call('HMGET', KEYS[1], FINGERPRINT, FLAGS .. user, UNDO_LOG .. user))
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
if stored_log == log then
  local instant, items = string.match(log, '^(%d+)\n(.*)$')
  for kind, key, field, former in string.gmatch(items, '(%a)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n') do
    restore(instant, kind, key, field, former, is_hidden(flags))
  end
  redis.call('HDEL', KEYS[1], UNDO_LOG .. user)
end
return { ARGV[1] }
