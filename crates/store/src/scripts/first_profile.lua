-- Writes the profile of a user who has none, is not frozen, and is no account of a member.
--
-- KEYS    1 users (hash)   2 outbox of the journal (stream)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms
--         3 '1' to write the change to the outbox      4 string: user   5 string: profile, JSON
-- Returns { stored fingerprint, 1 or nil }: 1 if the profile was written
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   An existing profile is not changed. Profiles do not expire.
-- Example EVALSHA sha 2 {ar:0}p {ar:0}o 'v4 ...' 1795132800000 0 42 '{"name":"Ada"}'

local user, json = ARGV[4], ARGV[5]
local stored_fingerprint, flags, profile =
  unpack(redis.call('HMGET', KEYS[1], FINGERPRINT, FLAGS .. user, user))
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
local outbox = ARGV[3] == '1' and KEYS[2] or nil
if profile or string.find(flags or '', '^%a*f') or string.find(accounts_of(flags), '^>') then
  return { ARGV[1] }
end
-- Redis does not roll a script back. The journal comes first: a profile without its entry would never
-- get one, because a retry finds the profile.
local id = write_outbox(outbox, 'profile', 'now', ARGV[2], 'user', user, 'json', json, 'hidden', '')
local written, reason = pcall(redis.call, 'HSET', KEYS[1], FINGERPRINT, ARGV[1], user, json)
if not written then
  if id then
    redis.call('XDEL', outbox, id)
  end
  error(reason, 0)
end
return { ARGV[1], 1 }
