-- Erases a user: scores, profile, flags, and all keys of this user.
--
-- KEYS    1 schema fingerprint (string)
--         2 index (sorted set: board key or span of histories -> last expiry, Unix s)
--         3 flags (hash: user -> 'flags,subject')   4 audit log (stream)
--         5 subjects and reasons (hash: 's7' -> user, entry id -> reason)   6 profiles (hash: user -> JSON)
--         7 outbox of the journal (stream)
--         8 tombstones (hash: SHA-1 of an erased user -> instant, Unix ms)
--         9.. boards (sorted set), then the history and daily records of each span, then the other
--         keys of the user (hash)
-- ARGV    1 string: schema fingerprint of the caller   2 integer: now, Unix ms   3 string: user
--         4 '1' to write the erasure to the outbox     5 '1' to write a tombstone
--         6 integer: number of boards                  7.. integer: spans, as the index names them
-- Returns { stored fingerprint, names }
--         names  empty; or, if the call lacks a board or span, all members of the index: nothing was
--                changed, send the call again with them
--         { stored fingerprint } if it differs from ARGV[1]: nothing was changed
-- State   Other users keep points and order; a board keeps its counter and expiry. The new audit log
--         entry counts what was removed and names no user; the user and the reasons of earlier entries
--         are deleted. The tombstone rejects older activities that arrive later; its instant never
--         decreases. Tombstones do not expire.
-- Example EVALSHA sha 12 {ar:0}s {ar:0}i {ar:0}f {ar:0}l {ar:0}w {ar:0}p {ar:0}o {ar:0}e {ar:0}ba:all
--         {ar:0}h:670:42 {ar:0}v:670:42 {ar:0}m:42 'v2 ...' 1795132800000 42 0 0 1 670

local stored_fingerprint = redis.call('GET', KEYS[1])
if stored_fingerprint and stored_fingerprint ~= ARGV[1] then
  return { stored_fingerprint }
end
local audit = { flags = KEYS[3], log = KEYS[4], subjects = KEYS[5], now = ARGV[2] }
local user, outbox, boards = ARGV[3], ARGV[4] == '1' and KEYS[7] or nil, tonumber(ARGV[6])
local names = redis.call('ZRANGE', KEYS[2], 0, -1)
local given = {}
for i = 9, 8 + boards do
  given[KEYS[i]] = true
end
for i = 7, #ARGV do
  given[ARGV[i]] = true
end
for _, name in ipairs(names) do
  if not given[name] then
    return { ARGV[1], names }
  end
end
check_audit(audit)
check_outbox(outbox)
redis.call('HLEN', KEYS[6])
local hash = redis.sha1hex(user)
local erased = tonumber(redis.call('HGET', KEYS[8], hash) or -math.huge)
for i = 9, 8 + boards do
  redis.call('ZCARD', KEYS[i])
end

-- Every check has passed; writes begin.
local _, subject = read_flags(audit, user)
local profile = redis.call('HDEL', KEYS[6], user)
local removed = { boards = 0, keys = 0 }
for i = 9, 8 + boards do
  removed.boards = removed.boards + redis.call('ZREM', KEYS[i], user)
end
for i = 9 + boards, #KEYS do
  removed.keys = removed.keys + redis.call('UNLINK', KEYS[i])
end
redis.call('HDEL', audit.flags, user)
if subject ~= '' then
  redis.call('HDEL', audit.subjects, 's' .. subject)
  for _, entry in ipairs(redis.call('XRANGE', audit.log, '-', '+')) do
    -- The first fields of an entry are: 'at', instant, 'subject', number.
    if entry[2][4] == subject then
      redis.call('HDEL', audit.subjects, entry[1])
    end
  end
end
if profile + removed.boards + removed.keys > 0 or subject ~= '' then
  redis.call('XADD', audit.log, '*', 'at', audit.now, 'subject', '', 'action', 'erase',
    'boards', removed.boards, 'keys', removed.keys, 'profiles', profile)
end
if ARGV[5] == '1' then
  redis.call('HSET', KEYS[8], hash, digits(math.max(tonumber(audit.now), erased)))
end
write_outbox(outbox, 'erase', 'now', audit.now, 'user', user, 'hash', hash)
return { ARGV[1], {} }
