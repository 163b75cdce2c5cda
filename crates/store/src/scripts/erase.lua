-- Erases a user: profile, flags, pauses and keys of their own at once. Boards, older histories and the reasons
-- of the audit log follow in settle.lua.
--
-- KEYS    1 to 8 as pending.lua lists them
--         9.. the keys of the user (hash; sorted set of targets); with boards of content and one shard the
--         register of targets
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms   3 string: user
--         4 string: actor, or ''                       5 '1' to write the erasure to the outbox
--         6 '1' to write a tombstone                   7 integer: names of the index whose keys to return
-- Returns { schema fingerprint, keys, '' }
--         keys    the first ones that settle.lua needs
--         { schema fingerprint, {}, accounts } if the user is an account or has some, which are to be detached first: nothing
--         was changed
--         { schema fingerprint, keys } if an earlier erasure is pending, and there is more to erase since:
--         nothing was changed, call again after it
--         { stored fingerprint } if it has other settings, or if a change is incomplete: nothing was changed
-- State   Other users keep points and order; a board keeps its counter and expiry. The user of earlier
--         entries of the audit log is deleted. The tombstone rejects older activities that arrive later;
--         its instant never decreases. Tombstones do not expire.
-- Example EVALSHA sha 10 {ar:0}p {ar:0}1i {ar:0}l {ar:0}w {ar:0}o {ar:0}c {ar:0}n {ar:0}e
--         {ar:0}1m:42 {ar:0}1h:670:42 'v4 ...' 1795132800000 42 anna 0 0 300

if not read_lines() or is_incomplete() then
  return { stored_fingerprint }
end
local user, outbox, names = ARGV[3], ARGV[5] == '1' and KEYS[5] or nil, tonumber(ARGV[7])
check_keys(outbox)
local _, subject, accounts = read_flags(user)
if string.find(accounts, '[>=]') then
  return { ARGV[1], {}, string.sub(accounts, 2) }
end
local profiles = redis.call('HEXISTS', KEYS[1], user)
local keys, existing = {}, 0
for i = 9, #KEYS do
  if KEYS[i] ~= PREFIX .. 't' then
    keys[#keys + 1] = KEYS[i]
    existing = existing + redis.call('EXISTS', KEYS[i])
  end
end
local pending = line_of(user)
if pending and pending.verb == 'e' then
  local erased = profiles + existing + redis.call('HEXISTS', KEYS[1], PAUSES .. user) == 0 and subject == ''
  return { ARGV[1], next_keys(names), erased and '' or nil }
end
local hash = redis.sha1hex(user)
local erased_at = tonumber(redis.call('HGET', KEYS[8], hash) or -math.huge)
local change = {
  now = ARGV[2], reason = '', actor = ARGV[4], subject = subject, keys = keys, profiles = profiles, removed_keys = existing,
  tombstone = ARGV[6] == '1' and digits(math.max(tonumber(ARGV[2]), erased_at)) or '',
}
if not stored_fingerprint then
  -- There is nothing to erase.
  if change.tombstone ~= '' then
    redis.call('HSET', KEYS[8], hash, change.tombstone)
  end
  write_outbox(outbox, 'erase', 'now', ARGV[2], 'user', user, 'hash', hash, 'actor', ARGV[4])
  return { ARGV[1], {}, '' }
end
redis.call('HDEL', CHANGES, 'boards ' .. user, 'keys ' .. user)
local journal_id = write_outbox(outbox, 'erase', 'now', ARGV[2], 'user', user, 'hash', hash, 'actor', ARGV[4])
begin(user, 'e', change, outbox, journal_id)
return { ARGV[1], next_keys(names), '' }
