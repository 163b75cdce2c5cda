-- Replaces the pauses of a user, unless they are others than the caller knows. Follows journal.lua.
--
-- KEYS    1 users (hash)   2 outbox of the journal (stream)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms
--         3 '1' to write the change to the outbox      4 '1' if a member sends their own pauses
--         5 string: user   6 string: the pauses that the caller knows, or ''   7 string: the new ones, or ''
--         8 string: today, as in pauses
-- Returns { schema fingerprint, refusal, pauses }
--         refusal  '', or 'frozen' for a member who is frozen, or '>2 9' for an account of member 9
--         pauses   that were stored, or '': with a refusal, or with others than ARGV[6], nothing was changed
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   Pauses do not expire.
-- Example EVALSHA sha 2 {ar:0}p {ar:0}o 'v4 ...' 1795132800000 0 1 42 '' 2026-12-20/2027-01-03 2026-11-20

local user, known, pauses = ARGV[5], ARGV[6], ARGV[7]
local stored_fingerprint, flags, stored =
  unpack(redis.call('HMGET', KEYS[1], FINGERPRINT, FLAGS .. user, PAUSES .. user))
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
local outbox = ARGV[3] == '1' and KEYS[2] or nil
stored = stored or ''
local accounts = accounts_of(flags)
if string.find(accounts, '^>') then
  return { ARGV[1], accounts, stored }
end
if ARGV[4] == '1' and string.find(flags or '', '^%a*f') then
  return { ARGV[1], 'frozen', stored }
end
if stored == known and pauses ~= stored then
  check_outbox(outbox)
  local id = write_outbox(outbox, 'pause', 'now', ARGV[2], 'user', user, 'pauses', pauses, 'day', ARGV[8])
  -- A store that refuses the pauses loses the entry again.
  write_after(outbox, id, function()
    if pauses == '' then
      redis.call('HDEL', KEYS[1], PAUSES .. user)
    else
      redis.call('HSET', KEYS[1], FINGERPRINT, ARGV[1], PAUSES .. user, pauses)
    end
  end)
end
return { ARGV[1], '', stored }
