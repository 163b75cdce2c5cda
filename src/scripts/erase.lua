-- Erases a user from boards, profiles, flags and everything of their own.
--
-- KEYS  1 stamp   2 index (zset)   3 flags (hash)   4 audit list (stream)   5 who and why (hash)   6 profiles (hash)
--       7 outbox of the journal (stream)   8 tombstones (hash: SHA-1 of a user -> when they were erased, Unix ms)
--       9.. boards (zset), then history and per-day marks of each span, then other keys that are the user's alone
-- ARGV  1 stamp, what this configuration would stamp   2 now, Unix ms   3 user
--       4 '1' to write it to the outbox   5 '1' to leave a tombstone
--       6 how many boards   7.. the spans, as the index names them
-- Call  EVALSHA sha 12 {ar:0}s {ar:0}i {ar:0}f {ar:0}l {ar:0}w {ar:0}p {ar:0}o {ar:0}e {ar:0}ba:all
--       {ar:0}h:670:42 {ar:0}v:670:42 {ar:0}m:42 'v2 ...' 1795132800000 42 0 0 1 670
-- Reply { stamp held, names }
--       names  none, or all that the index holds because the call lacked one: nothing was
--              changed; call again with them
--       A stamp other than ARGV 1 comes back alone: nothing was changed.
-- State who is left keeps points and order; a board keeps its counter and expiry. The audit list says
--       how much was removed, not of whom; of its earlier entries the user and the reason are taken away.
--       By the tombstone what was done before, and arrives later, is known; it never moves back.

local held_stamp = redis.call('GET', KEYS[1])
if held_stamp and held_stamp ~= ARGV[1] then
  return { held_stamp }
end
local audit = { flags = KEYS[3], entries = KEYS[4], who = KEYS[5], now = ARGV[2] }
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
local last = tonumber(redis.call('HGET', KEYS[8], hash) or -math.huge)
for i = 9, 8 + boards do
  redis.call('ZCARD', KEYS[i])
end

-- Nothing is refused from here on.
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
  redis.call('HDEL', audit.who, 's' .. subject)
  for _, entry in ipairs(redis.call('XRANGE', audit.entries, '-', '+')) do
    -- The fields begin: at, instant, subject, number.
    if entry[2][4] == subject then
      redis.call('HDEL', audit.who, entry[1])
    end
  end
end
if profile + removed.boards + removed.keys > 0 or subject ~= '' then
  redis.call('XADD', audit.entries, '*', 'at', audit.now, 'subject', '', 'action', 'erase',
    'boards', removed.boards, 'keys', removed.keys, 'profiles', profile)
end
if ARGV[5] == '1' then
  redis.call('HSET', KEYS[8], hash, digits(math.max(tonumber(audit.now), last)))
end
write_outbox(outbox, 'erase', 'now', audit.now, 'user', user, 'hash', hash)
return { ARGV[1], {} }
