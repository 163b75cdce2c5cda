-- Writes the profile of a user who has none and is not frozen.
--
-- KEYS    1 schema fingerprint (string)   2 profiles (hash: user -> JSON)
--         3 flags (hash: user -> 'flags,subject')   4 outbox of the journal (stream)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms
--         3 '1' to write the change to the outbox      4 string: user   5 string: profile, JSON
-- Returns { stored fingerprint }: if it differs from ARGV[1], nothing was changed
-- State   An existing profile is not changed. Profiles do not expire.
-- Example EVALSHA sha 4 {ar:0}s {ar:0}p {ar:0}f {ar:0}o 'v3 ...' 1795132800000 0 42 '{"name":"Ada"}'

local stored_fingerprint = redis.call('GET', KEYS[1])
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
local outbox = ARGV[3] == '1' and KEYS[4] or nil
local user, json = ARGV[4], ARGV[5]
local flags = string.match(redis.call('HGET', KEYS[3], user) or '', '^%a*')
if string.find(flags, 'f') then
  return { ARGV[1] }
end
if redis.call('HEXISTS', KEYS[2], user) == 1 then
  return { ARGV[1] }
end
-- Redis does not roll a script back. The journal comes first: a profile without its entry would never
-- get one, because a retry finds the profile.
local id = write_outbox(outbox, 'profile', 'now', ARGV[2], 'user', user, 'json', json, 'hidden', '')
local written, reason = pcall(function()
  if not stored_fingerprint then
    redis.call('SET', KEYS[1], ARGV[1])
  end
  redis.call('HSET', KEYS[2], user, json)
end)
if not written then
  if id then
    redis.call('XDEL', outbox, id)
  end
  error(reason, 0)
end
return { ARGV[1] }
